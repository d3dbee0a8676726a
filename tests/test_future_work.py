"""The tables and figures of docs/future-work.md: what they say of runs that are better, equal or not there."""

import importlib
import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from made import outcomes
from pages import DOCS, columns_of, lines_of

from nalm import stats
from nalm.config.labels import loss_of, unit_of
from nalm.experiments import EXPERIMENTS
from nalm.experiments.future.selection import WAYS
from nalm.formulas.truth import truth
from nalm.lab.measured import shipped_rows
from nalm.results.tally import tallies


@pytest.fixture
def future(docs_path):
    import future as found

    return found


@pytest.fixture
def own(future):
    import future_own as found

    return found


@pytest.fixture
def compare(future):
    import future_measured as found

    return found


@pytest.fixture
def ship(compare, monkeypatch):
    """A function that replaces the shipped rows, of whose runs only the numbers are known."""

    def replaced(*rows):
        monkeypatch.setattr(compare, "shipped_rows", lambda: rows)
        monkeypatch.setattr(compare, "by_seed", lambda experiment, case: {})

    return replaced


@pytest.fixture
def figures(future):
    pytest.importorskip("matplotlib")
    import future_figures as found

    return found


def of_the_papers():
    """The shipped rows without those of the studies."""
    return tuple(r for r in shipped_rows() if not r["experiment"].startswith("beyond/"))


def row(experiment, case, solved, n):
    """A row of the summary as scripts/summary.py makes it."""
    rate = asdict(stats.wilson(solved, n))
    none = {**rate, "estimate": None, "low": None, "high": None, "n": 0}
    return {
        "experiment": experiment,
        "unit": unit_of(case),
        "operation": case.operation,
        "train": str(case.train),
        "test": str(case.test),
        "inputs": case.inputs,
        "case": case.hash,
        "loss": loss_of(case),
        "success": rate,
        "median": none,
        "seconds": 1.0,
        "device": ["cpu"],
        "recipe": json.loads(case.recipe.json()),
    }


def test_without_shipped_runs_a_table_names_the_command(future, ship, monkeypatch, tmp_path):
    ship()
    monkeypatch.setattr("future_runs.RESULTS", tmp_path)
    importlib.import_module("future_runs").counted.cache_clear()
    for table in future.TABLES.values():
        assert table().startswith("No runs of `beyond/")
    importlib.import_module("future_runs").counted.cache_clear()


def test_the_proposal_stands_beside_the_best_published_unit_of_each_cell(future, ship):
    chosen = [
        case
        for case in EXPERIMENTS["beyond/own-unit"].cases
        if str(case.train) == "U[1.1,1.2)"
        and case.inputs in (10, 100)
        and case.operation in ("add", "multiply")
    ]
    ours = [row("beyond/own-unit", case, 1000, 1000) for case in chosen]
    ship(*of_the_papers(), *ours)
    lines = [line for line in future.own_unit().splitlines() if line.startswith("| add")]
    assert [line.split(" | ")[1] for line in lines] == ["10", "100"]
    assert all("`NAU`" in line and line.endswith("| better |") for line in lines)
    assert future.alone().count("| multiply |") == 2  # of which the thesis has no cell


def test_noise_is_compared_with_the_same_unit_without_it(future, ship):
    case = next(c for c in EXPERIMENTS["beyond/reversible-noise"].cases if c.inputs == 2)
    same = next(
        r
        for r in shipped_rows()
        if r["experiment"] == "thesis/ch5/main"
        and (r["unit"], r["train"], r["inputs"]) == ("NMRU", str(case.train), 2)
    )
    n = same["success"]["n"]
    ours = row("beyond/reversible-noise", case, round(same["success"]["estimate"] * n), n)
    ship(*of_the_papers(), ours)
    line, _, said = future.noise().splitlines()[2:]
    assert line.startswith("| `SNMRU` | uniform | divide | 2 |") and line.endswith("| 1 | no difference |")
    assert said == "Of these p, 1 are those of McNemar's test and 0 those of Fisher's."


