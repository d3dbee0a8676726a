"""The formulas of a population's runs, from their rounded weights."""

import copy

import numpy as np
import torch

from nalm.engine.model import Network, Tensors
from nalm.engine.numbers.program import Program
from nalm.engine.spelling import spelled
from nalm.errors import NALMError
from nalm.units import Unit
from nalm.units.spelling import letters

LONGEST = 5_000  # parameters of a network whose formula is spelt: nobody reads longer ones


def formulas(program: Program) -> list[str]:
    """Return the formula of each run's rounded weights; equal weights are spelt once.

    Baselines, scaled inputs and sequences have none.
    """
    case = program.case
    one = Network(case.model, case.inputs, bool(case.task.times)).eval()
    units = [part for part in one.parts() if isinstance(part, Unit)]
    large = sum(p.numel() for p in one.parameters()) > LONGEST
    if len(units) < len(case.model) or case.task.scaling or case.task.times or large:
        return [""] * len(program.runs)
    weights = {name: p.cpu() for name, p in program.params.items()}
    rows = rounded(one, weights)
    spelt: dict[object, str] = {}
    texts = []
    for i, case in enumerate(program.cases):
        sign = True if case.task.positive else None
        known = sign, rows[i].tobytes()
        if known not in spelt:
            with torch.no_grad():
                for name, p in weights.items():
                    one.get_parameter(name).copy_(p[i])
            try:
                spelt[known] = spelled(one, letters(case.inputs, positive=sign))
            except NALMError:
                spelt[known] = ""  # weights that are not numbers, or a formula that is too long
        texts.append(spelt[known])
    return texts


@torch.no_grad()
def rounded(network: Network, params: Tensors) -> np.ndarray:
    """Return the rounded weights of many runs of a network of units, a row per run."""
    many = copy.deepcopy(network)
    for name, p in params.items():
        many.get_parameter(name).data = p
    found = [w for part in many.parts() if isinstance(part, Unit) for w in part.rounded().values()]
    return torch.cat([w.flatten(1) for w in found], -1).numpy()
