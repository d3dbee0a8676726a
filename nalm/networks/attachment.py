"""Train units inside any network: ``attach`` adds penalties before, and projection after, each step of an optimiser."""

import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from nalm.config import Growth, Ramp, Recipe
from nalm.errors import NALMError
from nalm.networks.inside import some_units_in
from nalm.networks.published import published
from nalm.units.base import Trainable

COUNT = "nalm_step"  # key of the number of steps in the optimiser's first group of parameters
# The last attachment of each unit, while its optimiser exists.
_ATTACHED: "weakref.WeakKeyDictionary[Trainable, weakref.ref[Attachment]]" = weakref.WeakKeyDictionary()


class Attachment:
    """Hooks of one optimiser that treat the units of one model; made by ``attach``.

    ``step`` counts the optimiser's steps. It is kept in ``optimiser.param_groups[0]``, so that it is saved and restored
    with ``optimiser.state_dict()``, whether ``attach`` is called before or after loading.
    """

    def __init__(self, units: dict[str, Trainable], optimiser: Optimizer, recipes: dict[str, Recipe]):
        self.units, self.optimiser, self.recipes = units, optimiser, recipes
        optimiser.param_groups[0].setdefault(COUNT, 0)
        self._handles = (
            optimiser.register_step_pre_hook(self._before),
            optimiser.register_step_post_hook(self._after),
        )
        for unit in units.values():
            _ATTACHED[unit] = weakref.ref(self)

    @property
    def step(self) -> int:
        """The number of optimiser steps taken since training began."""
        return int(self.optimiser.param_groups[0].get(COUNT, 0))

    def weights(self) -> dict[str, dict[str, float]]:
        """Return the present penalty weights, by unit and penalty."""
        step = self.step
        return {unit: {n: ramp.at(step) for n, ramp in r.penalties} for unit, r in self.recipes.items()}

    def recipe_of(self, unit: Trainable) -> Recipe:
        """Return the recipe of one of its units."""
        return next(self.recipes[name] for name, own in self.units.items() if own is unit)

    def remove(self) -> None:
        """Remove the hooks; the optimiser then works as before."""
        for handle in self._handles:
            handle.remove()
        for unit in self.units.values():
            if attachment_of(unit) is self:
                del _ATTACHED[unit]

    # -- the hooks -----------------------------------------------------------------------------

    def _before(self, optimiser: Optimizer, args: Any, kwargs: Any) -> Any:
        """Add the gradients of the penalties; where the optimiser calls a closure, do so after each call of it."""
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is None:
            self._add(getattr(optimiser, "grad_scale", None))
            return None

        def penalised() -> Any:
            loss, terms = closure(), self._add(None)
            # A line search must see the penalties; a result that is no number is left alone.
            return sum(terms, loss) if isinstance(loss, Tensor | float) else loss

        if len(args) > 1:
            return (args[0], penalised, *args[2:]), kwargs
        return args, {**kwargs, "closure": penalised}

    def _after(self, optimiser: Optimizer, args: Any, kwargs: Any) -> None:
        for unit in self.units.values():
            unit.project()
        optimiser.param_groups[0][COUNT] = self.step + 1

    def _add(self, scale: Tensor | None) -> list[Tensor]:
        """Add the penalties' gradients to those of the loss and bound the sum; return the weighted penalties.

        ``scale`` is the factor of a gradient scaler, where the optimiser itself divides by it (fused ones do).
        """
        step, terms = self.step, list[Tensor]()
        for name, unit in self.units.items():
            recipe = self.recipes[name]
            with torch.enable_grad():
                total = weighted_penalties(unit, recipe, step)
            if total is not None:
                terms.append(total.detach())
                _accumulate(unit, total if scale is None else total * scale)
            _clip(unit, recipe, 1.0 if scale is None else scale)
        return terms


def attachment_of(unit: Trainable) -> Attachment | None:
    """Return the last attachment of a unit, if its optimiser still exists and it was not removed."""
    found = _ATTACHED.get(unit)
    return None if found is None else found()


def attach(
    model: nn.Module, optimiser: Optimizer, *, steps: int | None = None, recipe: Recipe | None = None
) -> Attachment:
    """Make every unit inside a model train as published, whenever the optimiser takes a step.

    Before a step the weighted gradients of the units' penalties are added to those of your loss; after it the
    units are projected. Your loss, loop, schedulers, accumulation and gradient scaler stay as they are.

    ``steps`` is the number of optimiser steps of the whole training; the ramps of the penalties are stretched to it.
    ``recipe`` says for all units which penalties, L1, L2 and bounds of the gradient to use; without one each unit has
    its published ones. The rest of a recipe (optimiser, loss, learning rate, batch) belongs to your loop.
    ``remove()`` of the result undoes it.

    >>> from nalm.units import NMU
    >>> net = nn.Sequential(nn.Linear(8, 2), nn.ReLU(), NMU(2, 1))
    >>> handle = attach(net, torch.optim.Adam(net.parameters()), steps=3_000)
    >>> handle.recipes["2"].penalties
    (('weight', Ramp(weight=10.0, start=1200.0, end=2100.0)),)
    """
    units = some_units_in(model)
    optimiser = _innermost(optimiser)
    _check_parameters(units, optimiser)
    if any((a := attachment_of(u)) is not None and a.optimiser is optimiser for u in units.values()):
        raise NALMError(
            "This optimiser is attached to a unit of the model already: call remove() of that one."
        )
    if steps is None and recipe is None:
        raise NALMError("attach needs steps=..., the number of optimiser steps of the training.")
    if steps is not None and steps < 1:
        raise NALMError(f"A training has at least one step, got steps={steps}.")
    if recipe is not None:
        _check_penalties(units, recipe)
    own = {name: recipe or published(unit) for name, unit in units.items()}
    return Attachment(units, optimiser, {name: stretched(r, steps or r.steps) for name, r in own.items()})


