"""Networks on sequences by length: limits from reference runs, solved runs, and verdicts on published numbers."""

import io

import numpy as np
import pytest

from nalm import stats
from nalm.claims import verdicts
from nalm.claims.lengths import by_length, first_below, limits, named, published, titles
from nalm.cli.tables import results as tables
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.results.runs import Outcome

QUANTILE = 2.896459  # one-sided 1% quantile of Student's t with 8 degrees of freedom, from a table


def test_limits_by_hand():
    errors = np.array([[1.0, 10.0], [2.0, 10.0], [3.0, 10.0]])
    assert limits(errors) == pytest.approx([2 + QUANTILE * 1 / 3**0.5, 10.0], abs=1e-6)


def test_the_degrees_of_freedom_stay_eight():
    few, many = np.array([[1.0], [3.0]]), np.array([[1.0], [3.0]] * 5)
    assert limits(few)[0] == pytest.approx(2 + QUANTILE * 2**0.5 / 2**0.5, abs=1e-6)
    assert limits(many)[0] == pytest.approx(2 + QUANTILE * (10 / 9) ** 0.5 / 10**0.5, abs=1e-6)


def test_one_reference_is_its_own_limit():
    assert limits(np.array([[4.0, 5.0]])).tolist() == [4.0, 5.0]


def test_no_reference_has_no_limit():
    with pytest.raises(NALMError, match="at least one reference"):
        limits(np.empty((0, 3)))


def test_solved_at_is_the_first_step_below():
    steps = np.array([0.0, 5.0, 10.0, 15.0])
    assert first_below(steps, np.array([9.0, 2.0, 9.0, 1.0]), 3.0) == 5
    assert first_below(steps, np.array([9.0, 9.0, 9.0, 9.0]), 3.0) is None
    assert first_below(steps, np.array([1.0, 9.0, 9.0, 9.0]), 3.0) == 0


# -- runs by length -------------------------------------------------------------------------------

PRODUCT = EXPERIMENTS["mnist/sequence-product"]
CASES = PRODUCT.cases
GIVEN, NMU = CASES[0], CASES[1]
LENGTHS = range(1, 21)


def outcome(case, seed, best_step=10, validation=1.0, sparsity=0.0):
    return Outcome(
        *(case, seed, "solved" if validation < 10 else "unsolved", 0, best_step, validation, validation),
        *(sparsity, 10.0, 20, 0, "", 1.0, "eager", "cpu", 1),
    )


def curve(errors):
    """Evaluations at steps 0, 10 and 20 whose error is these times the length."""
    found = {"steps": np.array([0.0, 10.0, 20.0])}
    for n in LENGTHS:
        found[f"test.{n}.error"] = np.array(errors) * n
        found[f"test.{n}.right"] = np.array([0.0, 0.5, 0.25])
    return found


def runs(given, mine):
    outcomes = [outcome(GIVEN, k, validation=v) for k, (_, v) in enumerate(given)]
    outcomes += [outcome(NMU, k) for k in range(len(mine))]
    curves = {(GIVEN.key, k): curve(e) for k, (e, _) in enumerate(given)}
    curves |= {(NMU.key, k): curve(e) for k, e in enumerate(mine)}
    return outcomes, curves


def judged(outcomes, curves, metric):
    """Verdicts on the published numbers about the NMU, by length."""
    found = [v for v in verdicts(PRODUCT, outcomes, curves) if v.claim.cases == (NMU.hash,)]
    return {v.claim.where: v for v in found if v.claim.metric == f"{metric}_at_length"}


def test_success_is_judged_where_validation_is_best_against_the_references():
    given = [([9, 1, 9], 1.0), ([9, 3, 9], 1.0)]
    mine = [[9, 4.8, 9], [9, 4.9, 1], [4, 1, 9]]  # the limit is 4.8965 times the length
    ((reference, row),) = by_length(*runs(given, mine)).values()
    assert reference.name == "reference" and row.name == "NMU"
    assert [r.length for r in row.lengths] == list(LENGTHS)
    for r in row.lengths:
        assert r.limit == pytest.approx(r.length * (2 + QUANTILE), rel=1e-6)
        assert r.success == stats.wilson(2, 3)
        assert r.errors == pytest.approx([4.8 * r.length, 4.9 * r.length, r.length])
        assert r.right == (0.5, 0.5, 0.5)
        assert r.solved_at == (10, 0) and r.sparsity == (0.0, 0.0)
    assert row.between == 10 and row.epochs == 1_000


