"""Add cases of user-defined units to an experiment: each takes the place, and the recipe, of a published unit.

The recipe is that of the published unit whose place it takes, unless the class brings a ``recipe`` of its own or
another unit is named with ``like``. Every choice is returned as a sentence.
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nalm.config import Case, Experiment, Layer, Recipe, Task
from nalm.config.images import amounts_to
from nalm.config.labels import recipe_words, unit_of, without_hash
from nalm.engine.model import Network, layer_types
from nalm.errors import NALMError, unknown
from nalm.lab.models import Part, model_of, parts_of
from nalm.networks import NETWORKS
from nalm.units import Trainable, Unit
from nalm.units.own import OWN, load

Likeness = tuple[float, bool, bool]


@dataclass(frozen=True)
class Place:
    """A published case and the layer of its model that a user's unit can replace."""

    case: Case
    layer: int
    likeness: Likeness

    @property
    def unit(self) -> str:
        """The published unit of that layer."""
        return self.case.model[self.layer].unit


def with_units(
    experiment: Experiment,
    units: Sequence[str],
    models: Sequence[str] = (),
    like: str = "",
    base: Recipe | None = None,
) -> tuple[Experiment, list[str]]:
    """Return the experiment with more cases per task, and a sentence for each choice of place and recipe.

    ``units`` are FILE.py:Class, ``models`` several of these or published units joined by commas. ``like`` names the
    unit or model whose place and recipe is taken; if this experiment does not have it, ``base`` is the recipe.
    """
    cases, notes = list(experiment.cases), dict[str, None]()
    for spelling in units:
        added = _beside(experiment, load(spelling), spelling, like, base)
        cases += [case for case, _ in added]
        notes |= dict.fromkeys(note for _, note in added)
    for text in models:
        added = _models(experiment, parts_of(text), text, like, base)
        cases += [case for case, _ in added]
        notes |= dict.fromkeys(note for _, note in added)
    return experiment.replace(cases=tuple(dict.fromkeys(cases))), list(notes)


def names_in(case: Case) -> set[str]:
    """Return the names by which ``like`` knows a case: its model, and the units of its layers."""
    return {unit_of(case), *(layer.unit for layer in case.model)}


def _beside(
    experiment: Experiment, name: str, spelling: str, like: str, base: Recipe | None
) -> list[tuple[Case, str]]:
    """Put a unit in the place of the most similar published one, in every task that has a place for it."""
    found = []
    for cases in _by_task(experiment.cases).values():
        same = [case for case in cases if like in names_in(case)]
        places = [p for case in same or cases if (p := _place(case, OWN[name], like)) is not None]
        if places:
            best = max(places, key=lambda p: p.likeness)
            for case in [p.case for p in places if p.case.model == best.case.model]:
                model = list(case.model)
                model[best.layer] = Layer(name, model[best.layer].out)
                own = _trained(case, tuple(model), None if same else base)
                found.append((own, _sentence(own, case, without_hash(name), best.unit)))
    if not found:
        some = ", ".join(dict.fromkeys(unit_of(case) for case in experiment.cases[:3]))
        raise NALMError(
            f"{without_hash(name)} has no clear place in the models of {experiment.name} ({some}): name one with "
            f"--like UNIT, or the whole model with --model, such as --model NAU,{spelling}."
        )
    return found


def _models(
    experiment: Experiment, parts: Sequence[Part], text: str, like: str, base: Recipe | None
) -> list[tuple[Case, str]]:
    """Train a model of named layers on every task, with the recipe of the most similar published model."""
    found = []
    for cases in _by_task(experiment.cases).values():
        same = [case for case in cases if like in names_in(case)]
        case = max(same or cases, key=lambda c: _model_likeness(c, parts))
        own = _trained(case, model_of(parts, case, text), None if same else base)
        found.append((own, _sentence(own, case, without_hash(unit_of(own)), unit_of(case))))
    return found


def _by_task(cases: Iterable[Case]) -> dict[Task, list[Case]]:
    """Group cases by task; cells of sequences that see more of themselves have the same one."""
    found: dict[Task, list[Case]] = {}
    for case in cases:
        task = case.task
        key = task.replace(inputs=2 * amounts_to(task.operation)) if task.lengths else task
        found.setdefault(key, []).append(case)
    return found


