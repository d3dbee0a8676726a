"""Experiments of the user: a few lines of Python with units, operations, ranges, recipes and seeds, or a whole file."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe
from nalm.engine.model import Network, layer_types
from nalm.errors import NALMError, unknown
from nalm.experiments import EXPERIMENTS
from nalm.networks.published import published
from nalm.units import Unit
from nalm.units.own import import_file, load, name_of

Named = str | type[Unit]  # NMU, my_unit.py:MyUnit, or a class
Ends = tuple[float, float] | Range
LOADED: dict[str, Experiment] = {}  # experiments of files that this process has loaded
Recipes = Recipe | Sequence[Recipe] | Mapping[str, Recipe] | None


def study(
    name: str,
    question: str,
    *,
    units: Sequence[Named | Sequence[Named]],
    operations: Sequence[str] = ("multiply",),
    ranges: Sequence[tuple[Ends, Ends]] = (((1, 2), (2, 6)),),
    inputs: int | Sequence[int] = 2,
    width: int = 2,
    recipes: Recipes = None,
    seeds: int | Sequence[int] = 10,
) -> Experiment:
    """Make an experiment: every unit on every operation, range and number of inputs, with every recipe and seed.

    A unit is a name, FILE.py:Class or a class; several in brackets are layers, with ``width`` outputs between them.
    A range is (training, test), each (low, high). ``recipes`` is one recipe for all, several to sweep, or a recipe by
    unit; a unit without one brings its own or is trained as published.

    >>> found = study("mine/first", "Which unit multiplies?", units=["NMU", "NALU"], seeds=5)
    >>> [case.name for case in found.cases]
    ['NMU multiply U[1,2)', 'NALU multiply U[1,2)']
    """
    tasks = [
        Arithmetic(operation, _range(train), _range(test), inputs=count)
        for operation in operations
        for count in ((inputs,) if isinstance(inputs, int) else inputs)
        for train, test in ranges
    ]
    cases = [
        Case(model, task, recipe)
        for unit in units
        for task in tasks
        for model in (_model(unit, width),)
        for recipe in _recipes(model, task.inputs, recipes)
    ]
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    return Experiment(name, question, tuple(dict.fromkeys(cases)), numbers)


def _range(ends: Ends) -> Range:
    return ends if isinstance(ends, Range) else Range(*ends)


def _model(units: Named | Sequence[Named], width: int) -> tuple[Layer, ...]:
    named = [units] if isinstance(units, str | type) else list(units)
    names = [_name(unit) for unit in named]
    return (*(Layer(name, width) for name in names[:-1]), Layer(names[-1]))


def _name(unit: Named) -> str:
    if isinstance(unit, type):
        return name_of(unit)
    if ".py:" in unit:
        return load(unit)
    if unit not in layer_types():
        raise unknown("unit", unit, layer_types())
    return unit


def _recipes(model: tuple[Layer, ...], inputs: int, given: Recipes) -> list[Recipe]:
    """Return the recipes of a model: those given, or those of its units as published."""
    if isinstance(given, Recipe):
        return [given]
    names = ["-".join(layer.unit.partition("@")[0] for layer in model), *(layer.unit for layer in model)]
    if isinstance(given, Mapping):
        for name in (*names, *(layer.unit.partition("@")[0] for layer in model)):
            if name in given:
                return [given[name]]
    elif given:
        return list(given)
    own = [getattr(layer_types()[layer.unit], "recipe", None) for layer in model]
    if brought := [recipe for recipe in own if recipe is not None]:
        return brought[:1]
    treated = [published(part) for part in Network(model, inputs).parts()]
    penalties = dict(itertools.chain.from_iterable(recipe.penalties for recipe in treated))
    clips = {n: max(getattr(recipe, n) for recipe in treated) for n in ("clip_norm", "clip_value")}
    return [treated[0].replace(penalties=tuple(penalties.items()), **clips)]


def load_studies(file: str) -> list[Experiment]:
    """Import a Python file and return the experiments that it defines, which then count as known in this process."""
    path = Path(file)
    if not path.is_file():
        raise NALMError(f"There is no file {file}: `nalm new experiment NAME` writes one to begin with.")
    found = {e.name: e for value in vars(import_file(path)).values() for e in _experiments(value)}
    if not found:
        raise NALMError(
            f"{file} defines no experiment: write STUDY = nalm.study(...), as `nalm new experiment` does."
        )
    for name, experiment in found.items():
        if name in EXPERIMENTS and name not in LOADED:
            raise NALMError(
                f"{file} calls its experiment {name!r}, which is a published one: choose another name."
            )
        LOADED[name] = experiment
        EXPERIMENTS[name] = experiment
    return list(found.values())


def _experiments(value: object) -> Iterable[Experiment]:
    """Return the experiments among the values of a module: single ones, and those in tuples and lists."""
    if isinstance(value, Experiment):
        return [value]
    return [e for e in value if isinstance(e, Experiment)] if isinstance(value, tuple | list) else []
