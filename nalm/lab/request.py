"""Turn the options of `nalm run` and `nalm show` into experiments."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nalm import experiments as known
from nalm.config import Case, Experiment, Recipe
from nalm.config.sweep import swept
from nalm.errors import NALMError
from nalm.experiments.select import chosen

MOST = 10**9  # steps or epochs, far beyond anything published


@dataclass(frozen=True)
class Changes:
    """Changes to experiments that are made before they are run."""

    only: Sequence[str] = ()  # KEY=VALUE
    units: Sequence[str] = ()  # FILE.py:Class
    models: Sequence[str] = ()  # units joined by commas
    like: str = ""  # the unit whose place and recipe a user's unit takes
    sweeps: Sequence[str] = ()  # FIELD=VALUE,VALUE
    steps: int | None = None
    epochs: int | None = None
    keep_schedule: bool = False


class Request(NamedTuple):
    """The experiments to run, and sentences about what was chosen or changed in them."""

    experiments: list[Experiment]
    notes: list[str]


def experiments(names: Sequence[str], seeds: str = "", changes: Changes | None = None) -> Request:
    """Return the selected experiments, changed as asked.

    A name is that of an experiment, a prefix, or a Python file that defines experiments; an experiment that several of
    them select is returned once.
    """
    changes = changes or Changes()
    named = list({e.name: e for name in names for e in named_experiments(name)}.values())
    name = ", ".join(names)
    _check_lengths(changes, named, name)
    found, notes = _with_units(named, changes, name)
    kept = set(chosen([case for e in found for case in e.cases], changes.only))
    asked = []
    for e in found:
        cases = swept([case for case in e.cases if case in kept], changes.sweeps)
        lengths = list(dict.fromkeys(_lengthened(case, changes) for case in cases))
        notes += _schedule_notes(cases, changes)
        if cases:
            asked.append(e.replace(cases=tuple(lengths), seeds=_seeds(seeds) if seeds else e.seeds))
    if not asked:
        raise NALMError(f"No case of {name} matches all of {', '.join(changes.only)} at once.")
    return Request(asked, list(dict.fromkeys(notes)))


def named_experiments(name: str) -> list[Experiment]:
    """Return the experiments of a name, a prefix or a Python file."""
    if name.endswith(".py"):
        from nalm.lab.studies import load_studies  # imports torch, which published experiments do not need

        return load_studies(name)
    return known.experiments(name)


def _with_units(named: list[Experiment], changes: Changes, name: str) -> tuple[list[Experiment], list[str]]:
    """Return the experiments with the cases of user-defined units, and what was chosen for them."""
    if not changes.units and not changes.models:
        if changes.like:
            raise NALMError(
                f"--like {changes.like} chooses the recipe of a user-defined unit: add --unit FILE.py:Class."
            )
        return named, []
    from nalm.lab import own_units  # imports torch

    cases = [case for e in named for case in e.cases]
    base: Recipe | None = None
    if changes.like:
        same = [case.recipe for case in cases if changes.like in own_units.names_in(case)]
        if not same:
            raise own_units.unknown_like(changes.like, cases, name)
        base = same[0]
    made = [own_units.with_units(e, changes.units, changes.models, changes.like, base) for e in named]
    return [e for e, _ in made], [note for _, notes in made for note in notes]


def _check_lengths(changes: Changes, named: Sequence[Experiment], name: str) -> None:
    for option, value in (("--steps", changes.steps), ("--epochs", changes.epochs)):
        if value is not None and not 1 <= value <= MOST:
            raise NALMError(f"{option} takes a number from 1 to {MOST:,}, got {value}.")
    if changes.epochs and changes.steps:
        raise NALMError(
            f"--epochs and --steps exclude each other: give one of them; got {changes.epochs} and {changes.steps}."
        )
    if changes.epochs and not all(case.task.images for e in named for case in e.cases):
        raise NALMError(f"{name} draws fresh numbers and has no epochs: use --steps.")


def _lengthened(case: Case, changes: Changes) -> Case:
    """Return the case with the requested number of steps; its schedule moves along unless it is to be kept.

    Networks that read images keep it: a longer training of theirs goes on from the end of a shorter one.
    """
    steps = changes.steps or (changes.epochs or 0) * case.epoch
    if not steps:
        return case
    keep = changes.keep_schedule or case.task.extends
    recipe = case.recipe.replace(steps=steps) if keep else case.recipe.stretched(steps)
    return case.replace(recipe=recipe)


def _schedule_notes(cases: Sequence[Case], changes: Changes) -> list[str]:
    """Return sentences on what another number of steps means for ramps, growing weights and loss changes."""
    notes = []
    for case in cases:
        new = _lengthened(case, changes).recipe
        if new.steps == case.recipe.steps or not case.recipe.scheduled:
            continue
        if new == case.recipe.stretched(new.steps):
            notes.append(
                f"Schedules are scaled from {case.recipe.steps:,} to {new.steps:,} steps; "
                "--keep-schedule keeps their steps."
            )
        acting = {name for name, ramp in case.recipe.penalties if ramp.start < case.recipe.steps}
        late = [name for name, ramp in new.penalties if ramp.start >= new.steps and name in acting]
        if late:
            notes.append(
                f"The penalty {late[0]!r} starts at step {dict(new.penalties)[late[0]].start:,.10g} and never acts "
                f"in a training of {new.steps:,} steps."
            )
    return list(dict.fromkeys(notes))


def _seeds(text: str) -> tuple[int, ...]:
    first, colon, last = text.partition(":")
    try:
        ends = (int(first or 0), int(last)) if colon else (0, int(text))
    except ValueError:
        ends = (0, 0)
    if not 0 <= ends[0] < ends[1] <= 2**31:
        raise NALMError(f"--seeds takes a number N for 0 to N-1, or A:B for A to B-1; got {text!r}.")
    return tuple(range(*ends))