def _place(case: Case, unit: type[Unit], like: str) -> Place | None:
    """Return the layer that a unit can replace: the one that is named, the only one, or clearly the most similar.

    A baseline, such as a perceptron, is replaced only if it is named.
    """
    if any(layer.unit in NETWORKS for layer in case.model):
        return None
    scores = [_likeness(unit, layer_types()[layer.unit]) for layer in case.model]
    named = [i for i, layer in enumerate(case.model) if layer.unit == like]
    best = max(range(len(scores)), key=lambda i: scores[i])
    if len(named) == 1:
        return Place(case, named[0], scores[named[0]])
    alone = len(scores) == 1 and issubclass(layer_types()[case.model[0].unit], Unit)  # and not a perceptron
    clear = alone or (scores[best][0] > 0 and scores.count(scores[best]) == 1)
    return Place(case, best, scores[best]) if clear else None


@functools.cache
def _likeness(unit: type[Trainable], published: type[Trainable]) -> Likeness:
    """Return how similar two layers are: operations that both can represent, then penalties, then grids."""
    if unit is published:
        return 1.0, True, True
    if not (issubclass(unit, Unit) and issubclass(published, Unit)):
        return 0.0, False, False
    both, either = set(unit.gold) & set(published.gold), set(unit.gold) | set(published.gold)
    share = len(both) / len(either) if either else 0.0
    return share, _penalties(unit) == _penalties(published), _grids(unit) == _grids(published)


def _penalties(unit: type[Unit]) -> set[str]:
    return Network((Layer(_registered(unit)),), 2).penalty_names()


def _registered(unit: type[Unit]) -> str:
    return next(name for name, known in layer_types().items() if known is unit)


def _grids(unit: type[Unit]) -> dict[str, tuple[float, ...]]:
    return dict(getattr(unit, "grids", {}))


def _model_likeness(case: Case, parts: Sequence[Part]) -> float:
    """Return how similar a case's model is to named layers, position by position; -1 for another number of them."""
    if len(case.model) != len(parts):
        return -1.0
    types = layer_types()
    scores = [_likeness(types[p.unit], types[layer.unit]) for p, layer in zip(parts, case.model, strict=True)]
    return sum(share + same / 10 for share, same, _ in scores)


def _trained(case: Case, model: tuple[Layer, ...], base: Recipe | None) -> Case:
    """Return the case with another model, and the recipe as far as this model can be trained by it."""
    own = [OWN[layer.unit].recipe for layer in model if layer.unit in OWN]
    recipe: Recipe = next((r for r in own if r is not None), None) or base or case.recipe
    if not isinstance(recipe, Recipe):
        raise NALMError(
            f"The recipe of {unit_of(case.replace(model=model))} must be a nalm.config.Recipe, got {recipe!r}."
        )
    network = Network(model, case.inputs, bool(case.task.times))
    have, parameters = (
        network.penalty_names(),
        {n.removeprefix("layers.") for n, _ in network.named_parameters()},
    )
    recipe = recipe.stretched(case.recipe.steps).replace(
        penalties=tuple(p for p in recipe.stretched(case.recipe.steps).penalties if p[0] in have),
        starts=tuple(s for s in recipe.starts if s[0] in parameters),
        normal_starts=tuple(s for s in recipe.normal_starts if s[0] in parameters),
        inalu=recipe.inalu and "weight" in have,
        rules="",  # they train weights and gates in turns, which another unit does not have
    )
    return case.replace(model=model, recipe=recipe)


def _sentence(own: Case, case: Case, name: str, replaced: str) -> str:
    brings = any(layer.unit in OWN and OWN[layer.unit].recipe is not None for layer in own.model)
    whose = "its own recipe" if brings else f"the recipe of {unit_of(case)}"
    return f"{name} stands for {replaced} and has {whose}: {recipe_words(own.recipe)}."


def unknown_like(like: str, cases: Iterable[Case], where: str) -> NALMError:
    """Return the error for a unit to train like that no experiment has."""
    return unknown(
        f"unit in {where} to train --like", like, sorted({n for case in cases for n in names_in(case)})
    )