def tallied(case, solved, formula="a*b"):
    """The tally of made runs of a case; a list of formulas has one for each run."""
    texts = [formula] * len(solved) if isinstance(formula, str) else formula
    runs = [replace(o, case=case, formula=f) for o, f in zip(outcomes("NMU", solved), texts, strict=True)]
    return tallies(runs)[0]


def test_codes_are_counted_by_what_the_readers_read(future):
    cases = EXPERIMENTS["beyond/code-before-unit"].cases
    shared = next(c for c in cases if dict(c.model[0].options)["unit"] == "NRU" and c.operation == "divide")
    apart = next(c for c in cases if dict(c.model[0].options)["readers"] == "separate")
    learnt = ["r1 = c/a; r2 = c/b; r2/r1"] * 3 + ["r1 = a; r2 = b; r1/r2", ""]
    first, second = (
        tallied(shared, [True] * 4 + [False], learnt),
        tallied(apart, [True], "r1 = a*c; r2 = f(b); r1*r2"),
    )
    lines = [line.replace("\u00a0", " ") for line in future.codes([first, second]).splitlines()[2:]]
    assert (
        lines[0] == "| divide | `NRU` | shared | free | 4 of 5 [0.376, 0.964] |  | 1 of 5 [0.036, 0.624] | "
        "c/k: 3; k: 1; no number: 1 |  |"
    )
    assert lines[1].endswith("| 1 of 1 [0.207, 1.000] |  | 0 of 1 [0.000, 0.793] | c k and another: 1 |  |")


def before_unit(study, operation, unit, value="free"):
    """The cases of a study whose shared readers are before a unit."""
    wanted = {"unit": unit, "readers": "shared", "value": value}.items()
    cases = [c for c in EXPERIMENTS[f"beyond/{study}"].cases if c.operation == operation]
    return [c for c in cases if wanted <= dict(c.model[0].options).items()]


def reading(case, digits, n=20, solved=20):
    """The tally of n runs of a case of which some read the digits, and the others their inverses."""
    learnt = ["r1 = a; r2 = b; r1/r2"] * digits + ["r1 = c/a; r2 = c/b; r2/r1"] * (n - digits)
    return tallied(case, [seed < solved for seed in range(n)], learnt)


def test_architectures_stand_beside_the_usual_one(future):
    (usual,) = before_unit("code-before-unit", "divide", "NRU")
    none, small, large, deep = before_unit("code-architectures", "divide", "NRU")
    found = [reading(none, 0, solved=5), reading(small, 10), reading(large, 20), reading(deep, 9)]
    text = future.architectures(found, [reading(usual, 10)])
    assert text.startswith("| operation | unit | value | no hidden layer | 8 | 32 | 128 | 32, 32 |\n")
    p = f"{4 * stats.same_rate(10, 20, 0, 20).p:.2g}"  # four tests, of which two are equal: Holm
    assert lines_of(text) == [
        [
            *("divide", "`NRU`", "free"),
            f"0 of 20 [0.000, 0.161]; solved 5; c/k 20 of 20 [0.839, 1.000]; p = {p}",
            "10 of 20 [0.299, 0.701]; solved 20; c/k 10 of 20 [0.299, 0.701]; p = 1",
            "10 of 20 [0.299, 0.701]; solved 20; c/k 10 of 20 [0.299, 0.701]",
            f"20 of 20 [0.839, 1.000]; solved 20; c/k 0 of 20 [0.000, 0.161]; p = {p}",
            "9 of 20 [0.258, 0.658]; solved 20; c/k 11 of 20 [0.342, 0.742]; p = 1",
        ]
    ]


def test_unknown_codes_make_no_difference_between_architectures(future):
    (usual,) = before_unit("code-before-unit", "multiply", "NMU")
    small = before_unit("code-architectures", "multiply", "NMU")[1]
    found = replace(reading(small, 0), runs=40)  # a tally does not keep the formulas of all runs
    cells = [lines_of(future.architectures([found], [reading(usual, k)]))[0][4] for k in (10, 20)]
    words, p = "0 to 20 of 40 [0.000, 0.648]; solved 20; p = ", stats.same_rate(20, 20, 20, 40).p
    assert cells == [f"{words}1", f"{words}{p:.2g}"]


