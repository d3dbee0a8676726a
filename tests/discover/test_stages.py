"""Every stage has a law that only it finds: without the stage the search finds none."""

import re
from pathlib import Path

import numpy as np
import pytest

from nalm.discover import STAGES, search

LAWS = {  # stage -> low, high, rows, columns, the law
    "additive": (-2, 2, 90, 40, lambda x: x[:, :20].sum(1) - x[:, 20:25].sum(1)),
    "power": (-2, 2, 600, 20, lambda x: np.prod(x[:, :8], 1) / np.prod(x[:, 8:14], 1)),
    "ratio": (1, 2, 600, 30, lambda x: x[:, :10].sum(1) / x[:, 15:25].sum(1)),
    "product": (1.1, 1.2, 1200, 30, lambda x: x[:, :12].sum(1) * x[:, 8:20].sum(1)),
    "powersum": (1, 2, 1200, 30, lambda x: x[:, 0] * x[:, 1] ** 1.5 / x[:, 2] + x[:, 4:20].sum(1)),
    "polynomial": (
        -2,
        2,
        900,
        12,
        lambda x: (x[:, :9] ** 2).sum(1) - 3 * x[:, 0] * x[:, 1] + 2 * x[:, 9] * x[:, 10],
    ),
    "scratchpad": (
        1,
        2,
        900,
        9,
        lambda x: (x[:, 0] + x[:, 1]) * (x[:, 2] + x[:, 3]) / (x[:, 4] + x[:, 5]) / (x[:, 6] + x[:, 7]),
    ),
    "deep": (-2, 2, 600, 6, lambda x: (x[:, 0] + x[:, 1] / x[:, 2]) ** 3 * (x[:, 3] - x[:, 4]) ** 3),
    "chebyshev": (
        -2,
        2,
        384,
        4,
        lambda x: sum(x[:, 0] ** k for k in range(1, 6)) + 3 * x[:, 1] ** 4 * x[:, 2:].sum(1),
    ),
    "rational": (-2, 2, 300, 1, lambda x: (x[:, 0] + 1) ** 3 / (x[:, 0] ** 2 - x[:, 0] + 1)),
    "monomials": (1, 2, 600, 4, lambda x: 3 * x[:, 0] ** 1.5 / x[:, 1] + 0.7 * x[:, 1] * x[:, 2] ** -2.5),
    "separable": (
        1,
        2,
        600,
        9,
        lambda x: np.prod(x[:, :3], 1) / ((x[:, 3:6] - 3 * x[:, 6:]) ** 2).sum(1),
    ),
    "general": (
        1,
        3,
        300,
        4,
        lambda x: (x[:, 0] * x[:, 1] + x[:, 2]) * (np.sqrt(x[:, 2] + x[:, 3]) + 2 * x[:, 0]),
    ),
    "factors": (1, 3, 300, 3, lambda x: x[:, 0] * np.sin(x[:, 1] / 2) ** 2 / np.tanh(x[:, 2])),
    "argument": (1, 2, 300, 4, lambda x: x[:, 0] * np.exp(-1.3 * x[:, 1] * x[:, 2] / x[:, 3])),
    "logarithm": (1, 9, 300, 2, lambda x: 3 * np.log(x[:, 0]) - np.log(np.expm1(1.7 * x[:, 0] / x[:, 1]))),
    "outside": (0.3, 0.4, 300, 3, lambda x: np.arccos((x[:, 0] - x[:, 1]) / (x[:, 0] + x[:, 1] * x[:, 2]))),
    "waves": (
        0.1,
        5,
        300,
        2,
        lambda x: 3.1 * np.exp(-0.37 * x[:, 0]) * np.cos(2.4 * x[:, 0] + 0.6) + x[:, 1],
    ),
    "divided": (
        1,
        3,
        600,
        9,
        lambda x: (
            np.prod(x[:, :6], 1) * (x[:, 6] + x[:, 7] + 2 * np.sqrt(x[:, 6] * x[:, 7]) * np.cos(x[:, 8]))
        ),
    ),
    "inside": (1, 3, 300, 3, lambda x: x[:, 0] + x[:, 1] + 2 * np.sqrt(x[:, 0] * x[:, 1]) * np.cos(x[:, 2])),
}

UNDER_NOISE = {"curves"}  # stages that need it: tests/discover/test_curves.py
FUNCTIONS = [  # seconds each
    name
    for name, stage in STAGES.items()
    if (stage.functions or name == "factors") and name not in UNDER_NOISE
]


def brisk(*quick):
    """Mark all stages but the quick ones as slow tests."""
    exact = [s for s in STAGES if s not in UNDER_NOISE]
    return [s if s in quick else pytest.param(s, marks=pytest.mark.slow) for s in exact]


def problem(stage):
    low, high, rows, columns, law = LAWS[stage]
    rng = np.random.default_rng(5)
    x, far = rng.uniform(low, high, (rows, columns)), rng.uniform(2 * low, 2 * high, (rows, columns))
    return x, law(x), far, law(far)


def test_every_stage_has_its_law():
    assert {*LAWS, *UNDER_NOISE} == set(STAGES)


