"""Published numbers that need no training, beside what the library computes."""

import numpy as np
import pytest

from nalm.claims.computed import COMPUTED, verdict
from nalm.config import Claim
from nalm.experiments.published import claims

GOLD, PRECISION = "div by small magnitudes, gold weights", "float precision of exact op on single-module data"


@pytest.mark.parametrize("task", [task for task in COMPUTED if task != GOLD])
def test_every_published_number_of_a_computed_task_is_ours(task):
    found = [verdict(claim) for claim in claims(task)]
    assert found and {v.verdict for v in found} == {"agrees"}


def test_errors_with_gold_weights_differ_only_where_units_round_in_another_order():
    found = [verdict(claim) for claim in claims(GOLD)]
    differ = [v for v in found if v.verdict == "differs"]
    assert len(found) == 108 and len(differ) <= 13
    assert {v.claim.unit for v in differ} <= {"NMRU", "NRU"}


@pytest.mark.parametrize("unit", ["NRU", "NMRU"])
def test_the_order_of_roundings_explains_every_error_with_gold_weights(unit):
    """The published NRU rounds 1/x once. Its NMRU computes (w x + 1) - w: with w = 1, digits below those of 1 are lost.

    Ours adds 1 - w, which loses none, and its NRU computes a power, which rounds more than once.
    """
    found = [c for c in claims(GOLD) if c.unit == unit]
    for c in found:
        shape = (10_000, 1 if c.operation == "1/a from [a]" else 2)
        x = np.random.RandomState(8689336).uniform(0, float(c.where.split(",")[1].rstrip(")")), shape)
        inverse = c.operation.startswith("1/a")
        exact = (1 / x[:, 0] if inverse else x[:, 0] / x[:, 1]).astype(np.float32)
        a, b = x[:, 0].astype(np.float32), x[:, -1].astype(np.float32)
        factors = [1 / a] if inverse else [a, 1 / b]
        rounded = np.prod([(f + 1) - 1 if unit == "NMRU" else f for f in factors], axis=0)
        assert np.square(rounded - exact).mean() == pytest.approx(c.value, rel=0.02), c
    assert len(found) == 27


@pytest.mark.parametrize(
    "task, change, word",
    [
        (PRECISION, {}, "agrees"),
        (PRECISION, {"value": 1.0}, "differs"),
        ("MSE-uninformative example", {"value": 34.9}, "differs"),
        ("fSIR trajectory, true", {"value": 99.9}, "differs"),
    ],
)
def test_a_computed_number_can_differ(task, change, word):
    claim: Claim = claims(task)[0].replace(**change)
    assert verdict(claim).verdict == word
