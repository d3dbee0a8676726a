"""The sentences of docs/future-work.md: whether they say what its tables compute from the shipped runs."""

import math
import re
from statistics import median

import pytest
from pages import DOCS, columns_of, lines_of, number, sentences

from nalm import stats
from nalm.config.labels import loss_of, unit_of
from nalm.experiments import EXPERIMENTS
from nalm.experiments.future.selection import WAYS
from nalm.experiments.thesis.ch7 import FORMULAS, OPERATIONS
from nalm.results import files


@pytest.fixture
def future(docs_path):
    import future as found

    return found


def counted(name):
    """Return the shipped tallies of an experiment."""
    import future_runs

    return future_runs.counted(name)


def of_one_unit(future):
    """Return the lines of the proposed unit's table that have one layer."""
    return [
        words
        for words in lines_of(future.own_unit())
        if len(words) == 9 and words[0] != "product of two sums"
    ]


def test_the_page_counts_the_cells_in_which_the_proposed_unit_is_better_or_worse(future):
    text, every = sentences(), [words for words in lines_of(future.own_unit()) if len(words) == 9]
    better, worse = (sum(words[8] == word for words in every) for word in ("better", "worse"))
    assert f"in {better} of all {len(every)} cells more often solved than the best published unit" in text
    assert f"in {worse} less often" in text
    chapter_3 = [words for words in every if (words[0], words[3]) == ("divide", "3")]
    assert sum(words[8] == "better" for words in chapter_3) == 6
    assert f"Six of the {better} are divisions of chapter 3" in text
    sums = [words for words in every if words[0] == "product of two sums"]
    assert len(sums) == 9 and all(words[6].startswith("0 of") for words in sums)
    assert worse == 7 == sum(words[8] == "worse" for words in sums)


def test_the_page_says_in_which_cells_of_one_unit_fewer_runs_are_solved(future):
    text, cells = sentences(), of_one_unit(future)
    best, ours = ([number(words[i]) for words in cells] for i in (5, 6))
    fewer = [(a, b) for a, b in zip(best, ours, strict=True) if a > b]
    assert fewer == [(1_000, 997), (1_000, 999)]
    assert "(997 of 1,000 against 1,000)" in text and "(999 against 1,000)" in text
    assert (
        f"all 1,000 runs in {ours.count(1_000)} of the {len(cells)} cells of a single unit and at least {min(ours)} in "
        "the others"
    ) in text


def test_the_page_says_what_solves_products_of_two_sums(future):
    text, sums = sentences(), lines_of(future.sums())
    sums = [words for words in sums if len(words) == 7]
    assert len(sums) == 9 and {words[5] for words in sums} == {sums[0][5]}
    assert sums[0][5].startswith("200 of 200") and "They solve all 1,800 runs" in text
    unsolved = {words[0].replace("\u00a0", " ") for words in sums if words[2].startswith("0 of")}
    assert unsolved == {"`U[1.1,1.2)`", "`U[-1.2,-1.1)`"} and "where no published model solves any" in text


def test_the_page_counts_where_noise_helps_and_hurts(future):
    text, cells = sentences(), cells_of_noise(future)

    def count(*units):
        verdicts = [words[3] for key, words in cells.items() if key[0] in units]
        return len(verdicts), verdicts.count("better"), verdicts.count("worse")

    every, helped, hurt = count("SNMU", "SNMRU", "SNRU", "SModifiedRealNPU")
    assert every == len(cells) and f"better in {helped} of {every} cells and worse in {hurt}" in text
    assert count("SNMU") == (18, 4, 0) and "helps the stochastic NMU (better in 4 of 18 cases)" in text
    assert count("SNMRU") == (36, 7, 16) and "the stochastic NMRU (better in 7 of 36, worse in 16)" in text
    assert (
        count("SNRU", "SModifiedRealNPU")[:2] == (36, 0)
        and "and two other units that divide in none of 36" in text
    )


def cells_of_noise(future):
    """Return the cells of the table of noise by unit, distribution, inputs and range, as runs and verdict."""
    lines = [words for words in lines_of(future.noise()) if len(words) == 9]
    return {(words[0].strip("`"), words[1], words[3], words[4]): words[5:] for words in lines}