def test_the_documentation_lists_the_stages_in_order():
    text = (Path(__file__).parents[2] / "docs" / "discovery.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == list(STAGES)


@pytest.mark.parametrize("stage", FUNCTIONS)
def test_a_stage_for_functions_finds_its_law_alone(stage):
    x, y, far, beyond = problem(stage)
    found = search(x, y, noise=0.0, stages=[stage])
    assert found.certificate.verdict == "exact"
    np.testing.assert_allclose(found.law.predict(far), beyond, rtol=1e-9, atol=1e-9 * np.abs(beyond).mean())


@pytest.mark.parametrize("stage", brisk(*STAGES.keys() - {*FUNCTIONS, "general"}))
def test_a_stage_finds_its_law(stage):
    x, y, far, beyond = problem(stage)
    found = search(x, y, noise=0.0)
    assert (found.stage, found.certificate.verdict) == (stage, "exact")
    np.testing.assert_allclose(found.law.predict(far), beyond, rtol=1e-9, atol=1e-9 * np.abs(beyond).mean())


@pytest.mark.parametrize("stage", brisk("additive", "power", "polynomial"))  # the whole ladder takes seconds
def test_without_the_stage_nothing_is_found(stage):
    x, y, _, _ = problem(stage)
    others = [s for s in STAGES if s not in (stage, "general")]  # which finds simple laws of all kinds
    found = search(x, y, noise=0.0, stages=others)
    assert found.certificate.verdict == "none"


def columns(low, high, seed=0, rows=600, n=6):
    return np.random.default_rng(seed).uniform(low, high, (rows, n))


@pytest.mark.parametrize(
    ("low", "high", "law", "expected"),
    [
        (-2, 2, lambda a, b, c, d, e, f: 3.7 * a - 2.5 * b + 1.25, "37*a/10 - 5*b/2 + 5/4"),
        (-2, 2, lambda a, b, c, d, e, f: np.pi * a**2 / b, "pi*a**2/b"),
        (1, 2, lambda a, b, c, d, e, f: 1.7 * a**0.5 * b**-1.5, "17*sqrt(a)/(10*b**(3/2))"),
        (1, 2, lambda a, b, c, d, e, f: 1.23456789 * a**1.37 / b, "1.23456789*a**1.37/b"),
        (1, 2, lambda a, b, c, d, e, f: (a + 2 * b) / (c + 0.5 * d + 3), "2*(a + 2*b)/(2*c + d + 6)"),
        (1, 2, lambda a, b, c, d, e, f: a / (1 + b), "a/(b + 1)"),
        (
            -2,
            2,
            lambda a, b, c, d, e, f: 2.2 * (a + 0.7 * b) * (c - 0.4 * d),
            "11*(a + 7*b/10)*(c - 2*d/5)/5",
        ),
        (-2, 2, lambda a, b, c, d, e, f: (a + b + 1) * (c - d + 2), "(a + b + 1)*(c - d + 2)"),
        (1, 2, lambda a, b, c, d, e, f: 0.8 + 1.3 * a * b**1.5 - c, "13*a*b**(3/2)/10 - c + 4/5"),
        (-2, 2, lambda a, b, c, d, e, f: np.sqrt(2 * a * a + b * b), "sqrt(2*a**2 + b**2)"),
        (1, 2, lambda a, b, c, d, e, f: np.sqrt(2) * a * b / (c + d), "sqrt(2)*a*b/(c + d)"),
        (1, 2, lambda a, b, c, d, e, f: (a + b) / c + d, "d + (a + b)/c"),
        (1, 5, lambda a, b, c, d, e, f: a * b * c / (d**2 + e**2), "a*b*c/(d**2 + e**2)"),
        (1, 5, lambda a, b, c, d, e, f: (a * c + b * d) / (a + b), "(a*c + b*d)/(a + b)"),
        (1, 5, lambda a, b, c, d, e, f: a + b * c + 4.905 * c**2, "a + c*(b + 4.905*c)"),
        (1, 5, lambda a, b, c, d, e, f: 1 / (1 / a + 1 / b), "a*b/(a + b)"),
    ],
)
def test_coefficients_biases_and_powers_are_found_and_recognised(low, high, law, expected):
    x = columns(low, high)
    found = search(x, law(*x.T))
    assert found.certificate.verdict == "exact"
    assert str(found.law) == expected


@pytest.mark.parametrize("low, high", [(-2, 2), (-100, 100), (-1.2, -1.1), (0, 1e-4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_division_is_found_on_any_range_and_in_either_precision(low, high, dtype):
    x = columns(low, high, n=10).astype(dtype)
    found = search(x, x[:, 3] / x[:, 7])
    assert (str(found.law), found.certificate.verdict) == ("d/h", "exact")


def test_zeros_among_the_inputs_are_no_obstacle():
    rng = np.random.default_rng(0)
    x = columns(-2, 2)
    x[rng.random(x.shape) < 0.2] = 0.0
    a, b, c = x.T[:3]
    assert str(search(x, a * b).law) == "a*b"
    assert str(search(x, a - b).law) == "a - b"
    assert str(search(x, a * b + c).law) == "a*b + c"
    assert str(search(x, a**2 * b - c).law) == "a**2*b - c"


def test_columns_that_never_change_or_repeat_are_set_aside():
    x = columns(1, 2)
    x[:, 3], x[:, 4] = 5.0, x[:, 0]
    found = search(x, x[:, 0] / x[:, 1] * x[:, 3])
    assert (str(found.law), found.certificate.verdict) == ("5*a/b", "exact")


def test_the_root_of_a_difference_is_found_whichever_side_is_larger():
    x = columns(1, 2)
    x[:, 2] += 4
    found = search(x, x[:, 0] / np.sqrt(1 - x[:, 1] ** 2 / x[:, 2] ** 2))
    assert found.certificate.verdict == "exact"
    np.testing.assert_allclose(found.law.predict([[1, 3, 5, 0, 0, 0]]), [1.25])
