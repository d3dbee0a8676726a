"""A known form: its parameters with certified digits, its law with a verdict, and forms that are none."""

import json
from pathlib import Path

import numpy as np
import pytest

from nalm import NALMRegressor
from nalm.discover.form import fit_form
from nalm.discover.form.search import search_form, search_form_groups
from nalm.discover.form.text import read_form
from nalm.discover.law.expression import evaluate
from nalm.discover.problem import Problem
from nalm.discover.selection.doubts import doubt_of_fit
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.errors import NALMError

NIST = {
    p["name"]: p for p in json.loads((Path(__file__).parent / "nist.json").read_text("utf-8"))["problems"]
}


@pytest.mark.parametrize(
    "name", [name if name == "Misra1a" else pytest.param(name, marks=pytest.mark.slow) for name in NIST]
)
def test_certified_parameters_are_met_without_start_values(name):
    p = NIST[name]
    found = fit_form(p["formula"], np.array(p["x"])[:, None], np.array(p["y"]), ["x"])
    for parameter, certified in p["certified"].items():
        assert found.constants[parameter].value == pytest.approx(certified, rel=1e-6)
        assert found.constants[parameter].error == pytest.approx(p["standard_deviation"][parameter], rel=1e-3)
    assert found.rss == pytest.approx(p["rss"], rel=1e-6)
    node = found.form.node(found.values)
    x = np.array(p["x"])[:, None]
    assert float(np.sum((np.array(p["y"]) - evaluate(node, x)) ** 2)) == pytest.approx(p["rss"], rel=1e-6)


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_peaks_that_overlap_are_found_in_the_order_of_their_places(seed):
    x = np.linspace(0, 250, 125)[:, None]
    form = "a*exp(-b*x) + c*exp(-(x - d)**2/e**2) + f*exp(-(x - g)**2/h**2)"
    truth = {"a": 99.0, "b": 0.011, "c": 101.0, "d": 112.0, "e": 23.0, "f": 74.0, "g": 148.0, "h": 20.0}
    y = evaluate(read_form(form, ["x"]).node(truth), x)
    assert fit_form(form, x, y, ["x"], seed=seed).values == pytest.approx(truth, rel=1e-6)


def test_start_values_and_given_errors():
    x = np.linspace(0, 5, 20)[:, None]
    y = 3 * np.exp(-0.7 * x[:, 0]) + 0.01 * np.random.default_rng(0).standard_normal(20)
    start = {"a": 1.0, "k": 1.0}
    loose = fit_form("a*exp(-k*x)", x, y, ["x"], start=start)
    known = fit_form("a*exp(-k*x)", x, y, ["x"], start=start, error=np.full(20, 0.01), absolute=True)
    assert known.values == pytest.approx(loose.values)
    ratio = loose.constants["k"].error / known.constants["k"].error
    assert ratio == pytest.approx(loose.scatter / 0.01)
    with pytest.raises(NALMError, match="no value of k"):
        fit_form("a*exp(-k*x)", x, y, ["x"], start={"a": 1.0})


def test_the_regressor_fits_a_form_and_gives_a_verdict():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, (40, 3))
    y = 8.314 * x[:, 0] * x[:, 1] / x[:, 2] + 2
    found = NALMRegressor(form="R*n*T/V + b").fit(x, y, names=["n", "T", "V"])
    assert found.certificate_.verdict == "exact" and found.formula_ == "8.314*T*n/V + 2"
    assert found.predict(x) == pytest.approx(y)
    noisy = y * (1 + 0.02 * rng.standard_normal(40))
    found = NALMRegressor(form="log(y) = log(R*n*T/V + b)").fit(x, noisy, names=["n", "T", "V"])
    assert found.certificate_.verdict == "consistent" and "relative" in found.certificate_.tested
    (r, b) = found.equations_[0].constants
    assert r.name == "R" and b.name == "b" and r.low < 8.314 < r.high and b.low < 2 < b.high
    wrong = NALMRegressor(form="R*n/V + b").fit(x, noisy, names=["n", "T", "V"])
    assert wrong.certificate_.verdict == "none"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a*x +", "no formula"),
        ("a*b", "uses no column"),
        ("a*x.real", "not 'x.real'"),
        ("__import__('os')*x + a", "__import__"),
        ("a*floor(x)", "function"),
        ("x + a == 3", "left side"),
        ("sin(y) = a*x", "left side"),
        ("lambda: a*x", "not 'lambda"),
    ],
)
def test_what_is_no_form_is_one_sentence(text, sentence):
    with pytest.raises(NALMError, match=sentence):
        read_form(text, ["x"])