def test_the_page_says_where_noise_helps_and_where_it_hurts(future):
    text, cells = sentences(), cells_of_noise(future)

    def ranges(verdict, *key):
        return {k[3] for k, words in cells.items() if words[3] == verdict and k[: len(key)] == key}

    for kind in ("lognormal", "learnt"):
        assert ranges("better", "SNMU", kind) == {"`U[-2,-1)`", "`U[-1.2,-1.1)`"}
    assert not ranges("worse", "SNMU")
    assert "Four of those that gain are the SNMU's, on narrow negative ranges" in text
    for kind in ("uniform", "lognormal"):
        assert ranges("better", "SNMRU", kind, "10") == {"`U[-1.2,-1.1)`", "`U[1.1,1.2)`"}
        assert ranges("worse", "SNMRU", kind, "10") == {
            *("`U[-20,-10)`", "`U[10,20)`", "`U[-0.2,-0.1)`", "`U[0.1,0.2)`", "`U[-2,-1)`")
        }
    assert (
        "uniform and lognormal noise help it with ten inputs close to 1 in magnitude and hurt it on small and large "
        "magnitudes and on `U[-2,-1)`"
    ) in text
    learnt = [words[3] for key, words in cells.items() if key[:2] == ("SNMRU", "learnt")]
    assert (
        f"(better in {learnt.count('better')} of its {len(learnt)} cells, worse in {learnt.count('worse')})"
        in text
    )
    changes = [words[3] for key, words in cells.items() if key[0] == "SNRU"]
    assert set(changes) == {"no difference"}
    assert f"The NRU does not change in any of its {len(changes)} cells" in text
    ten = {key[3]: words[:2] for key, words in cells.items() if key[0] == "SNRU" and key[2] == "10"}
    assert all(number(a) == number(b) and number(a) in (0, 1_000) for a, b in ten.values())
    whole = {train for train, (a, _) in ten.items() if number(a)}
    assert whole == {"`U[0.1,0.2)`", "`U[1,2)`", "`U[1.1,1.2)`", "`U[10,20)`"} and len(ten) - len(whole) == 5
    assert "it solves every run of the four positive ranges and none of the other five" in text
    changes = [words[3] for key, words in cells.items() if key[0] == "SModifiedRealNPU"]
    assert (changes.count("better"), changes.count("worse")) == (0, 1)
    assert f"The modified Real NPU changes in one of {len(changes)} cells, for the worse." in text


def counted_formulas(cell):
    """Return the formulas of a cell with their runs, as {"a": 476, "1": 79} of "`a` 476; `1` 79"."""
    parts = [] if cell == "none" else cell.split("; ")
    return {part.split("`")[1]: int(part.split(" ")[-1].replace(",", "")) for part in parts}


def wrong_formulas(future):
    """Return the wrong formulas without noise and with it, by unit, distribution and range."""
    return {
        (words[0].strip("`"), *words[1:3]): tuple(map(counted_formulas, words[3:]))
        for words in lines_of(future.optima())
    }


def test_the_page_says_which_optima_noise_removes_and_makes(future):
    text, cells, wrong = sentences(), cells_of_noise(future), wrong_formulas(future)
    assert {unit for unit, _, _ in wrong} == {"SNMU", "SNMRU", "SNRU", "SModifiedRealNPU"}
    removed = [both for (unit, _, _), both in wrong.items() if unit == "SNMU"]
    assert len(removed) == 4 and all(plain.keys() == {"1"} for plain, _ in removed)
    assert all(noisy.keys() <= {"1"} and sum(noisy.values()) < plain["1"] / 10 for plain, noisy in removed)
    assert "The optimum that it removes is the formula 1, in which both weights are 0." in text
    made = {key: both for key, both in wrong.items() if key[0] == "SNMRU"}
    lost = {k[3] for k, words in cells.items() if (k[0], k[2], words[3]) == ("SNMRU", "2", "worse")}
    assert {train for _, _, train in made} == lost and len(lost) == 4
    assert not any(plain for plain, _ in made.values())
    assert {formula for _, noisy in made.values() for formula in noisy} == {"1", "a", "b", "1/a"}
    assert "with two inputs it loses runs in four ranges, and these end at 1, a, b or 1/a." in text