def test_every_architecture_is_compared_with_a_case_of_the_older_study(future):
    sized, usual = (
        [reading(case, 20) for case in EXPERIMENTS[f"beyond/{study}"].cases]
        for study in ("code-architectures", "code-before-unit")
    )
    lines = lines_of(future.architectures(sized, usual))
    assert len({tuple(words[:3]) for words in lines}) == len(lines) == len(sized) / 4
    for words in lines:
        assert [cell.endswith("; p = 1") for cell in words[3:]] == [True, True, False, True, True]
        assert all(("; c/k 0" in cell) == (words[0] == "divide") for cell in words[3:])
    alone = lines_of(future.architectures(sized, []))
    assert all(words[5] == "" and "p =" not in " ".join(words) for words in alone)


def test_all_compositions_must_be_solved_with_the_same_seed(future):
    cases = EXPERIMENTS["beyond/selection"].cases
    own = [c for c in cases if dict(c.model[0].options).get("copies") == 4]
    found = [tallied(c, [True, True, i > 0, i > 1]) for i, c in enumerate(own)]
    (line,) = future.selection(found).splitlines()[2:]
    words = line.replace("\u00a0", " ").split(" | ")
    assert words[1] == "4" and words[2].startswith("15.2 [") and words[4:6] == ["", "14 to 16"]
    assert words[6].startswith("0.50 [") and f"`{own[0].operation}` 0.50" in words[7]


def test_ways_of_selecting_are_compared_seed_by_seed(future):
    (first, one), (_, other) = list(WAYS.items())[:2]
    cases = EXPERIMENTS["beyond/selection"].cases
    few, all_16 = (
        [c for c in cases if (c.model, c.recipe) == ((way.layer,), way.recipe)] for way in (one, other)
    )
    found = [tallied(c, [i < 4] * 8) for i, c in enumerate(few)] + [tallied(c, [True] * 8) for c in all_16]
    lines = lines_of(future.selection(found))
    p = f"{2 * 0.5**8:.2g}"  # all eight seeds favour the second way
    assert [words[3:5] for words in lines] == [["", ""], [first, p]]


def test_errors_are_compared_on_the_same_seeds(future):
    cases = [
        c for c in EXPERIMENTS["beyond/discreteness"].cases if c.task.noise == 1 and c.operation == "add"
    ]
    found = [tallied(case, [True] * 10, "a + c") for case in cases]
    runs = [
        replace(o, case=case, test=1.0 + i + 0.01 * o.seed, formula="a + c")
        for i, case in enumerate(cases)
        for o in outcomes("NMU", [True] * 10)
    ]
    lines = lines_of(future.discreteness(found, runs))
    tests = [words[3].partition("; p = ")[2] for words in lines]
    assert sorted(tests) == ["", f"{4 * 0.5**10:.2g}", f"{4 * 0.5**10:.2g}"]  # two tests, Holm
    assert "; p" not in future.discreteness(found, [])


def test_runs_that_are_known_seed_by_seed_are_compared_in_pairs(compare):
    from future_runs import paired

    a, b = dict.fromkeys(range(12), True), {seed: seed < 4 for seed in range(12)}
    assert paired(a, b, 12) == pytest.approx(2 * 0.5**8)  # McNemar: 8 of 8 pairs that differ favour a
    assert paired(a, b, 1_000) is None and paired(a, {}, 12) is None
    assert paired(a, dict.fromkeys(range(1, 13), True), 12) is None


def test_counts_are_enough_for_pairs_if_all_runs_of_one_side_are_solved_or_none(own, compare, ship):
    pairs = own.best_published_pairs()
    ship()
    a, b = next(p for p in pairs if p[0].n == 1_000 and compare.solved(p[0]) == 914)
    assert compare.solved(b) == 1_000 and compare.in_pairs(a, b) == pytest.approx(2 * 0.5**86)
    few = next(p for p in pairs if p[0].n == 20)
    assert compare.in_pairs(*few) is None  # other seeds
    part = next(p for p in pairs if 0 < compare.solved(p[0]) < 1_000 and compare.solved(p[1]) == 952)
    assert compare.in_pairs(*part) is None and compare.tested(*part) < 1e-6  # Fisher


