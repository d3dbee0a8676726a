"""Which law: one criterion on all rows, noise of two kinds, digits that the data resolve, and doubts in words."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.law.expression import Function, Input, Power, Sum, numbers
from nalm.discover.problem import Problem
from nalm.discover.selection.choose import ranked
from nalm.discover.selection.doubts import doubt, pure_error
from nalm.discover.selection.evidence import fit, price, unsettled
from nalm.discover.selection.intervals import constants
from nalm.discover.selection.rounding import rounded
from nalm.discover.selection.rows import NoiseKind, Observations, distinct
from nalm.discover.selection.structure import structure
from nalm.errors import NALMError

A, B = Input(0), Input(1)
GRAVITY = Power((A, B), (1.0, -2.0), 6.0)


def posed(law, kind="additive", level=0.05, rows=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 9, (rows, 2))
    y, e = law(*x.T), rng.standard_normal(rows)
    return Problem.from_table(x, y * np.exp(level * e) if kind == "relative" else y + level * y.std() * e)


def fitted(node, problem, noise=NoiseKind.ADDITIVE):
    rows = next(r for r in Observations.of(problem).kinds() if r.noise == noise)
    return fit(node, rows, unsettled(node, rows.x), "test")


@pytest.mark.parametrize("kind", ["additive", "relative"])
def test_the_likelihood_tells_additive_from_relative_noise(kind):
    right = 0
    for seed in range(4):
        problem = posed(lambda a, b: 6.674 * a / b**2, kind, seed=seed)
        best = ranked({GRAVITY: "power"}, problem, lambda node: True, lambda: None)[0]
        right += best.rows.noise == kind and structure(best.node) == structure(GRAVITY)
    assert right == 4


def test_a_negative_target_can_have_relative_noise():
    problem = posed(lambda a, b: -6.674 * a / b**2, "relative")
    found = fitted(Power((A, B), (1.0, -2.0), -6.0), problem, NoiseKind.RELATIVE)
    assert numbers(found.node)[-1] == pytest.approx(-6.674, rel=0.05)


def test_whole_exponents_win_unless_the_data_speak_against_them():
    problem = posed(lambda a, b: 6.674 * a / b**2, "relative", level=0.08, rows=30)
    free = Power((A, B), (1.1, -1.9), 6.0)
    best = ranked({free: "power"}, problem, lambda node: True, lambda: None)[0]
    assert structure(best.node) == structure(GRAVITY)
    bent = posed(lambda a, b: 6.674 * a / b**1.7, "relative", level=0.01, rows=30)
    best = ranked({free: "power"}, bent, lambda node: True, lambda: None)[0]
    assert constants(best)[0].low < -1.7 < constants(best)[0].high


def test_numbers_are_rounded_together_and_the_law_fits_as_before():
    x = np.random.default_rng(1).uniform(90, 110, (60, 2))  # on a narrow range c and p depend on each other
    y = 0.37 * x[:, 0] ** 1.83 * (1 + 0.01 * np.random.default_rng(2).standard_normal(60))
    found = fitted(Power((A,), (1.8,), 0.4), Problem.from_table(x, y))
    short = rounded(found)
    assert short.misfit < found.misfit + 0.11
    assert sum(len(repr(v)) for v in numbers(short.node)) < sum(len(repr(v)) for v in numbers(found.node))
    apart = [float(f"{v:.2g}") for v in numbers(found.node)]  # what rounding one by one would give
    assert found.rows.misfit(Power((A,), (apart[0],), apart[1])) > found.misfit + 1


def test_as_many_numbers_as_rows_cost_everything():
    problem = posed(lambda a, b: a + b, rows=8)
    rows = Observations.of(problem)
    law = Sum(tuple(Power((A,), (float(p),)) for p in range(1, 8)), (1.0,) * 7)
    assert price(law, np.ones(len(numbers(law)), bool), rows) == np.inf
    assert price(Sum((A,), (2.0,)), np.ones(1, bool), rows) < np.inf


def test_left_out_errors_are_those_of_fits_without_the_row():
    problem = posed(lambda a, b: 3 * a - b, rows=12)
    found = fitted(Sum((A, B), (2.5, -1.5)), problem)
    rows = found.rows
    for i in range(3):
        keep = np.arange(len(rows)) != i
        w = np.linalg.lstsq(rows.x[keep], rows.y[keep], rcond=None)[0]
        assert found.left_out[i] == pytest.approx(rows.y[i] - rows.x[i] @ w)


def test_one_structure_has_many_ways_to_be_written():
    one = Power((Sum((A, B), (2.0, 3.0)),), (-1.0,), 5.0)
    assert structure(one) == structure(Power((Sum((B, A), (7.0, 1.0)),), (-1.0,)))
    assert structure(Power((A,), (1.37,))) == structure(Power((A,), (0.21,), 4.0))
    assert structure(Power((A,), (1.5,))) != structure(Power((A,), (2.5,)))
    assert structure(Function("exp", A)) != structure(A)


def test_repeated_rows_show_what_a_law_leaves_beside_noise():
    x = np.repeat(np.arange(1.0, 6.0), 4)[:, None]
    noise = 0.01 * np.random.default_rng(1).standard_normal(20)
    assert pure_error(x, noise, 2) > 0.01
    assert pure_error(x, noise + 0.1 * np.sin(3 * x[:, 0]), 2) < 1e-6
    assert pure_error(np.arange(20.0)[:, None], noise, 2) == 1.0


def test_copies_of_rows_are_no_further_measurements():
    problem = posed(lambda a, b: a / b, rows=12)
    x, y = np.concatenate([problem.x, problem.held_x]), np.concatenate([problem.y, problem.held_y])
    twice = Problem.from_table(np.repeat(x, 2, 0), np.repeat(y, 2))
    assert len(Observations.of(distinct(twice))) == 12
    again = np.repeat(y, 2) + np.tile([0.0, 0.1], 12)
    assert len(Observations.of(distinct(Problem.from_table(np.repeat(x, 2, 0), again)))) == 24


def test_doubts_are_said_in_words():
    few = posed(lambda a, b: a / b, rows=7)
    many = Sum((A, B, Power((A,), (2.0,)), Power((B,), (2.0,))), (1.1, 1.2, 1.3, 1.4), 0.7)
    assert "too few for 5 fitted numbers; 3 more" in doubt(fitted(many, few), few)
    chance = posed(lambda a, b: 0 * a + 1, rows=20)
    noise = Problem.from_table(Observations.of(chance).x, np.random.default_rng(0).standard_normal(20))
    assert "noise is larger than the effect" in doubt(fitted(Sum((A,), (0.1,), 0.2), noise), noise)
    bent = posed(lambda a, b: a**2, level=0.001, rows=30)
    assert "structure" in doubt(fitted(Sum((A,), (9.0,), -9.0), bent), bent)
    right = posed(lambda a, b: 6.674 * a / b**2, rows=20)
    assert doubt(fitted(GRAVITY, right), right) is None


def test_a_small_noisy_table_gives_its_law_a_front_and_intervals():
    rng = np.random.default_rng(4)
    x = rng.uniform(1, 9, (25, 3))
    y = 8.314 * x[:, 0] * x[:, 1] / x[:, 2] * np.exp(0.05 * rng.standard_normal(25))
    found = search(x, y, ["n", "T", "V"], stages=["additive", "power", "ratio"])
    assert structure(found.law.expression) == structure(Power((A, B, Input(2)), (1.0, 1.0, -1.0)))
    assert found.certificate.verdict == "consistent" and "relative noise of" in found.certificate.tested
    forms = [structure(c.law.expression) for c in found.candidates]
    assert len(set(forms)) == len(forms) > 1
    (number,) = found.candidates[0].constants
    assert number.low < 8.314 < number.high and found.candidates[0].worse == 0
    assert all(c.worse > 0 and c.certificate is not None for c in found.candidates[1:])
    smaller = found.selected(len(found.candidates) - 1)
    assert smaller.law == found.candidates[-1].law and smaller.certificate is found.candidates[-1].certificate
    assert found.selected("accurate").candidates[0].error == min(c.error for c in found.candidates)
    for wrong in (99, "best"):
        with pytest.raises(NALMError):
            found.selected(wrong)


def test_given_errors_decide_how_far_a_row_may_be_off():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (30, 1))
    error = np.where(np.arange(30) < 10, 3.0, 0.01)
    y = 2.5 * x[:, 0] + 1.25 + error * rng.standard_normal(30)
    stages = ["additive", "power"]
    plain, told = search(x, y, stages=stages), search(x, y, stages=stages, y_err=error)
    assert abs(numbers(told.law.expression)[0] - 2.5) < 0.01 < abs(numbers(plain.law.expression)[0] - 2.5)
    assert told.certificate.verdict == "consistent"
    wrong = search(x, y, stages=stages, y_err=error / 100)
    assert wrong.certificate.verdict == "none" and "given errors" in wrong.certificate.tested
    weighted = search(x, y, stages=stages, sample_weight=1 / error**2)
    assert abs(numbers(weighted.law.expression)[0] - 2.5) < 0.01
    for bad in (
        {"y_err": error[:3]},
        {"y_err": -error},
        {"y_err": error, "sample_weight": error},
        {"digits": 0},
    ):
        with pytest.raises(NALMError):
            search(x, y, **bad)


def test_rows_that_are_far_off_are_left_out_and_named():
    rng = np.random.default_rng(5)
    x = rng.uniform(1, 5, (60, 2))
    y = 0.5 * x[:, 0] * x[:, 1] ** 2 * (1 + 0.01 * rng.standard_normal(60))
    y[[7, 30, 31]] *= [10.0, 0.1, 8.0]
    found = search(x, y, stages=["additive", "power", "ratio"])
    assert structure(found.law.expression) == structure(Power((A, B), (1.0, 2.0)))
    assert found.certificate.verdict == "consistent" and found.certificate.tested.endswith("rows 8, 31, 32.")


def test_errors_in_proportion_to_y_do_not_hide_the_effect():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (60, 2))
    clean = x[:, 0] * x[:, 1] ** 2 / 2
    y = clean * (1 + 0.05 * rng.standard_normal(60))
    for given in ({"y_err": 0.05 * clean}, {"sample_weight": clean**-2.0}):
        found = search(x, y, stages=["additive", "power"], **given)
        assert str(found.law) == "a*b**2/2" and found.certificate.verdict == "consistent"
