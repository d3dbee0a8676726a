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


def test_the_published_nmru_rounds_as_the_difference_of_a_sum_and_a_weight():
    """It computes (w x + 1) - w; with w = 1 the digits of x below those of 1 are lost. Ours keeps them."""
    found = [c for c in claims(GOLD) if (c.unit, c.operation) == ("NMRU", "a/b from [a,b]")]
    for c in found:
        x = np.random.RandomState(8689336).uniform(0, float(c.where.split(",")[1].rstrip(")")), (10_000, 2))
        a, b = x.astype(np.float32).T
        rounded = ((a + 1) - 1) * ((1 / b + 1) - 1)
        error = np.square(rounded - (x[:, 0] / x[:, 1]).astype(np.float32)).mean()
        assert error == pytest.approx(c.value, rel=1e-4)
    assert len(found) == 9


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