def test_the_shipped_runs_of_single_units_are_compared_seed_by_seed(future, own, compare):
    from future_noise import noise_pairs
    from future_scientific import scientific_pairs

    pairs = [
        *noise_pairs(),
        *scientific_pairs(),
        *own.best_published_pairs(),
        *own.all_published_pairs(),
    ]
    assert all(compare.in_pairs(a, b) is not None for a, b in pairs if "-" not in a.unit)


def test_the_best_published_unit_may_be_a_variant_of_an_ablation(own):
    pairs = {(m.operation, m.inputs, m.train): o for o, m in own.best_published_pairs()}
    assert pairs["divide", 10, "U[-2,2)"].experiment == "thesis/ch5/nmru-ablation"


def test_every_published_unit_stands_beside_the_proposal(future):
    cells = {tuple(words[:2]): words for words in lines_of(future.published())}
    assert {unit for _, unit in cells} >= {"`NALU`", "`INALU`", "`NAU`", "`NMU`", "`NPU`", "`NRU`", "`NMRU`"}
    assert cells["multiply", "`SNMU`"][2:] == [
        *("9", "9,000 of 9,000 [1.000, 1.000]", "9,000 of 9,000 [1.000, 1.000]", "no different")
    ]
    assert {task for (task, _), words in cells.items() if "worse" in words[5]} == {"product of two sums"}


def test_cases_are_compared_with_the_first_of_the_same_task(future):
    cases = EXPERIMENTS["beyond/invalid-outputs"].cases
    every, none = [True] * 12, [False] * 12
    found = [
        tallied(cases[0], every),
        tallied(cases[1], every),
        tallied(cases[2], none),
        tallied(cases[6], every),
    ]
    from future_runs import against, first_of

    def p(found):
        return against(found, first_of(found, lambda case: case.task))

    assert p(found) == ["", "", f"{4 * 0.5**12:.2g}", "1"]  # two tests: Holm
    assert p([found[0], replace(found[2], solved_seeds=None)]) == ["", ""]


def test_readers_are_compared_with_free_ones_behind_the_same_unit(future):
    from future_codes import beside, reader

    found = [tallied(case, [True]) for case in EXPERIMENTS["beyond/code-before-unit"].cases]
    others = {reader(t.case): o and reader(o.case) for t, o in zip(found, beside(found), strict=True)}
    ours = "`ModifiedRealNPU`"
    assert others["divide", "`NRU`", "shared", "free"] is None
    assert others["divide", ours, "shared", "free"] == ("divide", "`NRU`", "shared", "free")
    assert others["divide", ours, "shared", "bounded"] == ("divide", ours, "shared", "free")
    assert others["multiply", ours, "separate", "free"] == ("multiply", ours, "shared", "free")
    assert others["divide", "divide (given)", "shared", "softargmax"] == (
        "divide",
        ours,
        "shared",
        "softargmax",
    )


def test_both_units_of_scientific_encoding_stand_side_by_side(future, ship):
    cases = EXPERIMENTS["beyond/scientific"].cases
    rows = [row("beyond/scientific", c, 20 if unit_of(c) == "ScientificNPU" else 1, 20) for c in cases]
    ship(*rows)
    lines = lines_of(future.scientific())
    assert len(lines) == len(cases) / 3 - 2  # one range has no threshold
    for words in lines:
        ours, *others = words[2:]
        assert ours == "20 of 20 [0.839, 1.000]" and len(others) == 2
        assert all(cell.startswith("1 of 20 [0.009, 0.236]; p = ") for cell in others)
        assert all(cell.endswith(", better") for cell in others)