def test_the_page_says_which_optima_stay_with_noise(future):
    text, wrong = sentences(), wrong_formulas(future)
    stay = {"SNRU": {"1/(a*b)", "b/a"}, "SModifiedRealNPU": {"b/a"}}
    assert (
        "The formulas 1/(a b) and b/a of the NRU and b/a of the modified Real NPU stay about as frequent."
        in text
    )
    for unit, formulas in stay.items():
        own = [both for key, both in wrong.items() if key[0] == unit]
        pairs = [(f, *(found.get(f, 0) for found in both)) for both in own for f in formulas]
        assert {f for f, plain, noisy in pairs if plain and noisy} == formulas
        assert all(stats.same_rate(plain, 1_000, noisy, 1_000).p > 0.05 for _, plain, noisy in pairs)


def test_the_page_says_of_which_unit_an_earlier_evaluation_counts(future):
    cells = cells_of_noise(future)
    earlier = {
        unit
        for (unit, kind, train), both in wrong_formulas(future).items()
        for runs, found in zip(cells[unit, kind, "2", train][:2], both, strict=True)
        if sum(found.values()) > 1_000 - number(runs)
    }
    assert earlier == {"SNRU"}
    assert "some runs of the NRU count as solved by an earlier evaluation" in sentences()


def test_the_page_says_how_often_two_layers_find_the_quotient(future):
    text = sentences()
    rows = lines_of(future.formulas())
    for loss in ("mse", "log, then mse", "projected, then mse"):
        own = [words for words in rows if words[1] == f"`{loss}`"]
        counts = [words[2].removesuffix(" of 40") for words in own]
        assert [words[0] for words in own] == ["`NAU-NRU`", "`NAU-NMRU`", "`NAU-ModifiedRealNPU`"]
        assert f"{counts[0]}, {counts[1]} and {counts[2]}" in text
        assert all(words[3] in text for words in own if words[3] not in ("", "1"))


def test_the_page_says_how_often_two_layers_with_a_penalty_are_solved(future):
    text = sentences()
    rows = lines_of(future.penalised())
    assert len(rows) == 27 and all(len(words) == 7 for words in rows)
    for unit in ("NAU-NRU", "NAU-NMRU", "NAU-ModifiedRealNPU"):
        own = [words for words in rows if words[0] == f"`{unit}`" and words[1] != "`U[-2,2)`"]
        counts = [sum(int(words[i].split(" ")[0]) for words in own) for i in (2, 3, 5)]
        assert any(form.format(*(f"{c:,}" for c in counts)) in text for form in PENALISED)
    signed = [words for words in rows if words[1] == "`U[-2,2)`"]
    assert all(words[i].startswith("0 of 200 ") for words in signed for i in (2, 3, 5))


PENALISED = (
    "solves {} of 1,600 runs with squared errors, {} with `log` first and {} with `projected` first",
    "it is {}, {} and {}",
    "modified Real NPU {}, {} and {}",
)


def verdict(cell):
    """Return the word behind p, which says what scientific encoding is."""
    return cell.rpartition(", ")[2]


