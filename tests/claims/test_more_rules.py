"""Rules for single published runs, facts of the text, digits that are read, and exponents: each agrees and differs."""

import dataclasses

import numpy as np
import pytest

from nalm.claims import verdicts
from nalm.claims.rules.single_runs import mean_alone
from nalm.claims.rules.systems import exponent
from nalm.experiments import EXPERIMENTS
from nalm.experiments.heim2020 import SYSTEMS
from nalm.results.runs import Outcome

DEFAULT, MLP = EXPERIMENTS["madsen/default"], EXPERIMENTS["thesis/ch1/mlp"]
MAIN, SMALL = EXPERIMENTS["thesis/ch5/main"], EXPERIMENTS["thesis/ch5/small"]
COLOUR, PRODUCT = EXPERIMENTS["mnist/colour"], EXPERIMENTS["mnist/product"]
PLAIN = {
    "outcome": "solved",
    "solved_at": 1_000,
    "best_step": 2_000,
    "validation": 1e-9,
    "test": 1e-9,
    "sparsity": 1e-7,
    "threshold": 1e-5,
    "resets": 0,
    "formula": "",
    "seconds": 1.0,
    "mode": "eager",
    "device": "cpu",
    "neighbours": 1,
}


def run(case, seed=0, **fields):
    """A solved run of a case, with some fields changed."""
    return Outcome(case=case, seed=seed, steps=case.recipe.steps, **(PLAIN | fields))


def only(experiment, metric, runs, curves=None, **about):
    """The verdict of the one claim with this metric and these fields."""
    chosen = [
        c
        for c in experiment.claims
        if c.metric == metric and all(getattr(c, name) == value for name, value in about.items())
    ]
    return verdicts(experiment.replace(claims=tuple(chosen[:1])), runs, curves or {})[0]


def case_of(claim, experiment):
    return next(case for case in experiment.cases if case.hash in claim.cases)


def nau_add(**fields):
    claim = next(c for c in DEFAULT.claims if (c.unit, c.operation, c.n) == ("NAU", "add", 100))
    return [run(case_of(claim, DEFAULT), seed, **fields) for seed in range(40)]


@pytest.mark.parametrize(
    ("steps", "word"), [(190_000, "agrees"), (4_000_000, "differs"), (5_000, "cannot tell")]
)
def test_a_mean_without_a_spread_differs_only_if_ours_is_larger(steps, word):
    v = only(DEFAULT, "solved_at_sample_mean", nau_add(solved_at=steps), unit="NAU", operation="add", n=100)
    assert v.verdict == word


def test_equal_means_without_a_spread_are_seldom_called_different():
    rng = np.random.RandomState(0)
    for tail in (1.0, 3.0):  # of logarithms
        found = [
            mean_alone(np.exp(tail * rng.normal(size=m)).mean(), m, np.exp(tail * rng.normal(size=n)), 0.0).p
            < 0.05
            for m, n in ((10, 10), (100, 10), (4, 40))
            for _ in range(200)
        ]
        assert np.mean(found) < 0.05


@pytest.mark.parametrize(("test", "word"), [(1.4e-5, "cannot tell"), (1e-3, "differs")])
def test_a_median_of_errors_is_that_of_all_runs(test, word):
    runs = nau_add(test=test)
    v = only(DEFAULT, "extrapolation_mse_median_at_best_validation", runs, unit="NAU", operation="add")
    assert v.ours.estimate == test and v.verdict in (word, "differs")


@pytest.mark.parametrize(("unit", "parameters"), [("MLP(1)", 5), ("MLP(100)", 401), ("NMU", 2)])
def test_sizes_and_lengths_are_those_of_the_cases(unit, parameters):
    claim = next(c for c in MLP.claims if (c.metric, c.unit) == ("n_params", unit))
    runs = [run(case_of(claim, MLP))]
    assert only(MLP, "n_params", runs, unit=unit).ours.estimate == parameters
    assert only(MLP, "iterations", runs, unit=unit).verdict == "agrees"
    wrong = MLP.replace(claims=(claim.replace(value=7.0),))
    assert verdicts(wrong, runs, {})[0].verdict == "differs"


@pytest.mark.parametrize(("formula", "word"), [("a**(-0.3)", "agrees"), ("1/a", "differs")])
def test_a_success_with_another_formula_is_a_false_one(formula, word):
    claim = next(c for c in SMALL.claims if c.metric == "false_positive")
    case = next(
        c for c in SMALL.cases if (c.operation, c.inputs, str(c.train)) == ("reciprocal", 2, claim.where)
    )
    assert only(SMALL, "false_positive", [run(case, s, formula=formula) for s in range(25)]).verdict == word
    assert only(SMALL, "false_positive", [run(case, outcome="unsolved")]).verdict == "cannot tell"