def test_units_and_losses_are_exchanged_on_the_same_tasks(future, ship):
    cases = EXPERIMENTS["beyond/own-unit-losses"].cases
    tasks = {case.task for case in EXPERIMENTS["beyond/own-unit"].cases}
    assert {case.task for case in cases} <= tasks and len({case.task for case in cases}) == 36
    ours = [row("beyond/own-unit-losses", c, 5 if str(c.train) == "U[1,2)" else 10, 10) for c in cases]
    with_own = [row("beyond/own-unit", c, 10, 10) for c in EXPERIMENTS["beyond/own-unit"].cases]
    ship(*ours, *with_own)
    found = future.exchanged().replace("\u00a0", " ")
    assert "published units solve 340 of 360 runs, with\nsquared errors 340 of 360;" in found
    lines = [line for line in found.splitlines()[2:] if line.startswith("|")]
    assert lines[0] == (
        "| add | `NAU` | `centred` | 85 of 90 [0.876, 0.976] | `U[1,2)` 0.50 | no different |"
    )
    assert "| add | `NSPU` | `paths` | 90 of 90 [0.959, 1.000] | none |  |" in lines and len(lines) == 4 * 4


def test_the_own_unit_is_compared_range_by_range_with_each_exchange(future, ship):
    cases = EXPERIMENTS["beyond/own-unit-losses"].cases
    ours = [row("beyond/own-unit-losses", c, 1 if str(c.train) == "U[1,2)" else 20, 20) for c in cases]
    with_own = [row("beyond/own-unit", c, 20, 20) for c in EXPERIMENTS["beyond/own-unit"].cases]
    ship(*ours, *with_own)
    assert {words[5] for words in lines_of(future.exchanged()) if len(words) == 6} == {"better in 1"}


def test_coefficients_and_noise_are_told_by_model(future):
    case = EXPERIMENTS["beyond/coefficients"].cases[0]
    (line,) = future.coefficients([tallied(case, [True, True, False], "0.37*a + 2.6*c")]).splitlines()[2:]
    assert line.replace("\u00a0", " ").endswith(
        "| `CoefficientUnit` | L0 | `U[-2,2)` | 2 of 3 [0.208, 0.939] |  | `0.37*a + 2.6*c` 3 |"
    )
    noisy = EXPERIMENTS["beyond/discreteness"].cases
    lines = future.discreteness([tallied(case, [True], "a") for case in noisy], []).splitlines()
    assert lines[0].endswith("| noise 0.01 | noise 0.1 | noise 1 |") and len(lines) == 2 + 6
    middles = " | ".join(["0.0e+00 [nan, nan]"] * 3)
    assert f"| add | `NAU` | free | {middles} |" in lines
    assert (
        f"| add | `NAU` | drawn to the grid | {' | '.join(['1.33, `a`'] * 3)} |" in lines
    )  # the variance of c


def test_runs_that_end_in_no_number_are_counted(future):
    case = EXPERIMENTS["beyond/invalid-outputs"].cases[2]
    found = tallied(case, [True] + [False] * 3, ["a/b", "", "", "1/(a*b)"])
    assert lines_of(future.invalid([found])) == [
        ["`ModifiedRealNPU`", "`mse`", "`[0,5)/1`", "1 of 4 [0.046, 0.699]", "", "2 of 4", "`1/(a*b)` 1"]
    ]


def test_a_bar_in_a_cell_is_no_border(future):
    from tables import table

    assert table(("range",), [("`U[-2,-1)|[1,2)`",)]).splitlines()[2] == r"| `U[-2,-1)\|[1,2)` |"


def test_runs_of_two_layers_are_solved_before_training_only_where_sums_have_both_signs(future):
    for words in lines_of(future.division()):
        untrained = words[1] == "`U[-2,2)`"
        assert len(words) == 6 and ("198 of 200, 198 untrained;" in words[3]) == untrained
        assert all(word.startswith("0 of 200; ") != untrained for word in words[3:])


