"""Published evaluation sets and thresholds: what a unit at gold weights leaves in float32 (thesis 5.8)."""

import pytest
import torch

from nalm.engine.gold import gold
from nalm.experiments.thesis.ch5_ablations import small
from nalm.functional import FLOAT32_EPS
from nalm.tasks.authors import evaluation
from nalm.tasks.operands import Target

PUBLISHED = {  # bmistry4/nalm-division, exp_setups.csv: the NMRU
    ("divide", 2, 1e-4): 0.032729022204875946,
    ("divide", 2, 1e-3): 8.967731992015615e-05,
    ("divide", 2, 1e-2): 5.591543867922155e-07,
    ("divide", 2, 1e-1): 1.373559825879056e-07,
    ("reciprocal", 1, 1e-4): 0.003669189754873514,
    ("reciprocal", 2, 1e-4): 0.002808001823723316,
}
CASES = {(c.operation, c.inputs, c.train.high): c for c in small() if c.model[0].unit == "NMRU"}


@pytest.mark.parametrize("key", PUBLISHED, ids=str)
def test_the_nmrus_published_thresholds_come_from_adding_one_before_taking_it_away(key):
    """(w x + 1) - w at w = 1 rounds small operands to multiples of 6e-8; w x + (1 - w) keeps them, and so do we."""
    case = CASES[key]
    x, y = evaluation([case], Target([case], [0]), "test", torch.device("cpu"))
    factors = [x[0, :, 0], 1 / x[0, :, 1]] if case.operation == "divide" else [1 / x[0, :, 0]]
    product = torch.ones(len(factors[0]))
    for factor in factors:
        product = product * ((factor + 1) - 1)
    theirs = float((product - y[0].squeeze()).square().mean()) + FLOAT32_EPS
    assert theirs == pytest.approx(PUBLISHED[key], rel=1e-5)
    assert gold(case) < theirs