def test_the_page_says_what_scientific_encoding_solves(future):
    text, table = sentences(), future.scientific()
    units = ["`ScientificNPU`", "`ModifiedRealNPU`", "`NaiveNPU`"]
    assert columns_of(table) == ["loss", "range", *units]
    cells = {loss: {w[1]: w[2:] for w in lines_of(table) if w[0] == loss} for loss in ("`mse`", "`log`")}
    assert cells["`mse`"].keys() == cells["`log`"].keys()
    solved = {loss: {t: list(map(number, words)) for t, words in own.items()} for loss, own in cells.items()}
    assert all(" of 1,000 " in cell for own in cells.values() for words in own.values() for cell in words)
    ours, gated, free = zip(*solved["`log`"].values(), strict=True)
    assert set(ours) == {1_000} and (
        f"the ScientificNPU solves all 1,000 runs in each of the {len(ours)} ranges that have a threshold"
        in text
    )
    ((last, few),) = [(train, n) for train, (_, _, n) in solved["`log`"].items() if n < 1_000]
    assert f"the NaiveNPU all in {free.count(1_000)} of them and {few} on {last}" in text
    with_gates, without = ([verdict(words[i]) for words in cells["`log`"].values()] for i in (1, 2))
    assert "worse" not in with_gates + without
    assert (
        f"the modified Real NPU {min(gated)} to {max(gated):,}, fewer than the ScientificNPU in "
        f"{with_gates.count('better')} ranges and more in none (p < 0.05)"
    ) in text
    assert [t for t, words in cells["`log`"].items() if verdict(words[2]) == "better"] == [last]
    assert all(a <= b for a, b in zip(gated, free, strict=True)) and sum(gated) < sum(free)
    assert "With `log` the unit with gates solves fewer runs;" in text
    assert f"the NaiveNPU and the ScientificNPU differ in {1_000 - few} runs on one range" in text
    lost = {
        train: (solved["`mse`"][train][0], solved["`mse`"][train][1])
        for train, words in cells["`mse`"].items()
        if verdict(words[1]) == "worse"
    }
    assert lost == {"`U[-20,-10)`": (370, 672), "`B[10,100)`": (832, 865)}
    assert (
        "it loses to that unit on `U[-20,-10)` (370 against 672) and on `B[10,100)` (832 against 865)"
    ) in text
    gains = [[verdict(words[i]) for words in cells["`mse`"].values()].count("better") for i in (1, 2)]
    assert "worse" not in [verdict(words[2]) for words in cells["`mse`"].values()]
    assert (
        f"better than the NaiveNPU in {gains[1]} of the {len(ours)} ranges and worse in none, and better than the "
        f"modified Real NPU in {gains[0]};"
    ) in text
    assert f"all {len(ours)} ranges that have a threshold." in text
    assert f"without the encoding {min(gated)} to {max(free):,} of 1,000 runs are solved" in text


def test_the_page_says_that_the_loss_decides_most_of_scientific_encoding(future):
    text, lines = sentences(), lines_of(future.scientific())
    totals = [
        [sum(number(words[i]) for words in lines if words[0] == loss) for i in (2, 3, 4)]
        for loss in ("`mse`", "`log`")
    ]
    gained = [b - a for a, b in zip(*totals, strict=True)]
    assert min(gained) > max(totals[1]) - min(totals[1])  # more than any unit gains on another
    assert "So the loss decides most" in text
    around = [w for w in lines if re.fullmatch(r"`U\[-[\d.]+,[\d.]+\)`", w[1]) and w[0] == "`mse`"]
    assert {words[1] for words in around} == {"`U[-2,2)`", "`U[-100,100)`", "`U[-50,50)`"}
    assert max(number(cell) for words in around for cell in words[2:]) == 1
    assert (
        "With squared errors at most one run of 1,000 is solved on the ranges with numbers around zero, by any of the "
        "three."
    ) in text


def test_the_page_says_what_is_learnt_over_many_orders_of_magnitude(future):
    text = sentences()
    lines = {words[1]: words for words in lines_of(future.wide()) if words[0] == "`log`"}
    assert lines.keys() == {"`ScientificNPU`", "`NaiveNPU`", "`ModifiedRealNPU`"}
    (ours, few), (free, fewer), (gated, none) = (
        (lines[unit][2].split(" ")[0], lines[unit][4])
        for unit in ("`ScientificNPU`", "`NaiveNPU`", "`ModifiedRealNPU`")
    )
    assert none == "0 of 10"
    assert (
        f"with `log` the ScientificNPU has a median error of {ours} and {few} right formulas, "
        f"the NaiveNPU {free} and {fewer}, the modified Real NPU {gated} and none."
    ) in text
    cases = [c for c in EXPERIMENTS["beyond/scientific"].cases if str(c.train) == "B[10,1e+18)"]
    (orders,) = {round(math.log10(c.train.high / c.train.low)) for c in cases}
    assert f"Over {orders} orders of magnitude gates fail" in text
    tallies = [t for t in counted("beyond/scientific") if t.case in cases]
    (untrained,) = {t.solved_at[0] for t in tallies if unit_of(t.case) == "ScientificNPU"}
    assert f"that of {untrained} of 1,000 untrained ScientificNPUs" in text


