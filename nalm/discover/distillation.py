"""Read a law out of a trained part of a network and put it back as a layer of units: ``distil``."""

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nalm.discover.arguments import FEWEST_ROWS
from nalm.discover.certificate import Certificate, certify, certify_noisy
from nalm.discover.fit.description_length import is_nice
from nalm.discover.fit.least_squares import refined
from nalm.discover.ladder import search
from nalm.discover.law import Law
from nalm.discover.law.expression import Array, numbers, roles
from nalm.discover.law.names import check_names
from nalm.discover.law.network import LawNetwork, Outputs
from nalm.discover.problem import Problem
from nalm.errors import NALMError

FRESH = 1 / 3  # share of the inputs that is kept for the test, if none are given
NOISE = 0.05
LEAST = 0.01  # seconds of a search, even if the time is over: it then returns a simple fit
SIMPLE = (
    "additive",
    "power",
    "ratio",
    "product",
    "powersum",
    "polynomial",
)  # laws that a bottleneck may have

Activations = tuple[Array, Array]  # activations: inputs of a part (rows, in) and one of its outputs (rows,)


@dataclass(frozen=True)
class Distilled:
    """A network with a law in the place of a trained part.

    ``laws`` and ``certificates`` belong to the outputs of the part; the certificates were tested on activations that
    the search did not see, where the laws err by ``error``, over the spread of each output. ``before`` and ``after``
    are the errors of the two networks on the rows ``far``, over the size of their targets; None without such rows.
    """

    network: nn.Module
    layer: nn.Module
    laws: tuple[Law, ...]
    certificates: tuple[Certificate, ...]
    error: tuple[float, ...]
    before: float | None
    after: float | None

    def __repr__(self) -> str:
        lines = []
        for i, (law, certificate, error) in enumerate(
            zip(self.laws, self.certificates, self.error, strict=True)
        ):
            lines += [f"output {i}: {law}", f"  {certificate}", f"  error on fresh activations: {error:.2g}"]
        if self.before is not None and self.after is not None:
            lines.append(
                f"far outside the network errs by {self.before:.2g} before and {self.after:.2g} after"
            )
        return "\n".join(lines)


def distil(
    network: nn.Module,
    part: str | nn.Module,
    inputs: Tensor,
    *,
    fresh: Tensor | None = None,
    far: tuple[Tensor, Tensor] | None = None,
    names: Sequence[str] | None = None,
    noise: float = NOISE,
    max_time: float | None = None,
) -> Distilled:
    """Find the law of a trained part of a network, test it on fresh activations, and put it back as units.

    ``part`` is a module inside the network, or its name; it takes one tensor and returns one. The law of each of its
    outputs is searched (``nalm.search``) among its activations on ``inputs``, and certified on those of ``fresh``
    inputs, by default a third of ``inputs``. A part that is a law to rounding gets the verdict exact. Else a law is
    looked for that holds within ``noise``, over the spread of the output: activations are blurred by noise of this
    size, so that the errors of a trained perceptron, which are no noise, do not show. Choose it several times as large
    as they are. ``far=(x, y)`` are rows outside the training range, on which both networks are compared. ``max_time``
    is the time of the whole call in seconds: each output gets an equal part of what is left of it. The network itself
    stays as it is.

    >>> core = nn.Sequential(nn.Linear(2, 1))
    >>> _ = core[0].weight.data.copy_(torch.tensor([[2.0, -0.5]])), core[0].bias.data.zero_()
    >>> found = distil(core, "0", torch.rand(90, 2, generator=torch.Generator().manual_seed(0)))
    >>> print(found.laws[0], found.certificates[0].verdict)
    2*a - b/2 exact
    """
    began = time.monotonic()
    if max_time is not None and not max_time > 0:
        raise NALMError(f"max_time is a number of seconds above 0, or None, got {max_time!r}.")
    name, place = _place(network, part)
    seen, unseen = _split(inputs) if fresh is None else (inputs, fresh)
    (x, y), (fresh_x, fresh_y) = (_activations(network, place, rows) for rows in (seen, unseen))
    for rows in (x, fresh_x):
        if len(rows) < FEWEST_ROWS:
            raise NALMError(
                f"A law needs at least {FEWEST_ROWS} activations to be seen and tested, got {len(rows)}."
            )
    columns = check_names(names, x.shape[1])
    found, outputs = list[tuple[Law, Certificate]](), y.shape[1]
    for i in range(outputs):
        left = None if max_time is None else began + max_time - time.monotonic()
        share = None if left is None else max(left / (outputs - i), LEAST)
        found.append(_read((x, y[:, i]), (fresh_x, fresh_y[:, i]), columns, noise, share))
    layer = _layer([law for law, _ in found], network)
    other = copy.deepcopy(network)
    if name:
        owner, _, leaf = name.rpartition(".")
        setattr(other.get_submodule(owner), leaf, layer)
    else:
        other = layer
    off = np.stack([law.predict(fresh_x) for law, _ in found], 1) - fresh_y
    spread = np.where(fresh_y.std(0) > 0, fresh_y.std(0), 1.0)
    return Distilled(
        network=other,
        layer=layer,
        laws=tuple(law for law, _ in found),
        certificates=tuple(certificate for _, certificate in found),
        error=tuple((np.sqrt(np.mean(off**2, 0)) / spread).tolist()),
        before=None if far is None else _error(network, *far),
        after=None if far is None else _error(other, *far),
    )


