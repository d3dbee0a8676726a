"""Functions in laws: values, slopes, bounds, forms, files, networks, dimensions, and what the data cannot tell."""

import json

import numpy as np
import pytest
import sympy
import torch

from nalm.discover import Law, search
from nalm.discover.certificate import certify
from nalm.discover.certificate.support import nearest, support
from nalm.discover.dimensions.homogeneous import homogeneous, trimmed
from nalm.discover.dimensions.units import NONE, dimension
from nalm.discover.fit.least_squares import tangent
from nalm.discover.form.text import read_form
from nalm.discover.law.expression import Function, Input, Power, Sum, bounded, evaluate, numbers, renumbered
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.json import law_of, node_of, plain_law, plain_node
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem
from nalm.discover.selection.structure import structure
from nalm.errors import NALMError

A, B = Input(0), Input(1)
NAMES = ("a", "b")
ALL = sorted(FUNCTIONS)


def law_with(name):
    """A law with the function inside a sum, and numbers inside and outside of it."""
    return Sum((Function(name, Sum((A, B), (0.3, -0.1), 0.35)), B), (1.7, 0.5), 0.25)


@pytest.fixture
def x():
    return np.random.default_rng(0).uniform(0.5, 1.5, (80, 2))


@pytest.mark.parametrize("name", ALL)
def test_every_form_of_a_law_has_the_value_of_its_function(name, x):
    law = Law(law_with(name), NAMES)
    y = law.predict(x)
    assert np.isfinite(y).all()
    a, b = x.T
    np.testing.assert_allclose(eval(law.python(), {"np": np, "a": a, "b": b}), y, rtol=1e-13, atol=1e-14)
    spelled = sympy.lambdify([sympy.Symbol(n) for n in NAMES], law.sympy(), "numpy")
    np.testing.assert_allclose(spelled(a, b), y, rtol=1e-13, atol=1e-14)
    assert law.latex() != Law(Sum((B,), (0.5,), 0.25), NAMES).latex()
    assert law_of(json.loads(json.dumps(plain_law(law)))) == law
    for dtype in (torch.float32, torch.float64):
        network = law.to_module(dtype)
        rows = torch.from_numpy(x).to(dtype)
        _, bound = bounded(law.expression, rows.double().numpy(), torch.finfo(dtype).eps / 2)
        assert (np.abs(network(rows)[:, 0].detach().double().numpy() - y) <= 16 * bound).all()
        assert network.law().python() == Law(tidied(law.expression), NAMES).python()


