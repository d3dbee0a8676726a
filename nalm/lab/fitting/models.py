"""A unit's name, its class or a module as the layers of a case, and the recipe that its units were published with."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from nalm.config import Layer, Recipe
from nalm.engine.model import ACTIVATIONS, Network
from nalm.errors import NALMError
from nalm.networks.attachment import stretched
from nalm.networks.published import STEPS, published
from nalm.units import UNITS, Trainable, unit
from nalm.units.baselines import BASELINES

RATE = 1e-2  # learning rate of trainings of a few thousand steps: see docs/training.md

Model = str | type[Trainable] | nn.Module


def models(model: Model | Sequence[Model], inputs: int, outputs: int) -> list[tuple[Layer, ...]]:
    """Return the layers of each model; a list holds several models to try."""
    several = list(model) if isinstance(model, list | tuple) else [model]
    if not several:
        raise NALMError("A fit needs a model: a unit's name, its class or a module.")
    return [layers(one, inputs, outputs) for one in several]


def layers(model: Any, inputs: int, outputs: int) -> tuple[Layer, ...]:
    """Return the layers of a model of so many inputs and outputs.

    >>> [layer.label for layer in layers(nn.Sequential(nn.Linear(8, 2), nn.ReLU(), UNITS["NMU"](2, 1)), 8, 1)]
    ['Linear', 'ReLU', 'NMU']
    """
    if isinstance(model, str):
        return (Layer(unit(model).__name__ if model not in BASELINES else model, outputs),)
    if isinstance(model, type) and issubclass(model, Trainable):
        return (Layer(_known(model), outputs),)
    parts = list(model) if isinstance(model, nn.Sequential) else [model]
    found, width = list[Layer](), inputs
    for part in parts:
        layer = _layer(part, width)
        if getattr(part, "in_features", width) != width:
            raise NALMError(f"{part} gets {width} numbers: X has {inputs} columns.")
        found, width = [*found, layer], layer.out
    if width != outputs or not found:
        raise NALMError(f"The model ends in {width} outputs, y has {outputs} columns.")
    return tuple(found)


def _layer(part: Any, width: int) -> Layer:
    if isinstance(part, nn.Linear):
        return Layer("Linear", part.out_features, (("bias", part.bias is not None),))
    if isinstance(part, Trainable):
        options = tuple((name, getattr(part, name)) for name in part.options)
        return Layer(_known(type(part)), part.out_features, options)
    if type(part).__name__ in ACTIVATIONS:
        return Layer(type(part).__name__, width)
    raise NALMError(
        f"A population trains units, nn.Linear and {', '.join(ACTIVATIONS)} one after another, got "
        f"{type(part).__name__}: train such a network in a loop of your own with nalm.attach."
    )


def _known(kind: type[Trainable]) -> str:
    name = kind.__name__
    if {**UNITS, **BASELINES}.get(name) is not kind:
        raise NALMError(f"{name} is no unit of the library: train it in a loop of your own with nalm.attach.")
    return name


def recipes(
    recipe: Recipe | Sequence[Recipe] | None, model: tuple[Layer, ...], inputs: int, steps: int
) -> list[Recipe]:
    """Return the recipes of a model: those given, or the published penalties of its units over so many steps."""
    if recipe is not None:
        return [recipe] if isinstance(recipe, Recipe) else list(recipe)
    found = [published(part) for part in Network(model, inputs).parts()]
    penalties = {name: ramp for r in reversed(found) for name, ramp in r.penalties}
    whole = Recipe(
        steps=STEPS,
        lr=RATE,
        penalties=tuple(penalties.items()),
        clip_norm=max(r.clip_norm for r in found),
        clip_value=max(r.clip_value for r in found),
    )
    return [stretched(whole, steps)]
