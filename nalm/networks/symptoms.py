"""Measurements for ``diagnose``: what the units of a network see, their gradients, and their distance to the grid."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from nalm.units.base import Trainable, Unit
from nalm.units.input_gate import InputGated
from nalm.units.reversible import Reversible

Objective = Callable[[nn.Module, Any], Tensor]

OFF_GRID = 0.1  # distance from which a weight is undecided
FIXED = 1e-4  # a gate this close to 0 or 1 hardly has a slope
SLIGHT = 1e-3  # a gradient this small beside the largest one of the unit
FLAT = 1e-4  # a gradient this small beside the loss is none
FITTED = 1e-4  # of the target's variance: a loss this small is no fault
PROBES, STRIDE = 32, 0.02  # small random steps away from a saddle, and their size beside weights of 1


@dataclass
class Seen:
    """Inputs and gradients of the units for one batch, by the names of the units."""

    inputs: dict[str, Tensor] = field(default_factory=dict)  # (rows, in)
    gradients: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    penalised: set[str] = field(default_factory=set)  # units whose penalties the objective reads
    overflown: set[str] = field(default_factory=set)  # units with finite inputs and other outputs
    loss: Callable[[], Tensor] | None = None  # the loss without gradients, if there is a target
    spread: float = 0.0  # variance of the target
    # rms error of the outputs over the spread of the target; None without a target, or with a loss of one's own
    error: float | None = None

    @classmethod
    def of(
        cls,
        model: nn.Module,
        units: Mapping[str, Trainable],
        batch: Tensor | Sequence[Tensor],
        objective: Objective | None,
    ) -> "Seen":
        """Run a batch forwards and backwards through a model, and return what was seen of its units."""
        seen = cls()
        x, y = (
            (batch, None) if isinstance(batch, Tensor) else (batch[0], batch[1] if len(batch) > 1 else None)
        )

        def squares(model: nn.Module, batch: Any) -> Tensor:
            out: Tensor = model(x)
            return (out if y is None else out - y).square().mean()

        computed = objective or squares
        with ExitStack() as stack, torch.enable_grad():
            for name, unit in units.items():
                stack.enter_context(seen._watched(name, unit))
            loss = computed(model, batch)
        for name, unit in units.items():
            seen.gradients[name] = _gradients(unit, loss)
        if y is not None:
            seen.spread = float(y.float().var()) if y.numel() > 1 else 0.0
            if objective is None and seen.spread:  # else the target may be no number, such as a class
                seen.error = float((loss.detach() / seen.spread).sqrt())
            seen.loss = lambda: computed(model, batch).detach()
        return seen

    @contextmanager
    def _watched(self, name: str, unit: Trainable) -> Iterator[None]:
        """Record the inputs of a unit, whether its outputs overflow, and whether its penalties are read."""

        def passed(module: nn.Module, args: Any, y: Tensor) -> None:
            x = args[0].detach().reshape(-1, unit.in_features)
            self.inputs[name] = torch.cat([self.inputs[name], x]) if name in self.inputs else x
            if bool(x.isfinite().all()) and not bool(y.detach().isfinite().all()):
                self.overflown.add(name)

        penalties = unit.penalties

        def read(x: Tensor | None = None) -> dict[str, Tensor]:
            self.penalised.add(name)
            return penalties(x)

        handle = unit.register_forward_hook(passed)
        unit.__dict__["penalties"] = read
        try:
            yield
        finally:
            handle.remove()
            del unit.__dict__["penalties"]


def _gradients(unit: Trainable, loss: Tensor) -> dict[str, Tensor]:
    named = {n: p for n, p in unit.named_parameters() if p.requires_grad}
    if not named or not loss.requires_grad:
        return {}
    found = torch.autograd.grad(loss, list(named.values()), retain_graph=True, allow_unused=True)
    pairs = zip(named.items(), found, strict=True)
    return {n: torch.zeros_like(p) if g is None else g.detach() for (n, p), g in pairs}


@torch.no_grad()
def projections(unit: Trainable) -> dict[str, tuple[Tensor, Tensor]]:
    """Return every parameter as it is and as it would be after projection."""
    before = {n: p.detach().clone() for n, p in unit.named_parameters()}
    unit.project()
    after = {n: p.detach().clone() for n, p in unit.named_parameters()}
    for name, p in unit.named_parameters():
        p.copy_(before[name])
    return {name: (before[name], after[name]) for name in before}


@torch.no_grad()
def farthest(unit: Unit, *, gates: bool = True) -> tuple[str, float]:
    """Return the weight that counts and is farthest from its grid, and how far; with or without the gates."""
    far = {
        name: float(distance.max())
        for name, distance in unit.off_grid().items()
        if name in unit.grids and (gates or "gate" not in name)
    }
    return max(far.items(), key=lambda item: item[1], default=("weight", 0.0))


@torch.no_grad()
def fixed_gates(unit: Unit, x: Tensor | None, gradients: Mapping[str, Tensor]) -> Iterator[tuple[str, str]]:
    """Yield the gates of a unit that are at 0 or 1 and have no gradient, each with the side."""
    largest = max((float(g.abs().max()) for g in gradients.values()), default=0.0)
    slopes = [g for n, g in gradients.items() if "gate" in n]
    if not all(bool(g.isfinite().all()) for g in slopes):
        return
    for name, gate in _opened(unit, x):
        for side, at in (("0", gate <= FIXED), ("1", gate >= 1 - FIXED)):
            moved = [g.abs() > SLIGHT * largest for g in slopes]
            still = [at & ~m if m.shape == at.shape else at & ~m.any() for m in moved]
            if still and bool(still[0].any()):
                yield name, side


def _opened(unit: Unit, x: Tensor | None) -> Iterator[tuple[str, Tensor]]:
    """Yield the gates of a unit that can get stuck, by name, as numbers between 0 and 1.

    Gates that noise moves in training are left out, since noise opens and closes them again; and those that have left
    weights out, since this is what they have settled on.
    """
    noisy = unit.noisy and not isinstance(unit, Reversible)  # whose noise is on the inputs
    if noisy or any(not bool(counts.all()) for counts in unit.counts().values()):
        return
    if isinstance(unit, InputGated):
        if x is not None:
            z = x.to(unit.gate.dtype) @ unit.gate.mT
            g = torch.sigmoid(unit.slope * (z + unit.bias if unit.gate_bias else z))
            yield "gate", torch.where((g.amin(0) > 0.5), g.amin(0), g.amax(0))  # saturated on the whole batch
        return
    for name, w in unit.weights().items():
        if "gate" in name and name in unit.grids:
            yield name, w


def saddle(unit: Trainable, seen: Seen, name: str) -> bool:
    """Return whether a unit has no slope although a small random step of its parameters lowers the loss."""
    if seen.loss is None or not seen.gradients[name]:
        return False
    with torch.no_grad():
        here = float(seen.loss())
        slope = float(torch.stack([g.float().norm() for g in seen.gradients[name].values()]).norm())
        if here <= FITTED * seen.spread or not slope <= FLAT * here:
            return False
        return _lower(unit, seen.loss, here)


def _lower(unit: Trainable, loss: Callable[[], Tensor], here: float) -> bool:
    """Return whether one of some small random steps lowers the loss by more than rounding."""
    generator = torch.Generator().manual_seed(0)
    before = [p.detach().clone() for p in unit.parameters()]
    found = False
    for _ in range(PROBES):
        for p, value in zip(unit.parameters(), before, strict=True):
            p.copy_(value + STRIDE * torch.randn(p.shape, generator=generator).to(p))
        found = found or float(loss()) < here * (1 - 1e-6)
    for p, value in zip(unit.parameters(), before, strict=True):
        p.copy_(value)
    return found
