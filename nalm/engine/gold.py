"""The error of a unit with gold weights on the published evaluation sets (Mistry 2023, section 5.8)."""

import functools
import math

import torch

from nalm.config import Case, Recipe
from nalm.engine.model import Network
from nalm.errors import NALMError
from nalm.functional import FLOAT32_EPS
from nalm.tasks.authors import evaluation
from nalm.tasks.operands import Target
from nalm.units import Unit


def gold(case: Case) -> float:
    """Return the threshold of a case: the gold error and float32's epsilon; a run as good as that is below it."""
    return math.nextafter(gold_error(case) + FLOAT32_EPS, math.inf)


def gold_error(case: Case) -> float:
    """Return the mean squared error in float32, as a model of one unit computes it, epsilon included."""
    return _measured(case.replace(recipe=Recipe()))


@functools.lru_cache(maxsize=1024)
@torch.no_grad()
def _measured(case: Case) -> float:
    network = Network(case.model, case.inputs).eval()
    unit = network.parts()[0]
    if len(network.parts()) != 1 or not isinstance(unit, Unit) or case.operation not in unit.gold:
        raise NALMError(
            f"There are no gold weights for {case.name!r}: it needs one unit that can {case.operation}."
        )
    weights = unit.gold_weights(case.operation, case.inputs)
    unit.assign_({n: torch.tensor(v).expand_as(unit.weights()[n]) for n, v in weights.items()})
    x, y = evaluation([case], Target([case], [0]), "test", torch.device("cpu"))
    return float((unit(x[0]) - y[0]).square().mean())