def _read(
    seen: Activations, fresh: Activations, names: tuple[str, ...], noise: float, max_time: float | None
) -> tuple[Law, Certificate]:
    """Return the law of one output and its certificate: exact if there is one, else within the noise.

    The search for an exact law gets half of the time at most.
    """
    began = time.monotonic()
    half = None if max_time is None else max_time / 2
    found = search(*seen, names, noise=0.0, stages=SIMPLE, max_time=half)
    if certificate := _tested(found.law, names, seen, fresh, 0.0):
        return found.law, certificate
    rng = np.random.default_rng(0)
    dithered = [(x, y + noise * y.std() * rng.standard_normal(len(y))) for x, y in (seen, fresh)]
    left = None if max_time is None else max(began + max_time - time.monotonic(), LEAST)
    law = search(*dithered[0], names, noise=noise, stages=SIMPLE, max_time=left).law
    node = law.expression
    free = np.array([not is_nice(v, r) for v, r in zip(numbers(node), roles(node), strict=True)], bool)
    with np.errstate(all="ignore"):
        node, _ = refined(node, *seen, np.ones(len(seen[1])), free=free)
    return Law(node, names), _tested(Law(node, names), names, dithered[0], dithered[1], noise)


def _tested(
    law: Law, names: Sequence[str], seen: Activations, fresh: Activations, noise: float
) -> Certificate:
    """Test a law on fresh activations: to rounding, or within the noise."""
    problem = Problem.from_table(*seen, noise=noise)
    problem.held_x, problem.held_y = fresh
    with np.errstate(all="ignore"):
        return (certify_noisy if noise else certify)(law.expression, problem, names)


def _place(network: nn.Module, part: str | nn.Module) -> tuple[str, nn.Module]:
    """Return the name of a part inside a network, and the part."""
    modules = dict(network.named_modules())
    if isinstance(part, str):
        if part not in modules:
            raise NALMError(
                f"The network has no part {part!r}. It has: {', '.join(n for n in modules if n)}."
            )
        return part, modules[part]
    for name, module in modules.items():
        if module is part:
            return name, module
    raise NALMError(f"{type(part).__name__} is no part of the network: name it as named_modules() does.")


def _split(inputs: Tensor) -> tuple[Tensor, Tensor]:
    cut = len(inputs) - int(FRESH * len(inputs))
    return inputs[:cut], inputs[cut:]


@torch.no_grad()
def _activations(network: nn.Module, part: nn.Module, inputs: Tensor) -> tuple[Array, Array]:
    """Return what a part takes and returns when the network computes, as rows of numbers."""
    kept: list[tuple[Tensor, Tensor]] = []

    def keep(module: nn.Module, taken: tuple[object, ...], given: object) -> None:
        if len(taken) != 1 or not isinstance(taken[0], Tensor) or not isinstance(given, Tensor):
            raise NALMError(f"{type(module).__name__} must take one tensor and return one to have a law.")
        kept.append((taken[0], given))

    handle, training = part.register_forward_hook(keep), network.training
    try:
        network.eval()(inputs)
    finally:
        handle.remove()
        network.train(training)
    if not kept:
        raise NALMError(
            f"{type(part).__name__} computes nothing when the network computes: choose another part."
        )
    x, y = (torch.cat([pair[i].flatten(0, -2) for pair in kept]).double().cpu().numpy() for i in (0, 1))
    return x, y


def _layer(laws: Sequence[Law], network: nn.Module) -> nn.Module:
    """Return the laws as units, on the device and in the precision of the network."""
    first = next(network.parameters(), torch.empty(0))
    made = [LawNetwork(law, dtype=first.dtype) for law in laws]
    layer: nn.Module = made[0] if len(made) == 1 else Outputs(made)
    return layer.to(first.device).eval()


@torch.no_grad()
def _error(network: nn.Module, x: Tensor, y: Tensor) -> float:
    """Return the rms error of a network on rows over the rms of their targets."""
    training = network.training
    prediction = network.eval()(x)
    network.train(training)
    return float((prediction.reshape(y.shape) - y).square().mean().sqrt() / y.square().mean().sqrt())
