"""The thresholds of a population's runs, among them the error of gold weights, measured as the runs are measured."""

import torch

from nalm.config import Case
from nalm.engine.gold import above, gold_parameters, is_gold
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run
from nalm.tasks.threshold import threshold


def thresholds(program: Program) -> list[float]:
    """Return the threshold of each run.

    The error of gold weights is nothing but rounding, which differs between devices and compilers. So the function
    that evaluates the runs measures it too, on their device.
    """
    gold = [is_gold(case) for case in program.cases]
    found = [0.0 if g else threshold(c, program.device) for c, g in zip(program.cases, gold, strict=True)]
    if not any(gold):
        return found
    _, errors = program.evaluate(gold_parameters(program.cases, program.params))
    return [above(e) if g else t for e, g, t in zip(errors.tolist(), gold, found, strict=True)]


def uncompiled(case: Case) -> float:
    """Return the threshold of a case on this CPU, as a run that is not compiled has it."""
    return thresholds(Program([Run(case, 0, 0)], torch.device("cpu"), compiled=False))[0]
