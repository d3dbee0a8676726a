"""Models rebuilt from the stored weights of a run, and their formulas."""

import functools

import torch

from nalm.config import Case
from nalm.engine.model import Network
from nalm.engine.spelling import spelled
from nalm.errors import NALMError
from nalm.networks.composite import Composite
from nalm.results.store import Arrays
from nalm.units import Unit
from nalm.units.spelling import letters


def rebuilt(case: Case, weights: Arrays) -> Network | None:
    """Rebuild the trained model; None if it has a layer that cannot be made from effective weights."""
    network = Network(case.model, case.inputs, bool(case.task.times)).eval().double()
    for i, part in enumerate(network.layers):
        if not isinstance(part, Unit):
            return None
        mine = {n.partition(".")[2]: w for n, w in weights.items() if n.partition(".")[0] == str(i)}
        if {n: tuple(w.shape) for n, w in part.weights().items()} != {n: w.shape for n, w in mine.items()}:
            raise NALMError(f"the stored weights are {', '.join(weights)}")
        given = {n: torch.from_numpy(w).double() for n, w in mine.items()}
        part.assign_(given)
        _keep(part, given)
    return network


def _keep(part: Unit, given: dict[str, torch.Tensor]) -> None:
    """Make a unit, or each part of one, use the stored weights instead of those of its raw parameters."""
    if isinstance(part, Composite):
        for name, inner in part.parts_by_name().items():
            _keep(inner, part.of(name, given))
    else:
        part.weights = functools.partial(dict, given)  # type: ignore[method-assign]


def formula_of(network: Network, case: Case, known: dict[object, str]) -> str:
    """Return the formula of a network's rounded weights; ``known`` keeps those that were spelt before."""
    sign = True if case.task.positive else None
    units = [part for part in network.parts() if isinstance(part, Unit)]
    # by name: the weights of two runs can be stored in different orders
    rounded = tuple((n, *w.flatten().tolist()) for u in units for n, w in sorted(u.rounded().items()))
    key = (case.model, case.inputs, sign, rounded)
    if key not in known:
        known[key] = spelled(network, letters(case.inputs, positive=sign))
    return known[key]