def test_references_that_did_not_learn_are_left_out():
    given = [([9, 1, 9], 1.0), ([900, 900, 900], 60.0), ([9, 3, 9], 1.0)]
    ((_, row),) = by_length(*runs(given, [[9, 4, 9]])).values()
    assert row.lengths[0].limit == pytest.approx(2 + QUANTILE, rel=1e-6)


def test_without_a_reference_nothing_is_judged():
    assert by_length(*runs([], [[1, 1, 1]])) == {}
    assert by_length(*runs([([9, 9, 9], 60.0)], [[1, 1, 1]])) == {}


def test_a_reference_that_was_trained_for_other_steps_does_not_count():
    outcomes, curves = runs([([9, 1, 9], 1.0)], [[9, 1, 9]])
    shorter = NMU.replace(recipe=NMU.recipe.replace(steps=387))
    outcomes.append(outcome(shorter, 0))
    curves[shorter.key, 0] = curve([9, 1, 9])
    (rows,) = by_length(outcomes, curves).values()
    assert [row.case for row in rows] == [GIVEN, NMU]


def test_published_rates_stand_beside_cases_however_long():
    shorter = NMU.replace(recipe=NMU.recipe.replace(steps=387))
    for case in (NMU, shorter):
        found = published(case)
        assert sorted(found) == list(LENGTHS)
        assert [found[n].value for n in (1, 2, 6, 12)] == [0.9, 1.0, 0.8, 0.7]
    assert published(GIVEN) == {}
    free = EXPERIMENTS["mnist/sequence-free"].cases[1]
    assert free.model == NMU.model and published(free)[1] != published(NMU)[1]


def test_numbers_are_published_of_every_cell_but_the_stochastic_ones():
    for name, cells in (("sequence-product", 8), ("sequence-sum", 5), ("sequence-free", 3)):
        experiment = EXPERIMENTS[f"mnist/{name}"]
        cases = [c for c in experiment.cases if c.model[0].unit not in ("Accumulator", "SNMU")]
        assert len(cases) == cells - 2 * (name == "sequence-product") and all(map(published, cases))
        assert {h for c in experiment.claims for h in c.cases} == {c.hash for c in cases}


def test_published_numbers_are_judged_at_every_length():
    given = [([9, 1, 9], 1.0), ([9, 3, 9], 1.0)]
    found = runs(given, [[9, 4.8, 9], [9, 4.9, 1], [4, 1, 9]])
    rates = judged(*found, "success_rate")
    assert len(rates) == 20 and rates["length=6"].ours == stats.wilson(2, 3)
    assert (
        rates["length=6"].verdict == "cannot tell" and rates["length=6"].needed is None
    )  # 8 of 10, ours 2 of 3
    assert rates["length=2"].verdict == "cannot tell" and rates["length=2"].p > 0.05  # 10 of 10
    steps = judged(*found, "solved_at_mean").values()
    assert len(steps) == 20 and {v.verdict for v in steps} == {"cannot tell"}  # ours are 10 and 0
    steps = judged(*runs(given, [[9, 1, 9]] * 10), "solved_at_mean")
    assert steps["length=2"].verdict == "differs"  # ours are 10, published 26,000
    sparse = judged(*found, "sparsity_error_mean").values()
    assert len(sparse) == 20 and all(v.ours.n == 2 for v in sparse)