@pytest.mark.parametrize("name", ALL)
def test_slopes_are_those_of_finite_differences(name, x):
    law = law_with(name)
    values = np.array(numbers(law))
    _, slopes = tangent(law, x)
    for i in range(len(values)):
        step = np.eye(len(values))[i] * 1e-6
        high, low = (evaluate(renumbered(law, values + s), x) for s in (step, -step))
        np.testing.assert_allclose(slopes[:, i], (high - low) / 2e-6, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_the_bound_covers_float32(name, x):
    law = law_with(name)
    rows = x.astype(np.float32)
    exact, bound = bounded(law, rows.astype(np.float64), 2.0**-24)
    inner = np.float32(0.3) * rows[:, 0] - np.float32(0.1) * rows[:, 1] + np.float32(0.35)
    rounded = np.float32(1.7) * FUNCTIONS[name].value(inner) + np.float32(0.5) * rows[:, 1] + np.float32(0.25)
    assert (np.abs(rounded - exact) <= 2 * bound).all()


def test_the_bound_is_finite_where_a_slope_is_not():
    _, bound = bounded(Function("asin", A), np.array([[1.0]]), 2.0**-53)
    assert 1e-9 < bound[0] < 1e-7


@pytest.mark.parametrize("name", ALL)
def test_tidying_moves_signs_and_keeps_values(name, x):
    for inner in (Sum((A, B), (-0.5, -0.25)), Power((A, B), (1.0, -1.0), -0.5), Sum((A,), (-0.5,))):
        node = Power((Function(name, inner), B), (1.0, 1.0), 2.0)
        tidy = tidied(node)
        np.testing.assert_allclose(evaluate(tidy, x), evaluate(node, x), rtol=1e-13)
        if FUNCTIONS[name].parity:
            assert all(
                n >= 0 for f in tidy.factors if isinstance(f, Function) for n in numbers(f.argument)[:1]
            )


@pytest.mark.parametrize(
    "value",
    [
        ["function", "eval", ["input", 0]],
        ["function", "__import__", ["input", 0]],
        ["function", "sin"],
        ["function", ["sin"], ["input", 0]],
        ["function", "sin", ["input", 2]],
        ["function", "sin", ["input", 0], ["input", 1]],
    ],
)
def test_a_file_with_an_unknown_function_is_refused(value):
    with pytest.raises(NALMError, match="no part of a law"):
        node_of(value, 2)


def test_a_deep_function_is_refused():
    value = plain_node(A)
    for _ in range(60):
        value = ["function", "sin", value]
    with pytest.raises(NALMError, match="at most"):
        node_of(value, 1)


def test_a_tower_of_exponentials_is_printed_and_not_computed_digit_by_digit():
    tower = Sum((), (), 1e9)
    for _ in range(5):
        tower = Function("exp", tower)
    assert str(Law(Sum((A, tower), (1.0, 1.0)), NAMES)) == "a + oo"
    assert str(Law(Function("log", Sum((), (), -1.0)), NAMES)) == "nan"


def test_support_says_undefined_where_a_logarithm_is_and_singular_near_its_pole():
    law = Law(Sum((Function("log", A), Function("tan", B)), (1.0, 1.0)), NAMES)
    seen = nearest(law, np.array([[1.0, 0.1], [2.0, 1.0]]))
    rows = np.array([[1.5, 0.5], [-1.0, 0.5], [1e-9, 0.5], [1.5, np.pi / 2 - 1e-6]])
    words = support(law, {"a": (1.0, 2.0), "b": (0.1, 1.0)}, seen, rows)
    assert words.tolist() == ["inside", "undefined", "singular", "singular"]
    assert support(Law(Function("asin", A), ("a",)), {}, [], np.array([[1.5]])).tolist() == ["undefined"]


def test_the_argument_of_a_function_has_no_dimension():
    units = [dimension("m"), dimension("m")]
    assert homogeneous(Function("sin", Power((A, B), (1.0, -1.0))), units) == NONE
    assert homogeneous(Function("sin", A), units) is None
    assert homogeneous(Function("abs", A), units) == units[0]
    candidate = Function("exp", Power((A, B), (1.0, -0.97), 2.0))
    assert homogeneous(trimmed(candidate, units, NONE, np.ones((3, 2))), units) == NONE
    assert trimmed(Function("exp", A), units, NONE, np.ones((3, 2))) is None


def test_a_search_with_units_finds_an_argument_without_dimension():
    x = np.random.default_rng(0).uniform(1, 3, (200, 6))
    n, m, g, h, k, t = x.T
    units = ["1/m^3", "kg", "m/s^2", "m", "J/K", "K"]
    names = ["n", "m", "g", "h", "k", "T"]
    y = n * np.exp(-m * g * h / (k * t))
    found = search(x, y, names, noise=0.0, stages=["argument"], x_units=units, y_unit="1/m^3")
    assert (str(found.law), found.certificate.verdict) == ("n*exp(-g*h*m/(T*k))", "exact")


@pytest.mark.parametrize(
    ("law", "stage"),
    [
        (lambda a, b: a * np.sin(b) ** 2, "factors"),
        (lambda a, b: a * np.exp(-0.8 * b) + 1, "waves"),
        (lambda a, b: a * np.tanh(0.4 * a * b), "argument"),
    ],
)
@pytest.mark.system
def test_functions_are_fitted_in_one_per_cent_noise(law, stage):
    rng = np.random.default_rng(1)
    x, fresh = rng.uniform(1, 3, (400, 2)), rng.uniform(1, 3, (400, 2))
    y = law(*x.T)
    found = search(x, y + 0.01 * y.std() * rng.standard_normal(400), noise=0.01, stages=[stage])
    assert found.certificate.verdict == "consistent"
    assert np.abs(found.law.predict(fresh) - law(*fresh.T)).max() < 0.03 * y.std()


def certified(node, x):
    """Return whether a law is called exact on its own values."""
    problem = Problem.from_table(x, evaluate(node, x), noise=0.0)
    return certify(node, problem).verdict == "exact"


def test_functions_are_certified_where_the_data_shows_them():
    rng = np.random.default_rng(1)
    wide = rng.uniform(0.2, 3, (300, 2))
    assert all(
        certified(Power((Function(name, A), B), (1.0, 1.0)), wide / 3.5) for name in set(ALL) - {"abs"}
    )
    assert certified(Function("abs", A), rng.uniform(-1, 1, (300, 2)))
    assert not certified(Function("abs", A), wide)  # it is a


def test_functions_that_look_alike_on_the_data_are_not_certified():
    narrow = np.random.default_rng(2).uniform(1e-5, 1e-4, (300, 2))
    assert not any(certified(Function(name, A), narrow) for name in ("tanh", "atan", "sinh", "sin"))


@pytest.mark.parametrize(("frequency", "told"), [(2.0, False), (0.1, True), (0.1 + 2 * np.pi, False)])
def test_a_frequency_beyond_an_even_spacing_is_not_certified(frequency, told):
    x = np.arange(300.0)[:, None] % 97
    assert certified(Function("sin", Sum((A,), (frequency,))), x) == told


def test_the_logarithm_of_an_exponential_has_a_value_and_slopes_where_the_exponential_overflows():
    node = Function("log", Sum((Function("exp", Power((Input(0),), (1.0,), 2.0)),), (3.0,), -1.0))
    x = np.array([[0.5], [20.0], [900.0]])
    safe = 2 * x[:, 0] + np.log(3 - np.exp(-2 * x[:, 0]))
    np.testing.assert_allclose(evaluate(node, x), safe, rtol=1e-14)
    value, error = bounded(node, x, 2.0**-53)
    assert (np.abs(value - safe) <= error).all()
    values, (_, slopes) = np.array(numbers(node)), tangent(node, x)
    for i, h in enumerate(1e-6 * values):
        step = np.where(np.arange(len(values)) == i, h, 0.0)
        up, down = (evaluate(renumbered(node, values + sign * step), x) for sign in (1, -1))
        np.testing.assert_allclose(slopes[:, i], (up - down) / (2 * h), rtol=1e-5, atol=1e-7)


def test_the_black_body_law_is_found_in_logarithms_that_no_float_has_an_exponential_of():
    rng = np.random.default_rng(0)
    nu, kelvin = 10 ** rng.uniform(9, 16, 100), rng.uniform(100, 1000, 100)
    u = 4.8e-11 * nu / kelvin
    y = 3 * np.log(nu) - u - np.log(-np.expm1(-u)) - 114.8 + 0.1 * rng.standard_normal(100)
    assert y.min() < -745
    found = search(np.stack([nu, kelvin], 1), y, ["nu", "T"], stages=["additive", "power", "logarithm"])
    assert structure(found.law.expression) == structure(
        read_form("a + 3*log(nu) - log(exp(b*nu/T) - 1)", ["nu", "T"]).node({"a": 1.5, "b": 2.7})
    )
    assert found.certificate.verdict != "none"
