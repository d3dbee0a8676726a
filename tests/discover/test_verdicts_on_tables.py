"""Verdicts on laws of real tables: simpler ones come first, codes are no physics, and advice where to measure."""

from pathlib import Path

import numpy as np
import pytest

from nalm import NALMRegressor
from nalm.discover import search
from nalm.discover.certificate.levels import interpolated, occurrences
from nalm.discover.law.expression import Input, Power, Sum, evaluate
from nalm.discover.problem import Problem
from nalm.discover.selection.doubts import doubt, left_open
from nalm.discover.selection.evidence import fit, unsettled
from nalm.discover.selection.rows import Observations
from nalm.discover.selection.separation import next_measurement
from nalm.discover.selection.simpler import clearly, simpler

A = Input(0)
DATA = Path(__file__).parents[2] / "examples" / "data"
LINE = Sum((A,), (-2.0,), 15.0)
BENT = Sum((Power((A,), (1.5,)), A), (-1.0, -0.5), 15.0)


def fitted(node, x, y):
    rows = Observations.of(Problem.from_table(x, y))
    return fit(node, rows, unsettled(node, rows.x), "test")


def curved(bend, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.1, 2.1, (26, 1))
    y = 15.3 - 2.05 * x[:, 0] - bend * x[:, 0] ** 1.5 + 0.2 * rng.standard_normal(26)
    return [fitted(node, x, y) for node in (LINE, BENT)]


def test_a_simpler_law_stands_first_unless_the_rows_clearly_speak_against_it():
    line, bent = curved(0.0)
    assert simpler([bent, line], bent, lambda law: True)[0] is line
    assert simpler([bent, line], bent, lambda law: False) is None
    line, bent = curved(3.0)
    assert clearly(line, bent) > 2.5 and simpler([bent, line], bent, lambda law: True) is None
    assert simpler([line, bent], line, lambda law: True) is None  # nothing is simpler than the line


def test_a_line_is_simpler_than_a_curve_with_numbers_that_are_nice_by_chance():
    rng = np.random.default_rng(5)
    x = np.linspace(0.4, 1.8, 16)[:, None]
    y = 3 - 2 * x[:, 0] + 0.6 * rng.standard_normal(16)
    square = Sum((Power((A,), (2.0,)),), (-1.0,), 2.0)
    problem = Problem.from_table(x, y)
    curve = fit(square, Observations.of(problem), np.array([False, True, False, False]), "test")
    line = fitted(LINE, x, y)
    assert (line.count, curve.count) == (2, 1)
    assert simpler([curve, line], curve, lambda law: True)[0] is line
    power = fitted(Power((A,), (1.5,)), x, y)
    assert (
        power.count == 1 and simpler([power, line], power, lambda law: True) is None
    )  # it has fewer symbols


def test_an_exponent_of_three_halves_stands_before_a_fitted_one():
    table = np.loadtxt(DATA / "kepler.csv", delimiter=",", skiprows=3, usecols=(1, 2))
    found = search(table[:, :1], table[:, 1], ["a"], stages=["additive", "power"])
    assert "a**(3/2)" in str(found.law) and found.certificate.verdict == "consistent"
    assert min(c.worse for c in found.candidates) < 0  # of a fitted exponent: Jupiter has a mass


def test_a_fitted_exponent_is_no_simpler_law_and_a_column_is_given_up_only_to_chance():
    rng = np.random.default_rng(2)
    x = rng.uniform(1, 5, (40, 2))
    y = 3 * x[:, 0] * np.exp(0.3 * rng.standard_normal(40))
    alone, power, both = (
        fitted(node, x, y)
        for node in (Sum((A,), (3.0,)), Power((A,), (1.2,), 3.0), Power((A, Input(1)), (1.0, 0.5), 3.0))
    )
    assert simpler([both, power], both, lambda law: True) is None
    assert simpler([both, alone], both, lambda law: True)[0] is alone
    y = 3 * x[:, 0] * np.sqrt(x[:, 1]) * np.exp(0.3 * rng.standard_normal(40))
    alone, both = (fitted(law.node, x, y) for law in (alone, both))
    assert clearly(alone, both) > 1.7 and simpler([both, alone], both, lambda law: True) is None


def test_laws_under_different_noise_are_compared_by_the_likelihood_of_y():
    x = np.linspace(1, 2, 20)[:, None]
    y = 100 * x[:, 0] * np.exp(0.01 * np.random.default_rng(0).standard_normal(20))
    additive, relative = (
        fit(LINE, rows, unsettled(LINE, rows.x), "test")
        for rows in Observations.of(Problem.from_table(x, y)).kinds()
    )
    assert abs(clearly(additive, relative)) < 3  # -2 log likelihoods of y, not of log y