@pytest.mark.parametrize(("step", "word"), [(52_000, "agrees"), (80_000, "differs")])
def test_a_step_that_several_ranges_are_solved_at(step, word):
    cases = [c for c in MAIN.cases if c.inputs == 10 and c.model[0].unit == "NMRU"]
    assert only(MAIN, "typical_solved_at", [run(case, solved_at=step) for case in cases]).verdict == word


@pytest.mark.parametrize(("lead", "word"), [(0.13, "agrees"), (0.4, "differs")])
def test_a_gain_of_digits_is_a_difference_of_two_readers(lead, word):
    claim = next(c for c in COLOUR.claims if c.metric == "label1_accuracy_gain")
    cases = [case for case in COLOUR.cases if case.hash in claim.cases]
    runs = [run(case, seed) for case in cases for seed in range(3)]
    read = {
        (o.case.key, o.seed): {
            "test.label1.rounded": np.array([0.5 + lead * (o.case.model[0].unit != "Fixed") + 1e-3 * o.seed])
        }
        for o in runs
    }
    assert only(COLOUR, "label1_accuracy_gain", runs, read).verdict == word
    assert only(COLOUR, "label1_accuracy_gain", runs).verdict == "cannot tell"
    short = [dataclasses.replace(o, steps=o.case.epoch) for o in runs]
    assert "epochs 2 to 1,000 are missing" in only(COLOUR, "label1_accuracy_gain", short, read).why


@pytest.mark.parametrize(("missed", "word"), [(3, "agrees"), (20, "differs")])
def test_every_digit_counts_in_the_lowest_share_of_digits(missed, word):
    claim = next(c for c in PRODUCT.claims if c.metric == "min_per_digit_accuracy")
    o = run(case_of(claim, PRODUCT))
    counts = np.zeros((2, 10, 10))
    counts[:, range(10), range(10)] = 100
    counts[:, 7, 7], counts[:, 7, 1] = 100 - missed, missed
    found = only(
        PRODUCT, "min_per_digit_accuracy", [o], {(o.case.key, 0): {"test.confusion": counts.ravel()}}
    )
    assert (found.verdict, found.ours.estimate) == (word, 100 - missed)


def test_a_digit_that_no_test_pair_shows_does_not_count_as_wrongly_read():
    claim = next(c for c in PRODUCT.claims if c.metric == "min_per_digit_accuracy")
    o = run(case_of(claim, PRODUCT))
    counts = np.zeros((2, 10, 10))
    counts[:, range(10), range(10)] = 100
    counts[:, 7, 7], counts[:, 7, 1] = 97, 3
    counts[:, 6, 6] = 0
    curves = {(o.case.key, 0): {"test.confusion": counts.ravel()}}
    found = only(PRODUCT, "min_per_digit_accuracy", [o], curves)
    assert (found.verdict, found.ours.estimate) == ("agrees", 97) and "in 1 of 1 runs" in found.why
    curves[o.case.key, 0]["test.confusion"] = np.zeros(200)  # nothing was read at all
    assert only(PRODUCT, "min_per_digit_accuracy", [o], curves).verdict == "cannot tell"


def test_exponents_are_read_from_the_terms_of_infection_and_of_lost_immunity():
    text = "S' = 0.15*(0.2*R + 0.8)**0.558 - 0.14*(0.5*I + 0.5)**0.555*(0.2*S + 0.8)**0.569, I' = 0.1*I"
    assert [exponent(text, name) for name in "SIR"] == [0.569, 0.555, 0.558]
    assert exponent("", "S") is None and exponent("S' = -0.1*I, I' = I", "S") is None
    fsir, case = EXPERIMENTS["heim/fsir"], SYSTEMS["RealNPU", 6, 1.0]
    for lowest, word in ((0.5, "cannot tell"), (0.7, "differs")):  # published: 0.62
        texts = [text.replace("0.569", f"{lowest + seed / 250:.3g}") for seed in range(60)]
        runs = [run(case, seed, formula=found) for seed, found in enumerate(texts)]
        assert only(fsir, "gamma", runs).verdict == word
    assert only(fsir, "gamma", [run(case, formula="")]).verdict == "cannot tell"