def test_the_page_says_which_range_needs_no_encoding_but_another_clip(future):
    from future_measured import measured, solved

    clipped = [
        m
        for m in measured("thesis/ch5/nmru-safe-clip")
        if (m.unit, m.train, m.inputs, m.n) == ("NMRU", "B[10,100)", 10, 1_000)
    ]
    plain, safe = sorted(map(solved, clipped))
    assert (
        f"solves {plain} of 1,000 runs with ten inputs there, but {safe:,} of 1,000 with a clip"
        in sentences()
    )


def test_the_page_says_which_products_of_a_hundred_factors_are_solved(future):
    text, table = sentences(), future.factors()
    units = columns_of(table)[2:]
    assert sorted(units) == ["`ModifiedRealNPU`", "`NMRU`", "`NMU`", "`NaiveNPU`", "`ScientificNPU`"]
    cells = {tuple(words[:2]): dict(zip(units, words[2:], strict=True)) for words in lines_of(table)}
    assert all(" of 1,000 " in cell for own in cells.values() for cell in own.values())
    solved = {key: {unit: number(cell) for unit, cell in own.items()} for key, own in cells.items()}
    assert all(set(own.values()) == {0} for (loss, _), own in solved.items() if loss == "`mse`")
    assert "With squared errors no run of any unit is solved" in text
    both = solved.pop(("`log`", "`U[-1.5,1.5)`"))
    one = [own for (loss, _), own in solved.items() if loss == "`log`"]
    assert len(one) == 3 and all(set(own.values()) == {1_000} for own in one)
    assert "all five units solve all 1,000 runs of the three ranges of one sign" in text
    gated = ["`ModifiedRealNPU`", "`NMU`", "`NMRU`"]
    assert both == {"`ScientificNPU`": 1_000, "`NaiveNPU`": 1_000, **dict.fromkeys(gated, 0)}
    assert (
        "On `U[-1.5,1.5)` the ScientificNPU and the NaiveNPU solve all 1,000, and the modified Real NPU, the NMU and "
        "the NMRU solve none."
    ) in text
    tests = {unit: cell.split("; ") for unit, cell in cells["`log`", "`U[-1.5,1.5)`"].items()}
    assert all(float(tests[unit][1].removeprefix("p = ")) < 0.05 for unit in gated)
    assert tests["`NaiveNPU`"][1] == "p = 1"
    exact = [tests[unit][-1].removeprefix("right formula ") for unit in gated]
    assert "the formulas of these three are right in {}, {} and {} runs".format(*exact) in text


def test_the_page_says_how_far_below_one_the_weights_of_a_hundred_factors_stop(future):
    runs = [
        o
        for o in files.read(DOCS.parent / "results" / "beyond" / "scientific-factors.csv")
        if (loss_of(o.case), str(o.case.train)) == ("log", "U[-1.5,1.5)")
    ]
    middle = [
        f"{median(o.sparsity for o in runs if unit_of(o.case) == unit):.2f}" for unit in ("NMU", "NMRU")
    ]
    assert (
        f"in the shipped runs of the NMU and the NMRU by {middle[0]} and {middle[1]} in the median"
        in sentences()
    )


def test_the_page_says_which_ways_select_all_compositions(future):
    text, ways = sentences(), {words[0]: words for words in lines_of(future.selection())}
    assert list(ways) == list(WAYS)
    experts = [f"{copies * len(FORMULAS)} experts" for copies in (1, 4)]
    few, many = (ways[way][6].split(" ")[0] for way in experts)
    assert (
        f"find all {len(FORMULAS)} compositions with {float(few):.0%} of the seeds, with four starts each with "
        f"{float(many):.0%};"
    ) in text
    assert ways[experts[0]][5] == "15 to 16" and ways[experts[0]][7].startswith("`sub-mul` 0.79")
    assert "the one composition that is not solved with every seed is `sub-mul`" in text
    assert all(float(ways[way][6].split("[")[1].split(",")[0]) > 0.5 for way in experts)
    assert "half of the seeds was the goal" in text
    assert len(OPERATIONS) ** 2 == len(FORMULAS)
    assert f"{len(OPERATIONS)}^n for n operations in a row" in text
    most = {way: int(words[5].rpartition(" to ")[2]) for way, words in ways.items() if way not in experts}
    assert max(most.values()) < len(FORMULAS) and "no other way finds all 16 in any seed" in text
    means = [float(ways[way][2].split(" ")[0]) for way in most]
    assert max(means) < len(FORMULAS) / 2
    assert "the other ways solve less than half of the compositions, and no seed solves all" in text