def test_the_next_measurement_is_where_two_laws_come_apart():
    line, bent = curved(0.6)
    words = next_measurement(bent, line, ["logP"], "a line")
    where = float(words.split("logP = ")[1].split(":")[0])
    assert "a line differs most" in words and not 0.4 < where < 1.8
    assert next_measurement(line, line, ["logP"], "itself") == ""


def test_a_certificate_with_rivals_gives_advice():
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 2, (20, 1))
    found = search(
        x, 3.3 * x[:, 0] ** 2 * np.exp(0.1 * rng.standard_normal(20)), stages=["additive", "power"]
    )
    assert found.certificate.alternatives and found.certificate.advice.startswith("Measure next near a = ")


@pytest.mark.parametrize(("noise", "hides"), [(0.1, True), (0.01, False)])
def test_a_law_that_leaves_out_columns_is_doubted_where_noise_would_hide_their_effect(noise, hides):
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 5, (60, 2))
    y = 2 * x[:, 0] + noise * 6 * rng.standard_normal(60)
    law, problem = fitted(Sum((A,), (2.0,)), x, y), Problem.from_table(x, y)
    words = left_open(law, problem, ["a", "b"])
    assert words.startswith("The noise would hide an effect of b of up to ") if hides else not words
    assert not left_open(law, Problem.from_table(x[:, :1], y), ["a"])
    assert not left_open(fitted(Sum((A, Input(1)), (2.0, 0.1)), x, y), problem, ["a", "b"])
    assert "digits of its own" in left_open(
        fitted(Power((A, Input(1)), (1.0, 0.17)), x, y), problem, ["a", "b"]
    )


def test_many_fitted_numbers_on_few_rows_leave_the_form_open():
    rng = np.random.default_rng(3)
    x = rng.uniform(1, 5, (60, 2))
    law = Power((Sum((A, Input(1)), (1.0, 0.7), 0.3), A), (2.0, -1.0), 1.3)
    y = evaluate(law, x) * np.exp(0.01 * rng.standard_normal(60))
    sentence = "With 3 fitted numbers on 20 rows it may stand for another form."
    for rows, words in ((20, sentence), (60, "")):
        part = x[:rows], y[:rows]
        assert left_open(fitted(law, *part), Problem.from_table(*part), ["a", "b"]) == words
    plain = Sum((A, Input(1)), (2.0, 0.1), 0.3)
    assert not left_open(fitted(plain, x[:20], y[:20]), Problem.from_table(x[:20], y[:20]), ["a", "b"])


def test_codes_are_never_certified_as_physics():
    rng = np.random.default_rng(0)
    code, t = rng.integers(0, 3, 90).astype(float), rng.uniform(1, 5, 90)
    y = np.array([1.0, 1.7, 0.4])[code.astype(int)] * t**2
    found = search(np.stack([t, code], 1), y, ["t", "code"], stages=["separable"], noise=0)
    assert found.certificate.verdict != "exact"
    parabola = Sum((Power((A,), (2.0,)), A), (1.0, 2.0))
    posed = Problem.from_table(code[:, None], parabola_of(code))
    assert occurrences(parabola, 0) == 2 and interpolated(parabola, posed) == (0, 3)
    assert interpolated(Sum((A,), (2.0,)), posed) is None  # a line through three codes was tested
    noisy = parabola_of(code) + 0.1 * rng.standard_normal(90)
    law, posed = fitted(parabola, code[:, None], noisy), Problem.from_table(code[:, None], noisy)
    assert "which may be codes" in doubt(law, posed)


def parabola_of(code):
    return code**2 + 2 * code


def test_a_form_is_printed_with_the_digits_that_the_data_resolve():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (30, 1))
    found = NALMRegressor(form="a*x + b").fit(x, 2.5 * x[:, 0] + 1 + 0.1 * rng.standard_normal(30), ["x"])
    assert len(found.formula_) < 20
    a, b = found.equations_[0].constants
    assert found.predict([[2.0]]) == pytest.approx(2 * a.value + b.value, rel=1e-3)


def test_a_law_is_exported_as_source():
    x = np.random.default_rng(0).uniform(1, 5, (60, 2))
    found = NALMRegressor(stages=["power"]).fit(x, 2.5 * x[:, 0] / x[:, 1] ** 2, ["m", "r"])
    assert found.to_excel() == "=(5/2)*A2*B2^(-2)" and found.to_excel(["C5", "D5"]) == "=(5/2)*C5*D5^(-2)"
    assert "double force(double m, double r)" in found.to_c("force") and found.to_latex() == found.latex()
    space = {}
    exec(found.to_python(), space)
    assert space["law"](*x.T) == pytest.approx(found.predict(x))
