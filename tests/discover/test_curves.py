"""Curves of one column under noise: growth, saturation and peaks are found on the few rows that measurements have."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.form.text import read_form
from nalm.discover.problem import Problem
from nalm.discover.selection.structure import structure
from nalm.discover.stages.curves import curves
from nalm.discover.stages.ratio import ratio

CURVES = {
    "growth": ("a/(1 + b*exp(-c*x))", (700.0, 85.0, 0.69), np.linspace(1, 15, 15)),
    "saturation": ("a*(1 - exp(-c*x))", (213.0, 0.55), np.linspace(1, 10, 12)),
    "decay to a rest": ("a + b*exp(-c*x)", (3.0, 20.0, 0.4), np.linspace(0, 12, 15)),
    "growth that slows down": ("a*exp(-b*exp(-c*x))", (720.0, 9.0, 0.45), np.linspace(1, 15, 15)),
    "peak": ("a*exp(-b*(x - c)**2)", (100.0, 0.5, 4.0), np.linspace(0, 9, 20)),
}
NAMES = ("a", "b", "c")


def drawn(name, share, seed=0):
    text, values, x = CURVES[name]
    names = [n for n in NAMES if n in text.replace("exp", "")]
    node = read_form(text, ["x"]).node(dict(zip(names, values, strict=True)))
    from nalm.discover.law.expression import evaluate

    y = evaluate(node, x[:, None])
    noise = np.random.default_rng(seed).standard_normal(len(x))
    return node, x[:, None], y + share * y.std() * noise


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_is_proposed_from_few_rows(name):
    node, x, y = drawn(name, 0.005)
    with np.errstate(all="ignore"):
        found = list(curves(Problem.from_table(x, y)))
    assert structure(node) in [structure(n) for n in found]


def test_a_growth_curve_is_the_first_choice():
    node, x, y = drawn("growth", 0.02)
    found = search(x, y, ["x"], max_time=20)
    assert found.stage == "curves" and structure(found.law.expression) == structure(node)


@pytest.mark.slow
def test_two_peaks_on_a_decay_are_found_without_their_form():
    x = np.linspace(0, 250, 250)[:, None]
    u = x[:, 0]
    y = (
        99 * np.exp(-0.0105 * u)
        + 100 * np.exp(-(((u - 67) / 23) ** 2))
        + 72 * np.exp(-(((u - 179) / 18) ** 2))
    )
    found = search(x, y + 2.5 * np.random.default_rng(0).standard_normal(250), ["x"], max_time=30)
    np.testing.assert_allclose(found.law.predict(x), y, atol=2)
    assert found.law.size < 35


def test_other_tables_are_left_to_other_stages():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, (30, 2))
    assert not list(curves(Problem.from_table(x, x[:, 0])))
    assert not list(curves(Problem.from_table(x[:, :1], x[:, 0] ** 2, noise=0.0)))


def test_a_quotient_without_a_bias_is_proposed():
    x = np.array([0.02, 0.06, 0.11, 0.22, 0.56, 1.10])[:, None]
    y = 212.7 * x[:, 0] / (x[:, 0] + 0.0641) + np.array([1.0, -2, 3, -1, 2, -3])
    wanted = structure(read_form("a*x/(x + b)", ["x"]).node({"a": 212.0, "b": 0.06}))
    assert wanted in [structure(n) for n in ratio(Problem.from_table(np.tile(x, (2, 1)), np.tile(y, 2)))]