def test_the_page_says_which_settings_of_selection_help(future):
    text, ways = sentences(), {words[0]: words for words in lines_of(future.selection())}
    means = {way: words[2].split(" ")[0] for way, words in ways.items()}
    assert [words[3] for words in ways.values()] == [way.beside for way in WAYS.values()]
    assert {way for way, words in ways.items() if not words[4]} == {"Adam"}
    helped, hurt, same = set(), set(), set()
    for way, words in ways.items():
        if words[3] and "experts" not in way:
            more = float(means[way]) > float(means[words[3]])
            (same if float(words[4]) >= 0.05 else helped if more else hurt).add(way)
    assert helped == {"clipped", "clipped, mixture, asinh"} and "Of the other settings two help:" in text
    assert f"clipping ({means['clipped']} of 16 on average, {means['Adam']} without it)" in text
    with_draws = ways["clipped, mixture, asinh"][3]
    assert (
        f"a mixture instead of draws ({means['clipped, mixture, asinh']}, with draws {means[with_draws]})"
        in text
    )
    assert hurt == {"clipped, asinh", "clipped, rows", "clipped, rows, asinh"}
    assert "A draw for every row and the scale of asinh solve fewer compositions" in text
    assert len(same) == 4 and {way.split(", ")[-1] for way in same} == {"Rao-Blackwell", "entropy"}
    assert (
        "Rao-Blackwellised gradients and the penalty on the entropy change nothing that this study can see."
        in text
    )


def test_the_page_says_how_often_coefficients_are_found(future):
    text = sentences()
    lines = [words for words in lines_of(future.coefficients()) if words[1] == "`CoefficientUnit`"]
    sums, quotients = (
        [words for words in lines if words[0] == kind] for kind in ("weighted sum", "weighted ratio")
    )
    assert [number(words[4]) for words in sums] == [1_000] * 3
    solved = [number(words[4]) for words in quotients]
    assert f"every run of the sum and {min(solved)} to {max(solved):,} of 1,000 of the quotient" in text
    right = [words[6].rpartition("` ") for words in lines]
    assert {words[0].strip("`") for words in right} == {"0.37*a + 2.6*c", "2.6*a/c"}
    counts = [int(words[2].replace(",", "")) for words in right]
    assert f"in {min(counts)} to {max(counts):,} runs" in text
    (narrow,) = [
        n for words, n in zip(lines, counts, strict=True) if words[0] == "weighted sum" and n == min(counts)
    ]
    assert f"on `U[1,2)` {1_000 - narrow} sums end at other coefficients" in text
    factor = [
        number(w[4]) for w in lines_of(future.coefficients()) if w[1] == "`ModifiedRealNPU` and `Affine`"
    ]
    assert f"with a learnt factor solves {min(factor)} to {max(factor)}" in text


def test_the_page_says_what_discreteness_costs(future):
    text = sentences()
    cells = {tuple(words[:3]): words[3:] for words in lines_of(future.discreteness())}
    on, off = (cells[kind, "`NAU`", "drawn to the grid"] for kind in ("add", "fractional sum"))
    assert set(on) == {"0, `a + c`"} and set(off) == {"0.396, `c`"}
    assert "even with noise as large as the targets all 1,000 runs end at a + c, whose error is 0" in text
    assert "every run ends at c, with an error of 0.396" in text
    free = cells["fractional sum", "`NAU`", "free"]
    errors = [cell.split(" ")[0] for cell in free]
    assert f"a NAU with free weights has median errors of {errors[0]} to {errors[-1]}" in text
    others = [cell for key, row in cells.items() if key[2] == "free" for cell in row]
    assert all(float(cell.rpartition("p = ")[2]) < 0.05 for cell in others)