def stretched(recipe: Recipe, steps: int) -> Recipe:
    """Return a recipe for a training of another length: ramps and growths keep their place in it.

    >>> stretched(Recipe(penalties=(("weight", Ramp(10, 20_000, 35_000)),)), 1_000).penalties[0][1]
    Ramp(weight=10.0, start=400.0, end=700.0)
    """
    by = steps / recipe.steps

    def grown(growth: Growth | None) -> Growth | None:
        return None if growth is None else growth.replace(every=max(1, round(growth.every * by)))

    ramps = tuple((n, r.replace(start=r.start * by, end=r.end * by)) for n, r in recipe.penalties)
    return recipe.replace(steps=steps, penalties=ramps, l1=grown(recipe.l1), l2=grown(recipe.l2))


def weighted_penalties(unit: Trainable, recipe: Recipe, step: int) -> Tensor | None:
    """Return the sum of a unit's penalties with their weights at a step, over all runs; None while all are 0."""
    ramps: dict[str, Ramp] = {name: ramp for name, ramp in recipe.penalties if ramp.at(step)}
    terms = [
        ramps[n].at(step) * v.sum() for n, v in (unit.penalties() if ramps else {}).items() if n in ramps
    ]
    for growth, norm in ((recipe.l1, _absolute), (recipe.l2, _length)):
        if growth is not None:
            terms += [growth.at(step) * norm(p) for p in unit.parameters() if p.requires_grad]
    return sum(terms[1:], terms[0]) if terms else None


def _absolute(p: Tensor) -> Tensor:
    return p.abs().sum()


def _length(p: Tensor) -> Tensor:
    return p.square().sum().clamp_min(1e-30).sqrt()


def _trained(unit: nn.Module) -> list[nn.Parameter]:
    return [p for p in unit.parameters() if p.requires_grad]


def _accumulate(unit: Trainable, total: Tensor) -> None:
    """Add the gradient of a scalar to those of a unit's parameters."""
    parameters = _trained(unit)
    if not total.requires_grad:
        return
    for p, g in zip(parameters, torch.autograd.grad(total, parameters, allow_unused=True), strict=True):
        if g is not None:
            p.grad = g.to(p.dtype) if p.grad is None else p.grad.add_(g)


def _clip(unit: Trainable, recipe: Recipe, scale: Tensor | float) -> None:
    """Bound the gradient of each run of a unit as its recipe says; the bounds of scaled gradients are scaled too."""
    runs = unit.runs
    gradients = [p.grad for p in _trained(unit) if p.grad is not None]
    if gradients and recipe.clip_norm > 0:
        square = sum(g.reshape(*runs, -1).square().sum(-1) for g in gradients)
        factor = (recipe.clip_norm * scale / (torch.as_tensor(square).sqrt() + 1e-6 * scale)).clamp_max(1.0)
        for g in gradients:
            g.mul_(factor.reshape(*runs, *[1] * (g.ndim - len(runs))))
    if recipe.clip_value > 0:
        bound = torch.as_tensor(recipe.clip_value * scale)
        for g in gradients:
            g.copy_(g.maximum(-bound.to(g)).minimum(bound.to(g)))


def _innermost(optimiser: Any) -> Optimizer:
    """Return the optimiser inside the wrappers of Lightning and Accelerate, which do not call hooks."""
    while isinstance(inner := getattr(optimiser, "optimizer", None), Optimizer):
        optimiser = inner
    if not isinstance(optimiser, Optimizer):
        raise NALMError(f"attach needs an optimiser of torch.optim, got {type(optimiser).__name__}.")
    return optimiser


def _check_parameters(units: dict[str, Trainable], optimiser: Optimizer) -> None:
    """Refuse units with parameters that are to be trained, but not by this optimiser."""
    known = {id(p) for group in optimiser.param_groups for p in group["params"]}
    for name, unit in units.items():
        for key, p in unit.named_parameters():
            if p.requires_grad and id(p) not in known:
                raise NALMError(
                    f"The optimiser does not have the parameter {key!r} of unit {name!r} ({unit.label}): "
                    "make it of model.parameters(), or attach the part of the model that it trains."
                )


def _check_penalties(units: dict[str, Trainable], recipe: Recipe) -> None:
    """Refuse a recipe that names a penalty which no unit has, or what only the laboratory can do."""
    have = {name for unit in units.values() for name in unit.penalties()}
    for name, _ in recipe.penalties:
        if name not in have:
            known = ", ".join(sorted(have)) or "none"
            raise NALMError(
                f"No unit of the model has a penalty {name!r} without inputs. They have: {known}."
            )
