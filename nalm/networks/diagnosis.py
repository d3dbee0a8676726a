"""Find out why units inside a network do not train: ``diagnose`` looks at the network and one batch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from nalm.errors import NALMError
from nalm.networks.attachment import attachment_of
from nalm.networks.inside import some_units_in
from nalm.networks.symptoms import OFF_GRID, Objective, Seen, farthest, fixed_gates, projections, saddle
from nalm.units.base import Trainable, Unit

DECIDED = 0.01  # distance to the grid within which a weight is decided
RIGHT = 1e-4  # error over the spread of the targets that layers which imitate a product do not reach
WRONG = 0.05  # error over the spread of the targets from which on outputs are wrong

Said = Iterator[tuple[str, str]]  # what was seen, and what to do about it


@dataclass(frozen=True)
class Fault:
    """One fault: its name, the unit that has it, what was seen, and what to do about it."""

    name: str
    unit: str
    sentence: str
    remedy: str

    def __str__(self) -> str:
        where = f"Unit {self.unit!r}" if self.unit else "The unit"
        return f"{self.name}: {where} {self.sentence} {self.remedy}"


def diagnose(
    model: nn.Module, batch: Tensor | Sequence[Tensor], *, objective: Objective | None = None
) -> list[Fault]:
    """Return the faults of the units inside a model, each with its remedy; an empty list if none is found.

    ``batch`` is the input, or (input, target); the last is needed to find a saddle and wrong outputs.
    ``objective(model, batch)`` is your loss with everything that you add to it: it is only needed if you add penalties
    yourself instead of calling ``nalm.attach``. Parameters, gradients and buffers of the model are left as they were.

    ========== ==================================================================================
    domain     inputs outside those for which the unit can be right, such as negative ones for a NAC•
    input      an input that is 0 on the whole batch, such as that of a ReLU that has died
    penalty    nothing applies a penalty of the unit, or its weight stays 0 for the whole training
    bounds     weights outside their bounds: projection is missing
    grid       weights off their grid at the end of the training, or in evaluation
    gate       a gate is fixed at 0 or 1 while the weights behind it are undecided
    gradient   a gradient or an output is not finite
    saddle     no slope, although a small step in some direction lowers the loss
    factor     a product behind free layers has one factor or none: these layers have taken over the others
    output     the units are on their grid, and the outputs are wrong: it is the layers around them
    ========== ==================================================================================

    >>> import torch
    >>> from nalm.units import NMU
    >>> unit = NMU(2, 1, generator=torch.Generator().manual_seed(0))
    >>> print(*diagnose(unit, torch.rand(8, 2)))
    penalty: The unit has the penalty 'weight', which nothing applies. Call nalm.attach(model, optimiser, steps=...).
    """
    units = some_units_in(model)
    for name, unit in units.items():
        if unit.runs:
            raise NALMError(
                f"Unit {name!r} is a population of {tuple(unit.runs)} runs: take nalm.member(model, 0)."
            )
    buffers = {name: b.clone() for name, b in model.named_buffers()}
    seen = Seen.of(model, units, batch, objective)
    found: list[Fault] = []
    for name, unit in units.items():
        for look in (_domain, _input, _penalty, _bounds, _grid, _gate, _gradient, _saddle):
            found += [Fault(look.__name__[1:], name, *said) for said in look(name, unit, seen)]
    mine = sum(len(list(unit.parameters())) for unit in units.values())
    if len(list(model.parameters())) > mine:  # there are layers around the units
        for name, unit in units.items():
            found += [Fault("factor", name, *said) for said in _factor(name, unit, seen)]
        found += _output(units, seen)
    for name, b in model.named_buffers():
        b.copy_(buffers[name])
    return found


def _factor(name: str, unit: Trainable, seen: Seen) -> Said:
    """Find a product of one input or none; where an input is 0 on all rows, ``_input`` has said so."""
    if (
        not isinstance(unit, Unit)
        or "multiply" not in unit.gold
        or "add" in unit.gold
        or unit.in_features < 2
    ):
        return
    if not _is_over(unit) or farthest(unit)[1] > OFF_GRID or (seen.error is not None and seen.error < RIGHT):
        return
    x = seen.inputs.get(name)
    if x is None or bool((x == 0).all(0).any()):
        return
    for k, formula in enumerate(unit.formulas()):
        if len(formula.free_symbols) < 2:
            which = "the product" if unit.out_features == 1 else f"output {k}"
            yield (
                f"({unit.label}) ended with {which} = {formula}: the layers before it have taken over other factors.",
                "Start again with its weights at 1, which keeps all factors: torch.nn.init.ones_(unit.weight); or from "
                "another seed.",
            )


def _output(units: Mapping[str, Trainable], seen: Seen) -> list[Fault]:
    """Find outputs that are wrong although every unit is decided."""
    decided = all(isinstance(u, Unit) and _is_over(u) and farthest(u)[1] < DECIDED for u in units.values())
    if not decided or seen.error is None or not seen.error > WRONG:
        return []
    name, unit = list(units.items())[-1]
    said = f"({unit.label}) is on its grid, but the outputs err by {seen.error:.2g} of the spread of the targets."
    remedy = (
        "Look at the layers around it: replace a part by the law that it follows (nalm.distil), use layers that are "
        "linear, or try another seed."
    )
    return [Fault("output", name, said, remedy)]


def _is_over(unit: Unit) -> bool:
    """Return whether the training of a unit is over: its steps are done, or it is in evaluation."""
    attachment = attachment_of(unit)
    return not unit.training or (
        attachment is not None and attachment.step >= attachment.recipe_of(unit).steps
    )


def _domain(name: str, unit: Trainable, seen: Seen) -> Said:
    x = seen.inputs.get(name)
    if x is None or not isinstance(unit, Unit) or not x.numel():
        return
    low, high = float(x.min()), float(x.max())
    if unit.domain == "positive" and low < 0:
        why = "is not a number for them" if unit.accepts == "positive" else "loses their sign"
        yield (
            f"({unit.label}) gets negative inputs, down to {low:.3g}, and {why}.",
            "Use a unit for numbers of both signs (NMU, NRU, RealNPU), or pass magnitudes.",
        )
    if unit.domain == "boolean" and (low < 0 or high > 1):
        yield (
            f"({unit.label}) gets inputs from {low:.3g} to {high:.3g}, and computes with truth values between 0 and 1.",
            "Put a comparison (NSR) or a sigmoid before it.",
        )


def _input(name: str, unit: Trainable, seen: Seen) -> Said:
    x = seen.inputs.get(name)
    if x is None or len(x) < 2 or not isinstance(unit, Unit):
        return
    empty = [str(k) for k, largest in enumerate(x.abs().amax(0).tolist()) if largest == 0]
    if empty:
        which = f"input {empty[0]}" if len(empty) == 1 else f"inputs {', '.join(empty)}"
        yield (
            f"({unit.label}) gets {which} as 0 on the whole batch of {len(x)} rows.",
            "If a ReLU before it has died, start again from another seed, or leave the ReLU out.",
        )


def _penalty(name: str, unit: Trainable, seen: Seen) -> Said:
    have = sorted(unit.penalties())
    if not have or (isinstance(unit, Unit) and unit.is_solved()) or name in seen.penalised:
        return
    attachment = attachment_of(unit)
    if attachment is None:
        names = " and ".join(map(repr, have))
        yield (
            f"has the penalt{'ies' if len(have) > 1 else 'y'} {names}, which nothing applies.",
            "Call nalm.attach(model, optimiser, steps=...).",
        )
        return
    recipe = attachment.recipe_of(unit)
    for penalty, ramp in recipe.penalties:
        if ramp.start >= recipe.steps or not ramp.weight:
            yield (
                f"has the penalty {penalty!r}, whose weight is 0 up to step {ramp.start:,.0f}, the training ends "
                f"at {recipe.steps:,}.",
                "Pass steps=..., the length of your training, to nalm.attach.",
            )


def _bounds(name: str, unit: Trainable, seen: Seen) -> Said:
    for key, (value, projected) in projections(unit).items():
        beyond = float((value - projected).abs().max())
        if beyond > 1e-6:
            worst = float(value.flatten()[(value - projected).abs().argmax()])
            yield (
                f"({unit.label}) has {key} = {worst:.3g}, outside its bounds.",
                "Call nalm.attach(model, optimiser, steps=...), or nalm.project(model) after every optimiser step.",
            )


def _grid(name: str, unit: Trainable, seen: Seen) -> Said:
    if not isinstance(unit, Unit):
        return
    weight, distance = farthest(unit)
    if distance > OFF_GRID and _is_over(unit):
        yield (
            f"({unit.label}) does not compute a formula: its weight {weight!r} is {distance:.2g} away from its grid.",
            "Train longer or with a larger penalty weight, or compare the error before and after nalm.snap(model).",
        )


def _gate(name: str, unit: Trainable, seen: Seen) -> Said:
    if not isinstance(unit, Unit) or farthest(unit, gates=False)[1] <= OFF_GRID:
        return
    for key, side in fixed_gates(unit, seen.inputs.get(name), seen.gradients[name]):
        yield (
            f"({unit.label}) has a {key} fixed at {side} that no gradient moves, while other weights are undecided.",
            "Start again from another seed, with a smaller learning rate or smaller inputs.",
        )


def _gradient(name: str, unit: Trainable, seen: Seen) -> Said:
    bad = [key for key, g in seen.gradients[name].items() if not bool(g.isfinite().all())]
    if bad or name in seen.overflown:
        what = f"a gradient of {', '.join(bad)}" if bad else "an output"
        size = float(seen.inputs[name].abs().max()) if name in seen.inputs else float("nan")
        yield (
            f"({unit.label}) has {what} that is not finite; its largest input is {size:.3g}.",
            "Scale the inputs, lower the learning rate, or give the recipe a clip_norm.",
        )


def _saddle(name: str, unit: Trainable, seen: Seen) -> Said:
    if seen.loss is not None and saddle(unit, seen, name):
        yield (
            f"({unit.label}) lies at a saddle: its gradient is 0, and yet a small step lowers the loss.",
            "Start again with reset_parameters(), or add a little noise to its weights.",
        )
