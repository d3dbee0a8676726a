"""Units of measurement: their text, what they allow, and what they do for a search in noise."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nalm
from nalm.discover import STAGES, search
from nalm.discover.dimensions.homogeneous import homogeneous, refitted, trimmed
from nalm.discover.dimensions.units import (
    BASE,
    NONE,
    balanced,
    described,
    dimension,
    halved,
    null_space,
    product,
)
from nalm.discover.law.expression import Input, Power, Sum, evaluate
from nalm.discover.problem import Problem
from nalm.formulas.parse import parse

A, B, C = Input(0), Input(1), Input(2)
MVGH = ["kg", "m/s", "m/s^2", "m"]
UNITS = [dimension(u) for u in MVGH]
ENERGY, TRUE = dimension("J"), parse("m*v**2/2 + g*h*m")
QUICK = ["power", "powersum", "deep"]  # stages enough for these laws


@pytest.mark.parametrize(
    ("text", "base"),
    [
        (None, "1"),
        ("", "1"),
        (" 1 ", "1"),
        ("m/s^2", "m/s^2"),
        ("kg*m**2", "m^2*kg"),
        ("N*m", "m^2*kg/s^2"),
        ("J/(mol*K)", "m^2*kg/s^2/K/mol"),
        ("m^0.5", "m^(1/2)"),
        ("m^(-3/2)", "1/m^(3/2)"),
        ("s^-1", "1/s"),
        ("km/h", "m/s"),
        ("100*mm", "m"),
        ("as", "s"),  # a word of Python, and an attosecond
        ("µm", "m"),
        ("min", "s"),
        ("mol", "mol"),
        ("g·cd", "kg*cd"),
        ("deg/rad", "1"),
        ("keV", "m^2*kg/s^2"),
        ("mL", "m^3"),
        ("hPa", "kg/m/s^2"),
        ("kohm*F", "s"),
        ("V*A/W", "1"),
        ("H/ohm", "s"),
        ("T*m^2/Wb", "1"),
        ("Gy/Sv", "1"),
    ],
)
def test_only_the_dimension_of_a_unit_counts(text, base):
    assert described(dimension(text)) == base
    assert dimension(base) == dimension(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("kkg", "There is no unit of measurement called 'kkg'. Did you mean 'kg'?"),
        ("furlong", "There is no unit of measurement called 'furlong'."),
        ("m+s", "Cannot read the unit 'm+s'"),
        ("m +", "Cannot read the unit 'm +'"),
        ("m/", "Cannot read the unit 'm/'"),
        ("m^s", "Cannot read the unit 'm^s'"),
        ("m^99", "powers of at most 20"),
        ("m^(1/0)", "Cannot read the unit"),
        ("f('m')", "Cannot read the unit"),
        ("-m", "Cannot read the unit"),
        ("m" * 101, "at most 100 characters, got 101 characters"),
        (3, "got 3"),
    ],
)
def test_what_is_no_unit_is_one_sentence(text, sentence):
    with pytest.raises(nalm.NALMError) as error:
        dimension(text)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


X, Y = np.random.default_rng(0).uniform(1, 3, (30, 2)), np.arange(30.0)


@pytest.mark.parametrize(
    ("x_units", "y_unit", "sentence"),
    [
        (["m", "s"], None, "y_unit is missing"),
        (None, "m", "x_units is missing"),
        (["m"], "m", "each of the 2 columns of X, got 1 units"),
        ("ms", "m", "got 'ms'"),
        (["m", "sec"], "m", "no unit of measurement called 'sec'"),
    ],
)
def test_units_that_do_not_fit_the_table_are_one_sentence(x_units, y_unit, sentence):
    with pytest.raises(nalm.NALMError) as error:
        search(X, Y, x_units=x_units, y_unit=y_unit)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


halves = st.integers(-6, 6).map(lambda n: n / 2)
dims = st.lists(st.integers(-2, 2).map(Fraction), min_size=len(BASE), max_size=len(BASE)).map(tuple)


@given(st.lists(st.tuples(dims, halves), min_size=1, max_size=5), st.floats(0.1, 9))
def test_a_product_has_the_dimension_its_exponents_say(factors, c):
    units, exponents = [d for d, _ in factors], [p for _, p in factors]
    node = Power(tuple(map(Input, range(len(units)))), tuple(exponents), c)
    wanted = product(units, exponents)
    assert homogeneous(node, units) == wanted
    assert homogeneous(Sum((node, node), (2.0, -c)), units) == wanted
    assert homogeneous(Sum((node,), (2.0,), c), units) == (wanted if wanted == NONE else None)


@given(st.lists(st.tuples(dims, halves, st.floats(-0.3, 0.3)), min_size=1, max_size=6))
def test_balanced_exponents_add_up_and_moves_keep_them_there(factors):
    units = [d for d, _, _ in factors]
    true, off = np.array([p for _, p, _ in factors]), np.array([e for _, _, e in factors])
    wanted = product(units, true.tolist())
    table = np.array(units, float).T
    for p in (balanced(true + off, units, wanted), halved(true + off, units, wanted)):
        assert np.abs(table @ p - np.array(wanted, float)).max() < 1e-12 * (1 + np.abs(p).max())
    moves = null_space(units)
    assert moves.shape[1] == len(units) - np.linalg.matrix_rank(table)
    assert not np.abs(table @ moves).max(initial=0.0) > 1e-12
    assert (balanced(true, units, wanted) == true).all()  # what adds up stays


def test_exponents_that_cannot_be_balanced_give_none():
    assert balanced(np.zeros(1), [dimension("m")], dimension("s")) is None


def test_a_candidate_loses_the_terms_of_other_dimensions():
    m, v, g, h = (Input(i) for i in range(4))
    x = np.random.default_rng(0).uniform(1, 2, (50, 4))
    kinetic, potential = Power((m, v), (1.0, 2.0)), Power((m, g, h), (1.0,) * 3)
    draft = Sum((m, kinetic, g, potential), (0.01, 0.5, -0.2, 1.0), 3.0)
    assert trimmed(draft, UNITS, ENERGY, x) == Sum((kinetic, potential), (0.5, 1.0))
    assert trimmed(Power((m, v), (1.0, 1.0)), UNITS, ENERGY, x) is None
    assert trimmed(Power((m, v), (1.02, 1.95)), UNITS, ENERGY, x) == Power((m, v), (1.0, 2.0))
    root = Power((Sum((Power((v,), (2.0,)), Power((g, h), (1.0, 1.0)), v), (1.0, 2.0, 9.0)),), (0.5,))
    kept = Sum((Power((v,), (2.0,)), Power((g, h), (1.0, 1.0))), (1.0, 2.0))
    assert trimmed(root, UNITS, dimension("m/s"), x) == Power((kept,), (0.5,))


@pytest.mark.parametrize("g", [9.81, -9.81])
def test_a_column_of_one_number_fills_in_its_dimension_without_a_change_of_value(g):
    x = np.column_stack([np.random.default_rng(0).uniform(1, 2, (50, 3)), np.full(50, g)])
    units = [dimension(u) for u in ("kg", "m", "s", "m/s^2")]
    node = trimmed(Power((A, B), (1.0, 1.0), g), units, ENERGY, x, (3,))
    assert homogeneous(node, units) == ENERGY
    np.testing.assert_allclose(evaluate(node, x), g * x[:, 0] * x[:, 1])
    assert node.coefficient == pytest.approx(1)


def test_a_fit_moves_exponents_only_where_the_dimension_stays():
    x = np.random.default_rng(0).uniform(1, 3, (80, 3))
    units = [dimension("m"), dimension("m"), dimension("s")]
    y = 2 * x[:, 0] ** 0.7 * x[:, 1] ** 0.3 * x[:, 2] ** 0.1
    start = Power((A, B, C), (0.45, 0.55, 0.0))
    node = refitted(start, units, x, y, np.ones(4, bool), lambda: None)
    assert sum(node.exponents) == pytest.approx(1, abs=1e-14)
    assert node.exponents[0] == pytest.approx(0.7, abs=0.05)
    assert homogeneous(node, units) == dimension("m")


def energy(seed, rows, level, low=1.0, high=3.0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(low, high, (rows, 4))
    m, v, g, h = x.T
    y = 0.5 * m * v**2 + m * g * h
    return x, y + level * y.std() * rng.standard_normal(rows)


def found(x, y, level, **settings):
    return search(x, y, list("mvgh"), noise=level, x_units=MVGH, y_unit="J", **settings)


@pytest.mark.parametrize("level", [0.0, 0.01, 0.05])
@pytest.mark.system
def test_energy_is_found_with_and_without_noise(level):
    f = found(*energy(0, 300, level), level, stages=QUICK)
    assert f.law.sympy().equals(TRUE)
    assert f.certificate.verdict == ("exact" if level == 0 else "consistent")
    assert all(homogeneous(c.law.expression, UNITS) == ENERGY for c in f.candidates)


@pytest.mark.system
@pytest.mark.parametrize("seed", range(3))
def test_units_find_the_terms_of_the_law_in_much_noise(seed):
    """10% noise on 60 rows: the right terms, with weights within a tenth of the true ones."""
    law = found(*energy(seed, 60, 0.1), 0.1).law
    x = np.random.default_rng(9).uniform(1, 3, (50, 4))
    assert homogeneous(law.expression, UNITS) == ENERGY
    np.testing.assert_allclose(law.predict(x), x[:, 0] * (x[:, 1] ** 2 / 2 + x[:, 2] * x[:, 3]), rtol=0.1)


def test_fitted_exponents_add_up_to_rounding():
    """On a narrow range a product of powers stands for the sum; its exponents are no halves."""
    f = found(*energy(0, 90, 0.1, 1, 1.5), 0.1, stages=["power"])
    exponents = dict(zip(f.law.expression.factors, f.law.expression.exponents, strict=True))
    p = np.array([exponents.get(Input(i), 0.0) for i in range(4)])
    assert not float(2 * p[1]).is_integer()
    assert np.abs(np.array(UNITS, float).T @ p - np.array(ENERGY, float)).max() < 1e-12


@pytest.mark.parametrize("level", [0.0, 0.02])
@pytest.mark.system
def test_a_constant_of_nature_is_a_column(level):
    x, _ = energy(0, 200, 0)
    x[:, 2] = 9.81
    m, v, g, h = x.T
    y = 0.5 * m * v**2 + m * g * h
    y = y + level * y.std() * np.random.default_rng(0).standard_normal(len(y))
    assert found(x, y, level, stages=QUICK).law.sympy().equals(TRUE)


def test_without_a_law_of_the_right_dimension_a_number_is_returned_and_said_to_be_none():
    f = search(X, X[:, 0] + X[:, 1], x_units=["m", "m"], y_unit="s")
    assert f.certificate.verdict == "none"
    assert f.certificate.tested.startswith("no law of the dimension s was found, and the law is a number")
    assert not f.law.inputs
    assert [c.stage for c in f.candidates] == ["constant"]


@pytest.mark.system
def test_a_sum_that_holds_but_adds_length_and_time_is_no_law():
    y = X[:, 0] + X[:, 1]
    assert str(search(X, y).law) == "a + b"
    assert str(search(X, y, x_units=["mm", "km"], y_unit="m").law) == "a + b"
    f = search(X, y, x_units=["m", "s"], y_unit="m")
    assert f.certificate.verdict == "none"
    assert all(homogeneous(c.law.expression, [dimension("m"), dimension("s")]) for c in f.candidates)


def test_the_first_stages_propose_only_what_has_the_right_dimension():
    x, y = energy(0, 60, 0.05)
    x = np.column_stack([x, np.linspace(1, 2, 60)])
    problem = Problem.from_table(x, y, noise=0.05, x_units=[*MVGH, "kJ"], y_unit="J")
    units = [*UNITS, ENERGY]
    for stage in ("additive", "power", "powersum"):
        drafts = list(STAGES[stage].propose(problem))
        assert drafts
        assert all(homogeneous(d, units) == ENERGY for d in drafts)
    assert not list(STAGES["power"].propose(Problem.from_table(x[:, 1:2], y, x_units=["m/s"], y_unit="J")))


def test_equal_numbers_of_different_dimensions_are_different_columns():
    x = np.repeat(X[:, :1], 2, 1)
    assert Problem.from_table(x, Y).columns == [0]
    assert Problem.from_table(x, Y, x_units=["m", "s"], y_unit="s").columns == [0, 1]
    assert str(search(x, 3 * X[:, 0], x_units=["m", "s"], y_unit="s").law) == "3*b"


def test_a_table_where_no_column_changes_has_an_answer():
    f = search(np.ones((30, 2)), Y)
    assert f.certificate.verdict == "none"
