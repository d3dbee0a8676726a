"""Units with gold weights, whose error is the threshold of Mistry 2023, section 5.8."""

import math
from collections.abc import Sequence

import torch

from nalm.config import Case
from nalm.engine.model import Network, Tensors
from nalm.errors import NALMError
from nalm.functional import FLOAT32_EPS
from nalm.units import Unit


def above(error: float) -> float:
    """Return the threshold of a gold error: float32's epsilon is added, and a run as good as that is below it."""
    return math.nextafter(error + FLOAT32_EPS, math.inf)


def is_gold(case: Case) -> bool:
    """Check whether the threshold of a case is the error of gold weights."""
    return case.threshold.kind == "gold"


@torch.no_grad()
def gold_parameters(cases: Sequence[Case], params: Tensors) -> Tensors:
    """Return the parameters (runs, ...) of a population with gold weights in the runs whose threshold is gold."""
    found = {case: dict(_gold_network(case).named_parameters()) for case in set(cases) if is_gold(case)}
    return {
        name: torch.stack([found[c][name].to(p) if c in found else p[i] for i, c in enumerate(cases)])
        for name, p in params.items()
    }


def _gold_network(case: Case) -> Network:
    network = Network(case.model, case.inputs)
    unit = network.parts()[0]
    if len(network.parts()) != 1 or not isinstance(unit, Unit) or case.operation not in unit.gold:
        raise NALMError(
            f"There are no gold weights for {case.name!r}: it needs one unit that can {case.operation}."
        )
    weights = unit.gold_weights(case.operation, case.inputs)
    unit.assign_({n: torch.tensor(v).expand_as(unit.weights()[n]) for n, v in weights.items()})
    return network
