"""Published accuracies beside ours: by the judged epoch, over folds, and with how long ours were trained."""

import dataclasses

import pytest
from made import outcomes

from nalm.claims import of_published, verdicts
from nalm.experiments import EXPERIMENTS
from nalm.experiments.mnist.two_digits import DIVISION, NMU, SNMU, lasting

PRODUCT = EXPERIMENTS["mnist/product"]


def runs(case, wrong, steps=None, formula="a*b", sparsity=0.0):
    made = outcomes("NMU", [True] * len(wrong))
    told = {"case": case, "formula": formula, "sparsity": sparsity, "steps": steps or case.recipe.steps}
    return [dataclasses.replace(o, test=w, **told) for o, w in zip(made, wrong, strict=True)]


def told(experiment, found, unit, metric):
    return next(
        v for v in verdicts(experiment, found, {}) if (v.claim.unit, v.claim.metric) == (unit, metric)
    )


def test_an_accuracy_is_the_mean_over_folds_in_percent():
    found = told(PRODUCT, runs(SNMU, [0.02, 0.04, 0.06]), "SNMU", "test_output_accuracy")
    assert found.ours.estimate == pytest.approx(96) and found.ours.n == 3
    assert found.verdict == "cannot tell" and "epochs" not in found.why  # published without an error
    far = told(PRODUCT, runs(SNMU, [0.5] * 10), "SNMU", "test_output_accuracy")
    assert far.verdict == "differs"  # 96.6, whatever the spread of its ten folds
    division = EXPERIMENTS["mnist/division"]
    real = next(c for c in division.claims if c.unit == "ModifiedRealNPU" and c.place == "Table G.1")
    case = next(c for c in division.cases if c.hash in real.cases)
    near = next(v for v in verdicts(division, runs(case, [0.03] * 5 + [0.035] * 5), {}) if v.claim == real)
    assert real.value == 97.147 and near.verdict == "agrees"


def test_a_shorter_training_is_shown_and_says_which_epochs_are_missing():
    for epochs in (99, 999):
        short = lasting(NMU, epochs)
        found = told(PRODUCT, runs(short, [0.4, 0.41, 0.42]), "NMU", "test_output_accuracy")
        assert found.ours.estimate == pytest.approx(59) and found.verdict == "cannot tell"
        assert found.why == f"mean over 3 folds: epochs {epochs + 1:,} to 1,000 are missing"


def test_folds_with_a_wide_interval_decide_nothing():
    found = told(PRODUCT, runs(NMU, [0.1, 0.4, 0.9]), "NMU", "test_output_accuracy")
    assert found.ours.low == 0 and found.ours.high == 100 and found.verdict == "cannot tell"


def test_one_fold_alone_is_not_compared():
    found = told(PRODUCT, runs(NMU, [0.403]), "NMU", "test_output_accuracy")
    assert found.ours.estimate == pytest.approx(59.7) and found.verdict == "cannot tell"


def test_without_runs_nothing_is_compared():
    found = told(PRODUCT, runs(NMU, [0.1] * 3), "SNMU", "test_output_accuracy")
    assert found.ours is None and found.why == "no runs of ours: nalm run mnist/product"


def test_of_several_lengths_the_longest_counts():
    both = runs(lasting(NMU, 100), [0.9, 0.9]) + runs(lasting(NMU, 200), [0.4, 0.4])
    kept = of_published(PRODUCT, both)
    assert [(o.case == NMU, o.steps // NMU.epoch, o.test) for o in kept] == [(True, 200, 0.4)] * 2


def test_exact_weights_are_the_solution_and_discrete():
    right = runs(NMU, [0.1] * 7)
    wrong = [dataclasses.replace(o, seed=o.seed + 7) for o in runs(NMU, [0.1] * 3, sparsity=0.01)]
    found = told(PRODUCT, right + wrong, "NMU", "runs_with_weights_exactly_1")
    assert found.ours.estimate == pytest.approx(70) and found.p > 0.99  # 7 of 10 published folds
    all_right = told(PRODUCT, runs(SNMU, [0.1] * 20), "SNMU", "runs_with_weights_exactly_1")
    none_right = told(PRODUCT, runs(SNMU, [0.1] * 20, formula="a"), "SNMU", "runs_with_weights_exactly_1")
    assert (all_right.verdict, none_right.verdict) == ("agrees", "differs")


def test_every_number_of_both_tables_is_tied_to_its_case():
    claims = EXPERIMENTS["mnist/division"].claims
    tables = {(c.place, c.unit, c.where): c for c in claims}
    assert len([c for c in claims if c.place == "Table 5.5"]) == 5
    assert len([c for c in claims if c.place == "Table G.1"]) == 7
    clipped = tables["Table 5.5", "NMRU", "10 folds, 5 d.p."]
    assert clipped.value == 46.891 and clipped.cases == (DIVISION["NMRU", "divide", "grad-norm clip 1"].hash,)
    assert {c.unit for c in PRODUCT.claims} >= {"NMU", "SNMU", "sNMU batch"}


def test_settings_are_those_of_the_tables():
    cases = EXPERIMENTS["mnist/division"].cases
    assert len(cases) == 8 and {c.recipe.clip_norm for c in cases} == {0.0, 1.0}
    assert all(c.recipe.steps == 1_000 * 570 and c.recipe.batch == 128 for c in cases)
    (ramp,) = {r for c in cases for _, r in c.recipe.penalties}
    assert (ramp.weight, ramp.start, ramp.end) == (2, 30 * 570, 40 * 570)
    assert dict(SNMU.recipe.penalties)["weight"].weight == 100 and SNMU.epoch == 703


def test_seeds_beyond_the_number_of_folds_are_counted_as_runs_of_the_same_folds():
    found = told(PRODUCT, runs(NMU, [0.4, 0.41] * 10), "NMU", "test_output_accuracy")
    assert found.why == "mean over 20 runs of 10 folds" and found.ours.n == 20
