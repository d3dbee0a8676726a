"""Digits of laws as text: as many as the data resolve, in every verdict and for every law of the front."""

import re

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.law.expression import Input, Power, Sum, evaluate, numbers
from nalm.discover.selection.rounding import as_near, with_fewer_digits


def most_digits(text):
    found = re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", text)
    return max((len(f.split("e")[0].replace(".", "").strip("0")) for f in found), default=0)


def tables():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 3, (120, 2))
    yield "no law", x, np.sin(7 * x[:, 0] ** 2) + np.floor(2 * x[:, 1])
    yield "printed", np.round(x, 3), np.round(2.3456 * x[:, 0] / x[:, 1], 2)
    yield "noise", x[:20], x[:20, 0] * 1.2345 + rng.normal(0, 0.1, 20)
    yield "few rows", x[:6], x[:6, 0] ** 1.1 + rng.normal(0, 0.2, 6)
    yield "repeated", np.repeat(x[:2], 4, 0), np.repeat([1.1, 2.7], 4)


def marked():
    """Mark the tables whose search takes seconds."""
    for kind, x, y in tables():
        quick = kind in ("few rows", "repeated")
        yield pytest.param(x, y, id=kind, marks=() if quick else pytest.mark.slow)


@pytest.mark.parametrize(("x", "y"), list(marked()))
def test_no_law_has_digits_beyond_the_data(x, y):
    stages = ["additive", "power", "ratio", "polynomial"]
    found = search(x, y, max_time=5.0, stages=stages)
    texts = [*map(str, (c.law for c in found.candidates)), *found.certificate.alternatives]
    assert max(map(most_digits, texts)) <= 11, texts


def test_an_exact_law_keeps_its_digits_and_the_others_lose_them():
    x = np.random.default_rng(1).uniform(1, 3, (80, 2))
    found = search(x, 1.23456789012 * x[:, 0] / x[:, 1], noise=0.0, stages=["additive", "power"])
    assert str(found.law) == "1.23456789012*a/b"
    assert all(most_digits(str(c.law)) <= 11 for c in found.candidates[1:])


def test_digits_are_dropped_as_long_as_the_law_stays_as_near():
    x = np.linspace(1, 2, 50)[:, None]
    node = Sum((Power((Input(0),), (2.0,), 1.234567891),), (1.0,), -2 / 3)
    y = evaluate(node, x) + 1e-6 * np.sin(40 * x[:, 0])
    short = with_fewer_digits(node, as_near(node, x, y))
    assert numbers(short)[1] == -2 / 3 and 6 <= most_digits(repr(numbers(short)[-1])) < 10