def test_a_hundred_factors_compare_every_unit_with_scientific_encoding(future):
    cases = [c for c in EXPERIMENTS["beyond/scientific-factors"].cases if str(c.train) == "U[1,2)"]
    solved = {"ScientificNPU": 20, "ModifiedRealNPU": 20, "NaiveNPU": 19, "NMU": 4, "NMRU": 0}
    target = str(truth(cases[0], 0))
    made = [
        tallied(case, [i < k for i in range(20)], [target] * k + [""] * (20 - k))
        for case in cases
        for k in [solved[unit_of(case)]]
    ]
    half = len(made) // 2
    others = reversed(made[half + 1 :])  # the units of the other loss stand in another order
    text = future.factors([*made[: half + 1], *others])
    units = [column.strip("`") for column in columns_of(text)[2:]]
    assert units == ["ScientificNPU", "ModifiedRealNPU", "NaiveNPU", "NMU", "NMRU"]
    lines = lines_of(text)
    assert [words[:2] for words in lines] == [["`mse`", "`U[1,2)`"], ["`log`", "`U[1,2)`"]]
    for cell, unit in [(words[i + 2], unit) for words in lines for i, unit in enumerate(units)]:
        assert cell.startswith(f"{solved[unit]} of 20 ") and cell.endswith(f"; right formula {solved[unit]}")
    assert "p =" not in lines[0][2] and "; p = 1; " in lines[0][3]
    assert float(re.search("p = (.+?);", lines[0][5])[1]) < 1e-3


def numbers_of(axes):
    """All numbers that are drawn on axes: of points, their intervals, bars and the cells of a map."""
    lines = [line.get_xydata() for line in axes.lines]
    intervals = [path.vertices for group in axes.collections for path in group.get_paths()]
    bars = [bar.get_bbox().get_points() for bar in axes.patches]
    cells = [image.get_array() for image in axes.images]
    return np.concatenate([np.ravel(part) for part in (*lines, *intervals, *bars, *cells)])


def points_of(axes):
    """The values of each series by row, as value and ends of its interval."""
    rows = [label.get_text() for label in axes.figure.axes[0].get_yticklabels()]  # the panels share them
    found = {}
    for drawn, name in zip(*axes.get_legend_handles_labels(), strict=True):
        ends = [path.vertices[:, 0] for path in drawn.lines[2][0].get_paths()]
        for (x, y), (low, high) in zip(drawn.lines[0].get_xydata(), ends, strict=True):
            found[name, rows[round(y)]] = pytest.approx((x, low, high))
    return found


def test_every_section_has_a_figure_that_is_made(figures):
    text = (DOCS / "future-work.md").read_text("utf-8")
    _, *sections = text.split("\n## ")
    shown = [re.findall(r"^```{figure} generated/figures/future_(\w+)\.svg$", s, re.M) for s in sections]
    names = [name for own in shown for name in own]
    assert all(shown) and sorted(names) == sorted(figures.FIGURES)
    said = re.findall(r"^```{figure} \S+\n:alt: (.+)\n\n(.+)\n```$", text, re.M)
    assert len(said) == len(names) and all(min(map(len, words)) > 40 for words in said)


def test_every_figure_shows_numbers_of_the_shipped_runs(figures):
    for name, draw in figures.FIGURES.items():
        figure = draw()
        assert figure.get_figwidth() <= 7, name
        assert figure.axes, name
        for axes in figure.axes:
            drawn = numbers_of(axes)
            assert len(drawn) and np.isfinite(drawn).all(), name
            assert np.isfinite([*axes.get_xlim(), *axes.get_ylim()]).all(), name


def test_points_stand_at_the_shares_of_their_rows(figures):
    cases = EXPERIMENTS["beyond/invalid-outputs"].cases
    first = tallied(cases[0], [True, False, False, False], ["a/b", "", "", "1/(a*b)"])
    solved, lost = figures.invalid([first, tallied(cases[-1], [True] * 4)]).axes
    row, last = (f"{unit_of(case)}, loss valid" for case in (cases[0], cases[-1]))
    near, signed = "whole numbers [0,5)/1", "whole numbers [-4,5)/1"
    assert points_of(solved) == {(near, row): ends(1, 4), (signed, last): ends(4, 4)}
    assert points_of(lost) == {(near, row): ends(2, 4), (signed, last): ends(0, 4)}


def ends(solved, n):
    """A share with its interval."""
    share = stats.wilson(solved, n)
    return share.estimate, share.low, share.high