def test_every_kind_of_expression_becomes_a_law():
    x = np.array([[1.5, 2.0], [0.5, 3.0]])
    form = read_form("a*sqrt(x) + b**z - log10(x*a)/pi + abs(-z)^2 + atan(b*x)", ["x", "z"])
    value = (
        2 * np.sqrt(x[:, 0])
        + 3 ** x[:, 1]
        - np.log10(2 * x[:, 0]) / np.pi
        + x[:, 1] ** 2
        + np.arctan(3 * x[:, 0])
    )
    assert evaluate(form.node({"a": 2.0, "b": 3.0}), x) == pytest.approx(value)


def test_numbers_of_a_form_are_fixed_constants():
    x = np.linspace(0, 90, 12)[:, None]
    y = 0.0821 * (x[:, 0] + 273.15)
    found = NALMRegressor(form="k*(t + 273.15)").fit(x, y, names=["t"])
    assert [c.name for c in found.equations_[0].constants] == ["k"] and found.certificate_
    assert found.predict([[26.85]]) == pytest.approx(0.0821 * 300)


def test_a_line_through_a_few_whole_numbers_is_not_exact_to_the_printed_digits():
    x = np.arange(1.0, 9.0)[:, None]
    steps = NALMRegressor(form="a + b*x").fit(x, np.repeat([1.0, 2.0], 4), names=["x"])
    assert steps.certificate_.verdict == "none"
    x = np.linspace(1, 9, 20)[:, None].round(3)
    printed = NALMRegressor(form="a + b*x").fit(x, np.round(31.7 * x[:, 0] + 44.1, 1), names=["x"])
    assert printed.certificate_.verdict == "exact to the printed digits"


def test_a_consistent_form_says_that_it_was_given():
    rng = np.random.default_rng(0)
    x = np.linspace(1, 9, 20)[:, None]
    found = NALMRegressor(form="a*x**1.1").fit(x, 2 * x[:, 0] + rng.standard_normal(20), names=["x"])
    assert found.certificate_.verdict == "consistent"
    assert "The form was given and not compared with others." in found.certificate_.tested


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"form": 3}, "A form is a text"),
        ({"form": "a*x", "contains": ["x"]}, "leave conditions on them out"),
        ({"form": "a*x", "functions": ()}, "leave conditions on them out"),
        ({"form": "a*x", "select": 1}, "no law at place 1"),
        ({"form": "a*x", "select": "best"}, "way to select"),
    ],
)
def test_options_that_do_not_go_with_a_form_are_one_sentence(options, sentence):
    x = np.arange(1.0, 9.0)[:, None]
    with pytest.raises(NALMError, match=sentence):
        NALMRegressor(**options).fit(x, x[:, 0], names=["x"])


def test_a_given_form_is_one_attempt_of_chance():
    """A search has a hundred attempts, so that it needs more evidence."""
    rng = np.random.default_rng(1)
    x = np.linspace(1, 5, 8)[:, None]
    y = 2 * x[:, 0] + 1.1 * rng.standard_normal(8)
    rows = Observations(x, y, NoiseKind.ADDITIVE, np.ones(8))
    node = read_form("2*x", ["x"]).node({})
    problem = Problem.from_table(x, y)
    assert "as many forms were tried" in doubt_of_fit(node, 1, rows, problem)
    assert doubt_of_fit(node, 1, rows, problem, forms=1) is None


def test_a_form_counts_declared_noise_and_refuses_units():
    x = np.linspace(1, 5, 40)[:, None]
    y = 2.5 * x[:, 0] ** 2 + np.random.default_rng(0).standard_normal(40)
    share, form = 1 / np.std(y), "a*x**2"
    assert search_form(form, x, y, ["x"], noise=share).certificate.verdict == "consistent"
    large = search_form(form, x, y, ["x"], noise=share / 3).certificate
    assert large.verdict == "none" and "larger than the declared noise" in large.tested
    assert search_form(form, x, y, ["x"], noise=0).certificate.verdict == "none"
    assert search_form(form, x, 2.5 * x[:, 0] ** 2, ["x"], noise=0).certificate.verdict == "exact"
    with pytest.raises(NALMError, match=r"no units of measurement, got m, kg: leave them out"):
        search_form(form, x, y, ["x"], x_units=["m", "kg"])
    with pytest.raises(NALMError, match="got J"):
        search_form_groups(form, x, y, np.repeat(["p", "q"], 20), ["x"], y_unit="J")
