"""Conditions on the form of a law: columns, exponents and functions that are asked for."""

import numpy as np
import pytest

from nalm import NALMError
from nalm.discover import search
from nalm.discover.constraints import Constraints, functions_of
from nalm.discover.law.expression import Function, Input, Power, Sum, numbers, roles

X = np.random.default_rng(0).uniform(1, 5, (40, 3))
NOISE = np.exp(0.05 * np.random.default_rng(1).standard_normal(40))


def exponents(node):
    return [v for v, role in zip(numbers(node), roles(node), strict=True) if role == "exponent"]


def test_exponents_can_be_whole_or_half_numbers():
    half, whole = (Constraints.of(["a"], exponents=kind) for kind in ("half", "integer"))
    bent = Power((Input(0),), (1.6,))
    assert exponents(half.shaped(bent)) == [1.5] and not half.allows(bent) and half.allows(half.shaped(bent))
    assert exponents(whole.shaped(bent)) == [2.0] and not whole.allows(half.shaped(bent))
    found = search(X[:20, :1], (2.3 * X[:, 0] ** 1.6 * NOISE)[:20], stages=["power"], exponents="integer")
    listed = [p for c in found.candidates for p in exponents(c.law.expression)]
    assert listed and all(p % 1 == 0 for p in listed)


def test_columns_can_be_wanted_and_forbidden():
    y = 2.3 * X[:, 0] / X[:, 1] * NOISE
    listed = search(X[:20], y[:20], stages=["power"], contains=["c"]).candidates
    assert listed and all("c" in c.law.inputs for c in listed)
    exact = search(X, X[:, 0] * X[:, 1], stages=["power"], without=["b"], noise=0)
    assert exact.law.inputs != ["a", "b"] and exact.certificate.verdict != "exact"
    missing = search(X, X[:, 0] * X[:, 1], stages=["power"], contains=["c"], noise=0)
    assert missing.certificate.verdict == "none"


def test_functions_can_be_limited():
    only = Constraints.of(["a"], functions=["exp"])
    wave = Power((Function("sin", Input(0)), Function("exp", Input(0))), (1.0, 1.0))
    assert functions_of(wave) == {"sin", "exp"} and not only.allows(wave)
    assert only.allows(Function("exp", Input(0))) and only.allows(Input(0))
    y = 3 * np.exp(-X[:, 0])
    stages = ["additive", "power", "argument"]
    assert "exp" in str(search(X, y, stages=stages, functions=["exp"]).law)
    assert not functions_of(search(X, y, stages=stages, functions=()).law.expression)


def test_mistakes_about_conditions_are_sentences():
    for options in (
        {"contains": ["z"]},
        {"without": "a"},
        {"contains": ["a"], "without": ["a"]},
        {"exponents": "real"},
        {"functions": ["gamma"]},
        {"functions": "exp"},
    ):
        with pytest.raises(NALMError):
            search(X, X[:, 0], **options)
    constant = np.column_stack([X[:, 0], np.ones(len(X))])
    with pytest.raises(NALMError, match="Column g is constant or repeats another"):
        search(constant, X[:, 0], ["a", "g"], contains=["g"])


def test_the_root_of_a_root_is_no_half_exponent():
    root = Power((Input(0),), (0.5,))
    half = Constraints.of(["a"], exponents="half")
    assert half.allows(root) and not half.allows(Power((root,), (0.5,), 3.0))
    assert half.allows(Power((Sum((root,), (1.0,), 1.0),), (0.5,)))  # a root of a sum with a root
