"""Published evaluation sets and thresholds: what a unit at gold weights leaves in float32 (thesis 5.8)."""

import pytest
import torch

from nalm.config import Threshold
from nalm.engine.gold import gold_parameters
from nalm.engine.numbers.program import Program
from nalm.engine.numbers.thresholds import thresholds, uncompiled
from nalm.engine.numbers.training import NumberTrainer
from nalm.engine.plan import Run
from nalm.experiments.thesis.ch5_ablations import small
from nalm.functional import FLOAT32_EPS
from nalm.tasks.authors import evaluation
from nalm.tasks.operands import Target
from nalm.tasks.threshold import METRICS

PUBLISHED = {  # bmistry4/nalm-division, exp_setups.csv: the NMRU
    ("divide", 2, 1e-4): 0.032729022204875946,
    ("divide", 2, 1e-3): 8.967731992015615e-05,
    ("divide", 2, 1e-2): 5.591543867922155e-07,
    ("divide", 2, 1e-1): 1.373559825879056e-07,
    ("reciprocal", 1, 1e-4): 0.003669189754873514,
    ("reciprocal", 2, 1e-4): 0.002808001823723316,
}
every_unit = pytest.mark.parametrize("unit", ["ModifiedRealNPU", "NRU", "NMRU"])
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
    assert uncompiled(case) < theirs


def at_gold_weights(unit: str, compiled: bool) -> NumberTrainer:
    """A population on 1/a from a, evaluated once, with the weights that its runs end at in chapter 5.8."""
    cases = [c for c in small() if c.model[0].unit == unit and c.inputs == 1]
    training = NumberTrainer([Run(c, 0, 0) for c in cases], torch.device("cpu"), compiled=compiled)
    part = training.program.network.parts()[0]
    for name, value in part.gold_weights("reciprocal", 1).items():
        part.assign_({name: torch.tensor(value).expand_as(part.weights()[name])})
    for name, p in training.program.network.named_parameters():
        training.program.params[name].copy_(p.detach().expand_as(training.program.params[name]))
    training._record()
    return training


@every_unit
def test_gold_weights_are_solved_however_the_evaluation_rounds(unit, monkeypatch):
    exact = METRICS["mse"]
    monkeypatch.setitem(METRICS, "mse", lambda prediction, y: exact(prediction * (1 + 1e-6), y))
    assert at_gold_weights(unit, compiled=False).solved_now().all()


@every_unit
@pytest.mark.slow
def test_gold_weights_are_solved_in_a_compiled_evaluation(unit, monkeypatch):
    monkeypatch.setattr("nalm.engine.numbers.evaluation.WORTH_COMPILING", 0)
    training = at_gold_weights(unit, compiled=True)
    assert training.solved_now().all() and training.program.compiler.proven


def test_only_runs_with_a_gold_threshold_are_given_gold_weights():
    gold = CASES["divide", 2, 1e-1]
    fixed = gold.replace(threshold=Threshold("fixed", value=1e-5))
    program = Program([Run(gold, 0, 0), Run(fixed, 1, 0)], torch.device("cpu"), compiled=False)
    found = gold_parameters(program.cases, program.params)["layers.0.weight"]
    assert found.flatten(1).tolist()[0] == [1, 0, 0, 1]
    assert torch.equal(found[1], program.params["layers.0.weight"][1])
    assert thresholds(program) == [uncompiled(gold), 1e-5]
