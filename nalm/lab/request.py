"""Turn the options of `nalm run` into experiments."""

from collections.abc import Sequence

from nalm import experiments as known
from nalm.config import Experiment
from nalm.config.labels import unit_of
from nalm.errors import NALMError, unknown
from nalm.experiments.select import chosen
from nalm.lab.own_units import with_units

MOST = 10**9  # steps or epochs, far beyond anything published


def experiments(
    names: Sequence[str],
    seeds: str,
    only: Sequence[str],
    units: Sequence[str],
    like: str,
    steps: int | None = None,
    epochs: int | None = None,
) -> tuple[list[Experiment], list[str]]:
    """Return the selected experiments, and the user-defined units (FILE.py:Class) that they need.

    A name is that of an experiment or a prefix; an experiment that several of them select is returned once.
    """
    named = list({e.name: e for name in names for e in known.experiments(name)}.values())
    name = ", ".join(names)
    if like and not units:
        raise NALMError(f"--like {like} chooses the recipe of a user-defined unit: add --unit FILE.py:Class.")
    recipes = {unit_of(case): case.recipe for e in named for case in e.cases}
    if like and like not in recipes:
        raise unknown(f"unit in {name} to train --like", like, recipes)
    found = [with_units(e, units, recipes.get(like)) for e in named]
    for option, value in (("--steps", steps), ("--epochs", epochs)):
        if value is not None and not 1 <= value <= MOST:
            raise NALMError(f"{option} takes a number from 1 to {MOST:,}, got {value}.")
    if epochs and steps:
        raise NALMError(
            f"--epochs and --steps exclude each other: give one of them; got {epochs} and {steps}."
        )
    if epochs and not all(case.task.images for e in found for case in e.cases):
        raise NALMError(f"{name} draws fresh numbers and has no epochs: use --steps.")
    everything = [case for e in found for case in e.cases]
    kept = set(chosen(everything, only))
    asked = []
    for e in found:
        cases = tuple(case for case in e.cases if case in kept)
        if steps or epochs:
            length = [c.recipe.replace(steps=steps or (epochs or 1) * c.epoch) for c in cases]
            cases = tuple(dict.fromkeys(c.replace(recipe=r) for c, r in zip(cases, length, strict=True)))
        if cases:
            asked.append(e.replace(cases=cases, seeds=_seeds(seeds) if seeds else e.seeds))
    if not asked:
        raise NALMError(f"No case of {name} matches all of {', '.join(only)} at once.")
    return asked, list(units)


def _seeds(text: str) -> tuple[int, ...]:
    first, colon, last = text.partition(":")
    try:
        ends = (int(first or 0), int(last)) if colon else (0, int(text))
    except ValueError:
        ends = (0, 0)
    if not 0 <= ends[0] < ends[1] <= 2**31:
        raise NALMError(f"--seeds takes a number N for 0 to N-1, or A:B for A to B-1; got {text!r}.")
    return tuple(range(*ends))