def test_the_page_says_how_often_a_unit_divides_by_zero(future):
    text = sentences()
    cells = {tuple(words[:3]): words for words in lines_of(future.invalid())}
    (near, signed), loss = ("`[0,5)/1`", "`[-4,5)/1`"), "`valid`"
    counts = [
        cells[f"`{unit}`", loss, numbers][3]
        for numbers in (near, signed)
        for unit in ("ModifiedRealNPU", "NMRU")
    ]
    first, *others = (count.split(" ")[0] for count in counts)
    assert all(" of 1,000 " in count for count in counts)
    assert f"in {first} of 1,000 runs and the NMRU in {others[0]} (" in text
    assert f"both signs in {others[1]} and {others[2]}," in text
    assert {cells["`ModifiedRealNPU`", "`mse`", n][5] for n in (near, signed)} == {"1,000 of 1,000"}
    assert f"in {cells['`NRU`', loss, signed][5].split(' ')[0]} with both signs" in text
    (untrained,) = [
        tally.solved_at[0]
        for tally in counted("beyond/invalid-outputs")
        if unit_of(tally.case) == "NMRU" and tally.case.train.low == 0
    ]
    assert f"({untrained} of these before the first step)" in text


def test_the_page_says_which_codes_are_found(future):
    text = sentences()
    cells = {tuple(words[:4]): words for words in lines_of(future.codes())}
    powers = {
        value: cells["divide", "`ModifiedRealNPU`", "shared", value][7]
        for value in ("softargmax", "bounded", "free")
    }
    counts = {value: dict(part.split(": ") for part in codes.split("; ")) for value, codes in powers.items()}
    assert (
        f"learn c/k ({counts['softargmax']['c/k']} of 1,000 with softargmax, {counts['bounded']['c/k']} bounded, "
        f"{counts['free']['c/k']} free)"
    ) in text
    given = cells["divide", "divide (given)", "shared", "softargmax"]
    assert (
        given[6].startswith(given[4]) and f"all {given[4].split(' ')[0]} solved runs read the digits" in text
    )
    assert cells["divide", "`NRU`", "shared", "free"][7].startswith("another: 563; c/k: 412;")
    assert (
        f"behind the NRU 412 do, nearly as many as are solved ({cells['divide', '`NRU`', 'shared', 'free'][4][:3]})"
        in text
    )
    read = [
        number(cells["divide", "`ModifiedRealNPU`", "shared", v][6])
        for v in ("bounded", "softargmax", "free")
    ]
    assert "({} and {} runs instead of {})".format(*read) in text
    sums = cells["add", "`NSPU`", "shared", "free"]
    assert sums[7].endswith("c k + d: 485") and "For sums 485 of 1,000 readers learn c k + d" in text
    assert all(number(words[4]) == 0 for key, words in cells.items() if key[1] == "`NSPU`")
    assert "No run is solved behind the NSPU with its loss." in text
    most = max(
        int(words[6].split(" of ")[0].split(" to ")[-1])
        for key, words in cells.items()
        if key[2] == "separate"
    )
    assert f"Separate free readers learn the digits in at most {most} of 1,000 runs" in text


def test_the_page_says_how_the_architecture_changes_the_codes(future):
    text = sentences()
    cells = {tuple(words[:3]): words[3:] for words in lines_of(future.architectures())}

    def read(*key):
        return [int(cell.split(" ")[0].replace(",", "")) for cell in cells[key]]

    none, eight, usual, wide, two = read("add", "`NAU`", "free")
    assert none == 1_000 and (
        f"{eight} with 8 units, {usual} with 32, {wide} with 128 and {two} with two layers" in text
    )
    assert f"Behind the NMU at least {min(read('multiply', '`NMU`', 'free'))} read the digits" in text
    given = read("divide", "divide (given)", "softargmax")
    assert f"at least {min(given[1:])} with a hidden layer" in text and f"in {given[0]} runs" in text
    swapped = [
        int(re.search(r"c/k (\d+)", cell)[1]) for cell in cells["divide", "`ModifiedRealNPU`", "softargmax"]
    ]
    assert f"learnt in {min(swapped)} to {max(swapped)} of 1,000 runs" in text
    free = [cells["divide", unit, "free"][0] for unit in ("`NRU`", "`ModifiedRealNPU`")]
    assert all("; solved 0;" in cell for cell in free)
