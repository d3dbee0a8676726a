"""The judge on cases made by hand."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.laws.judge import judged
from benchmarks.laws.problems import Entry, Problem
from nalm.discover.law.expression import Input, Sum

X = np.array([[1.0, 2.0], [3.0, 5.0]])
PROBLEM = Problem(
    "laws",
    "sum",
    "open",
    0.0,
    "plain",
    X,
    X.sum(1),
    ("a", "b"),
    X,
    X.sum(1),
    Sum((Input(0), Input(1)), (1.0, 1.0)),
)
ENTRY = Entry("laws", "sum", "open", "plain", 0)


def verdict(predicted, said="exact", noise="plain", problem=PROBLEM):
    return judged(replace(ENTRY, variant=noise), "nalm", problem, np.array(predicted), said, 0.1, "a + b")


def test_a_fit_is_exact_on_every_row_or_not_at_all():
    right, wrong = verdict([3.0, 8.0 * (1 + 1e-13)]), verdict([3.0, 8.0 * (1 + 1e-7)])
    assert right.exact and right.near and not right.false_exact and right.error < 1e-12
    assert not wrong.exact and wrong.near and wrong.false_exact


def test_targets_with_cancellation_are_judged_by_their_rounding():
    x = np.array([[1.0, -1.0 + 1e-13]])
    problem = replace(PROBLEM, far_x=x, far_y=x.sum(1))
    assert verdict(x.sum(1) * (1 + 1e-3), problem=problem).exact
    assert not verdict(x.sum(1) * 2, problem=problem).exact


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_predictions_that_are_not_finite_are_no_fit(bad):
    outcome = verdict([3.0, bad], "none")
    assert not outcome.exact and not outcome.near and outcome.error == np.inf and not outcome.false_exact


def test_under_noise_near_is_five_times_the_noise_and_consistent_may_be_false():
    noisy = replace(PROBLEM, noise=0.01)
    near, far, off = (verdict([3.0 * k, 8.0 * k], "consistent", "noise 1%", noisy) for k in (1.04, 1.08, 1.2))
    assert near.near and not far.near and not far.false_consistent and off.false_consistent
    assert near.error == pytest.approx(0.04)
    assert not verdict([9.0, 9.0], "none", "noise 1%", noisy).false_consistent


def test_formulas_are_shortened_to_one_line():
    long = judged(ENTRY, "x", PROBLEM, X.sum(1), None, 1.0, "a +\n  b" + " + a" * 100)
    assert long.formula.startswith("a + b + a") and len(long.formula) == 200 and long.verdict == ""