def test_without_curves_or_references_nothing_can_be_told():
    outcomes, curves = runs([([9, 1, 9], 1.0)], [[9, 1, 9]])
    for some, known in ((outcomes, {}), (outcomes[1:], curves)):
        found = judged(some, known, "success_rate").values()
        assert {(v.verdict, v.why) for v in found} == {
            ("cannot tell", "no curves or no reference runs of ours")
        }
    assert {v.why for v in judged([], {}, "success_rate").values()} == {
        f"no runs of ours: nalm run {PRODUCT.name}"
    }


def test_steps_are_compared_with_the_intervals_of_the_papers():
    given = [([9, 1, 9], 1.0), ([9, 3, 9], 1.0)]
    steps = judged(*runs(given, [[9, 4.8, 9], [9, 4.8, 9], [4, 1, 9]]), "solved_at_mean")
    (found,) = {v.ours for v in steps.values()}
    assert found == stats.solved_at_published([10, 10, 0])


def test_ten_runs_are_enough_if_all_succeed_or_all_fail():
    given = [([9, 1, 9], 1.0), ([9, 3, 9], 1.0)]
    good, bad = (runs(given, [[9, e, 9]] * 10) for e in (1, 9))
    assert judged(*good, "success_rate")["length=2"].verdict == "agrees"  # published 10 of 10
    assert judged(*bad, "success_rate")["length=2"].verdict == "differs"
    assert {v.why for v in judged(*bad, "solved_at_mean").values()} == {"no solved run of ours"}


def test_of_several_lengths_of_training_the_longest_is_judged_and_each_has_its_references():
    outcomes, curves = runs([([9, 1, 9], 1.0)], [[9, 1, 9]])
    for case, errors in ((GIVEN, [9, 5, 9]), (NMU, [9, 4, 9])):
        shorter = case.replace(recipe=case.recipe.replace(steps=99 * case.epoch))
        outcomes.append(outcome(shorter, 0))
        curves[shorter.key, 0] = curve(errors)
    found = by_length(outcomes, curves)
    assert [[r.lengths[0].limit for r in rows] for rows in found.values()] == [[1, 1], [5, 5]]
    assert list(titles(found).values()) == ["multiply, 1,000 epochs", "multiply, 99 epochs"]
    rates = judged(outcomes, curves, "success_rate").values()
    assert len(rates) == 20 and not any("missing" in v.why for v in rates)
    short = [o for o in outcomes if o.case.recipe.steps == 99 * NMU.epoch]
    rates = judged(short, curves, "success_rate").values()
    assert {v.verdict for v in rates} == {"cannot tell"}
    assert all(v.why.endswith(": epochs 100 to 1,000 are missing") for v in rates)


def test_a_row_has_the_name_that_its_experiment_gives_whatever_else_was_run():
    outcomes, curves = runs([([9, 1, 9], 1.0)], [[9, 1, 9]])
    other = EXPERIMENTS["mnist/sequence-free"].cases[1].replace(recipe=NMU.recipe.replace(penalties=()))
    more = [*outcomes, outcome(other, 0)]
    wider = curves | {(other.hash[:12], 0): curve([9, 1, 9])}
    for some, known in ((outcomes, curves), (more, wider)):
        (rows,) = by_length(some, known, PRODUCT.name).values()
        assert [row.name for row in rows][:2] == ["reference", "NMU"]


def test_two_cases_of_a_unit_are_told_apart():
    both = named([*CASES, EXPERIMENTS["mnist/sequence-free"].cases[1]])
    assert len(set(both.values())) == len(both)
    assert {"reference", "NMU, weight 10, inputs 1", "NMU, weight 10"} <= set(both.values())


def test_a_terminal_shows_how_many_runs_are_below_the_limit():
    from rich.console import Console

    given = [([9, 1, 9], 1.0), ([9, 3, 9], 1.0)]
    found = by_length(*runs(given, [[9, 4.8, 9], [9, 4.9, 1], [4, 1, 9]]))
    console = Console(width=80, record=True, file=io.StringIO())
    for table in tables.by_length(found):
        console.print(table)
    text = console.export_text()
    line = next(line.split() for line in text.splitlines() if line.split()[:1] == ["6"])
    assert line == ["6", "29.4", "2", "of", "2", "2", "of", "3", "0.8"]  # the last is the published share