def test_bars_are_the_shares_of_codes(figures):
    cases = EXPERIMENTS["beyond/code-before-unit"].cases
    shared = next(c for c in cases if dict(c.model[0].options)["unit"] == "NRU" and c.operation == "divide")
    apart = next(
        c for c in cases if dict(c.model[0].options)["readers"] == "separate" and c.operation == "multiply"
    )
    learnt = ["r1 = c/a; r2 = c/b; r2/r1"] * 3 + ["r1 = a; r2 = b; r1/r2", ""]
    found = tallied(shared, [True] * 4 + [False], learnt)
    found = replace(found, runs=10)  # a tally does not keep the formulas of all runs
    figure = figures.codes([tallied(apart, [True], "r1 = a*c; r2 = f(b); r1*r2"), found])
    bars = [(round(bar.get_x(), 3), round(bar.get_width(), 3)) for bar in figure.axes[0].patches]
    assert bars == [(0, 0.1), (0.1, 0.3), (0.4, 0.1), (0.5, 0.5), (0, 1)]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["k", "c/k", "two codes", "no number", "rarer"]
    assert [text.get_text() for text in figure.axes[0].texts] == ["4 of 10 solved", "1 of 1 solved"]
    rows = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert rows == [
        "divide, NRU, shared, free",
        f"multiply, {dict(apart.model[0].options)['unit']}, separate, free",
    ]


def test_points_of_architectures_are_shares_of_runs_that_read_the_digits_and_of_solved_ones(figures):
    (usual,) = before_unit("code-before-unit", "divide", "NRU")
    none, small, *_ = before_unit("code-architectures", "divide", "NRU")
    found = [reading(small, 10), reading(none, 2, solved=5)]
    read, solved = figures.architectures(found, [reading(usual, 20)]).axes
    names = ["no hidden layer", "8 hidden units", "32 hidden units"]
    cells = [(name, "divide, NRU, free") for name in names]
    assert read.get_title() == "read the digits" and solved.get_title() == "solved"
    assert points_of(read) == dict(zip(cells, (ends(k, 20) for k in (2, 10, 20)), strict=True))
    assert points_of(solved) == dict(zip(cells, (ends(k, 20) for k in (5, 20, 20)), strict=True))
    assert list(points_of(read)) == cells


def test_a_share_reaches_to_where_unknown_codes_may_lift_it(figures):
    small, *_ = before_unit("code-architectures", "multiply", "NMU")
    found = replace(reading(small, 10), runs=40)
    (share,) = points_of(figures.architectures([found], []).axes[0]).values()
    assert share == (0.25, stats.wilson(10, 40).low, stats.wilson(30, 40).high)


def test_a_figure_without_shipped_runs_says_so(figures):
    figure = figures.architectures([], [])
    assert not figure.axes and figure.texts[0].get_text() == "No runs are shipped yet."


def test_a_map_of_noise_has_the_change_and_marks_differences(figures, ship):
    cases = [
        c for c in EXPERIMENTS["beyond/reversible-noise"].cases if unit_of(c) == "SNMRU" and c.inputs == 2
    ]
    ours = [row("beyond/reversible-noise", c, 250 if i else 1_000, 1_000) for i, c in enumerate(cases[:2])]
    ship(*of_the_papers(), *ours)
    axes = figures.noise().axes[0]
    assert np.round(axes.images[0].get_array(), 3).tolist() == [[0, -0.75]]  # the NMRU solves all runs
    assert [(text.get_text(), text.get_weight()) for text in axes.texts] == [
        ("0", "normal"),
        ("-0.75", "bold"),
    ]


def test_only_cells_that_differ_are_shown_beside_the_best_published_unit(figures, ship):
    chosen = [
        case
        for case in EXPERIMENTS["beyond/own-unit"].cases
        if (case.operation, case.inputs) == ("add", 10) and str(case.train) in ("U[1,2)", "U[1.1,1.2)")
    ]
    ours = [row("beyond/own-unit", case, 1_000, 1_000) for case in chosen]
    ship(*of_the_papers(), *ours)
    cell = "add, 10 inputs, U[1.1,1.2) (NAU, chapter 3)"
    assert points_of(figures.own_unit().axes[0]) == {
        ("best published unit", cell): ends(914, 1_000),
        ("NSPU", cell): ends(1_000, 1_000),
    }


def test_a_figure_is_the_same_text_every_time(figures):
    first = figures.svg("invalid")
    assert first == figures.svg("invalid") and first.startswith("<?xml") and "<dc:date>" not in first
