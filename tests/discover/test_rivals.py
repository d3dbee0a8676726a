"""Rivals: other forms of about the size of a law that explain the same rows as well."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.law.expression import Function, Input, Power, Sum, evaluate, used
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.selection.evidence import fit, unsettled
from nalm.discover.selection.neighbours import neighbours
from nalm.discover.selection.rivals import Neighbourhood, contains
from nalm.discover.selection.rows import Observations
from nalm.discover.selection.structure import structure

A, B, C = (Input(i) for i in range(3))
GRAVITY = Power((A, B, C), (1.0, 1.0, -2.0), 6.0)
WAVE = Sum((Function("sin", Sum((A,), (2.1,), 0.4)),), (3.0,), 5.0)
ENERGY = Power((A, Sum((Power((B,), (2.0,)), Power((C,), (2.0,))), (1.0, 0.5))), (1.0, 1.0))
AROUND = Neighbourhood(lambda node: True, lambda: None)


def fitted(node, truth, noise, low=1.0, high=5.0, rows=400):
    """Fit a law to noisy rows of a true one."""
    rng = np.random.default_rng(0)
    x = rng.uniform(low, high, (rows, 3))
    y = truth(x)
    problem = Problem.from_table(x, y + noise * y.std() * rng.standard_normal(rows))
    observed = Observations.of(problem)
    return fit(node, observed, unsettled(node, observed.x, fixed=True), "test")


@pytest.mark.parametrize("node", [GRAVITY, WAVE, ENERGY, Function("exp", Sum((A,), (-0.5,)))])
def test_neighbours_are_other_laws_of_the_same_columns(node):
    found = list(neighbours(node))
    assert len(found) == len(set(found)) > 10
    assert tidied(node) not in found
    assert all(used(other) <= used(node) for other in found)


def test_neighbours_change_exponents_functions_and_powers_of_sums():
    forms = [structure(other) for other in neighbours(ENERGY)]
    assert any(isinstance(form, Power) and -0.5 in form.exponents for form in forms)
    assert structure(Power((A, B, C), (1.0, 1.0, -1.5))) in [structure(n) for n in neighbours(GRAVITY)]
    names = {f.name for n in neighbours(WAVE) for f in _functions(n)}
    assert {"cos", "tanh", "exp"} <= names


def _functions(node):
    own = [node] if isinstance(node, Function) else []
    inner = [node.argument] if own else getattr(node, "terms", getattr(node, "factors", ()))
    return own + [f for part in inner for f in _functions(part)]


@pytest.mark.parametrize("node", [GRAVITY, WAVE])
def test_the_true_law_has_no_rivals_where_the_rows_can_tell(node):
    found = fitted(node, lambda x: evaluate(node, x), 0.05)
    assert AROUND.rivals(found) == []


def test_a_small_term_under_noise_has_rivals_and_the_truth_is_one_of_them():
    """Kinetic energy at low speed: m c^2 + m v^2/2 and m c^2/sqrt(1 - v^2/c^2)."""

    def truth(x):
        return x[:, 0] * x[:, 1] ** 2 / np.sqrt(1 - (x[:, 2] / 20 / x[:, 1]) ** 2)

    slow = Power((C,), (2.0,), 1 / 400)
    node = Power((A, Sum((Power((B,), (2.0,)), slow), (1.0, 0.5))), (1.0, 1.0))
    found = AROUND.rivals(fitted(node, truth, 0.01))
    assert any(np.allclose(law.value, truth(law.rows.x), rtol=3e-3) for law in found)


def test_another_way_to_write_a_law_is_no_rival():
    found = fitted(WAVE, lambda x: evaluate(WAVE, x), 0.05)
    shifted = Sum((Function("cos", Sum((A,), (2.1,), 0.4 - np.pi / 2)),), (3.0,), 5.0)
    other = fit(shifted, found.rows, unsettled(shifted, found.rows.x), "test")
    wrong = Sum((Function("tanh", Sum((A,), (2.1,), 0.4)),), (3.0,), 5.0)
    assert contains(other, found)
    assert not contains(fit(wrong, found.rows, unsettled(wrong, found.rows.x), "test"), found)


def test_a_better_neighbour_takes_the_place_of_a_law():
    """The square of a sine, met as the arc tangent of it."""
    square = Power((Function("sin", Sum((A,), (1.0,))),), (2.0,))
    near = Sum((Function("atan", Sum((square,), (0.5,))),), (2.12,))
    found = fitted(near, lambda x: np.sin(x[:, 0]) ** 2, 0.05)
    best = min(AROUND.climbed(found), key=lambda law: law.score)
    assert np.allclose(best.value, np.sin(best.rows.x[:, 0]) ** 2, atol=0.02)
    assert best.score < found.score - 10


def test_verdicts_of_a_search_tell_a_form_that_is_settled_from_one_that_is_not():
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 5, (120, 2))
    clear = search(x, x[:, 0] / x[:, 1] ** 2 * (1 + 0.02 * rng.standard_normal(120)), stages=["power"])
    assert clear.certificate.verdict == "consistent"
    assert clear.certificate.alternatives == ()
    distance = rng.uniform(0.5, 2, (24, 1))
    speed = 470 * distance[:, 0] + 130 * rng.standard_normal(24)
    unclear = search(distance, speed, stages=["power", "additive"])
    assert unclear.certificate.verdict == "undecided"
    assert unclear.certificate.alternatives
    assert "Other forms explain the rows as well" in unclear.certificate.tested
    assert bool(unclear.certificate)


def test_without_time_to_compare_forms_nothing_is_called_consistent(monkeypatch):
    def late(*arguments):
        raise TimeUpError

    monkeypatch.setattr(Neighbourhood, "rivals", late)
    rng = np.random.default_rng(1)
    x = rng.uniform(1, 5, (120, 2))
    found = search(x, x[:, 0] / x[:, 1] ** 2 * (1 + 0.02 * rng.standard_normal(120)), stages=["power"])
    assert found.certificate.verdict == "undecided"
    assert "no time to compare" in found.certificate.tested
