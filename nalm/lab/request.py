"""What a person asked for on the command line, as experiments; and what a results folder answers."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from nalm import experiments as known
from nalm.config import Case, Experiment, Layer, Ramp, Recipe
from nalm.config.images import amounts_to
from nalm.config.labels import loss_of, unit_of
from nalm.errors import NALMError, unknown
from nalm.results import checkpoints
from nalm.results.store import OUTCOMES, Store

MOST = 10**9  # steps or epochs, far beyond anything published
KEYS: dict[str, Callable[[Case], str]] = {
    "unit": lambda case: unit_of(case).partition("@")[0],  # of one's own: without the hash of its file
    "operation": lambda case: case.operation,
    "range": lambda case: f"{case.train.low:g}:{case.train.high:g}",
    "inputs": lambda case: str(case.inputs),
    "loss": loss_of,
    "lr": lambda case: f"{case.recipe.lr:g}",
}


def experiments(
    name: str,
    seeds: str,
    only: Sequence[str],
    units: Sequence[str],
    like: str,
    steps: int | None = None,
    epochs: int | None = None,
) -> tuple[list[Experiment], list[str]]:
    """The experiments as asked for, and the units of one's own that they need, as FILE.py:Class."""
    named = known.experiments(name)
    if like and not units:
        raise NALMError(
            f"--like {like} says how to train a unit of your own: give it with --unit FILE.py:Class."
        )
    recipes = {unit_of(case): case.recipe for e in named for case in e.cases}
    if like and like not in recipes:
        raise unknown(f"unit in {name} to train --like", like, recipes)
    found = [_with_units(e, units, recipes.get(like)) for e in named]
    for option, value in (("--steps", steps), ("--epochs", epochs)):
        if value is not None and not 1 <= value <= MOST:
            raise NALMError(f"{option} takes a number from 1 to {MOST:,}, got {value}.")
    if epochs and steps:
        raise NALMError(f"--epochs takes no --steps beside it: say one of them; got {epochs} and {steps}.")
    if epochs and not all(case.digits for e in found for case in e.cases):
        raise NALMError(f"{name} draws fresh numbers and has no epochs: say how long with --steps.")
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


def chosen(cases: Sequence[Case], only: Sequence[str]) -> tuple[Case, ...]:
    """The cases that match every ``key=value``; several values of one key are alternatives."""
    wanted: dict[str, set[str]] = {}
    for text in only:
        key, equals, value = text.partition("=")
        if not equals or key not in KEYS:
            raise NALMError(f"--only takes KEY=VALUE with a key of {', '.join(KEYS)}; got {text!r}.")
        wanted.setdefault(key, set()).add(value)
    for key, values in wanted.items():
        have = {KEYS[key](case) for case in cases}
        for value in values - have:
            raise unknown(key, value, sorted(have))
    return tuple(c for c in cases if all(KEYS[k](c) in v for k, v in wanted.items()))


def _with_units(experiment: Experiment, units: Sequence[str], like: Recipe | None) -> Experiment:
    """The experiment with a case of each unit of one's own beside every task it has."""
    if not units:
        return experiment
    from nalm.lab.custom_units import load  # needs torch, which nothing else here does

    cases = list(experiment.cases)
    for spelling in units:
        name = load(spelling)
        for case in experiment.cases:
            recipe = like or _own_recipe(name, case.inputs)
            recipe = recipe.replace(steps=case.recipe.steps)
            own = case.replace(model=(Layer(name),), recipe=recipe)
            cases.append(own if case.digits is None else _reading(own, case))
    return experiment.replace(cases=tuple(dict.fromkeys(cases)))


def _reading(own: Case, case: Case) -> Case:
    """A case of images with a unit of one's own: in batches as large, and in a loop with as many results."""
    own = own.replace(recipe=own.recipe.replace(batch=case.recipe.batch))
    if not own.digits or not own.digits.length:
        return own
    read = amounts_to(case.operation)
    return own.replace(model=(own.model[0].replace(out=read),), inputs=2 * read)


def _own_recipe(name: str, inputs: int) -> Recipe:
    """The plain recipe, with the usual pressure on the weights if the unit has a penalty of that name."""
    from nalm.units import UNITS

    sparse = "weight" in UNITS[name](inputs, 1).penalties()
    return Recipe(penalties=(("weight", Ramp(10, 20_000, 35_000)),) if sparse else ())


def _reading_on(store: Store) -> list[dict[str, Any]]:
    """Networks of images that are not at the end of a training that was asked for."""
    lengths: dict[str, dict[int, Case]] = {}
    for name in store.experiments():
        for case in store.cases(name):
            if case.digits is not None:
                lengths.setdefault(case.trunk.hash, {})[case.recipe.steps] = case
    found = []
    for trunk, seed, at in checkpoints.networks(store.folder):
        asked = lengths.get(trunk, {})
        done = at in asked and store.found([(asked[at].hash, seed)])
        further = [case for steps, case in sorted(asked.items()) if steps >= at]
        if further and not done:
            case = further[0]
            found.append({"case": case.name, "seed": seed, "at": at, "steps": case.recipe.steps})
    return found


def status(store: Store) -> dict[str, Any]:
    """What a results folder holds, in plain values."""
    rows: list[dict[str, Any]] = []
    ended = store.counts()
    for name, title in store.experiments().items():
        count = {word: ended.get(name, {}).get(word, 0) for word in OUTCOMES}
        runs = sum(count.values())
        rows.append(
            {"experiment": name, "title": title, "cases": len(store.cases(name)), "runs": runs, **count}
        )
    now = time.time()
    working = [
        {"command": s["command"], "since": now - s["started"], "seen": now - s["seen"]}
        for s in store.sessions()
        if s["alive"]
    ]
    begun = store.begun()
    reading = _reading_on(store)
    waiting = [{"runs": len(c.runs), "file": c.path.name} for c in checkpoints.found(store.folder)]
    return {
        "folder": str(store.folder),
        "experiments": rows,
        "working": working,
        "checkpoints": waiting,
        "networks": reading,
        "begun": begun,
    }
