"""Names of cases in tables and figures, fixed by the experiment that they belong to.

A name says what distinguishes a case within its experiment. It does not depend on which other cases a
command or a results folder holds.
"""

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from nalm.config import Case
from nalm.config.labels import axis, labels, places
from nalm.experiments import EXPERIMENTS


@dataclass(frozen=True)
class Names:
    """Names of cases, the axis of their chart, and the place of each case on it."""

    labels: dict[Case, str]
    axis: str
    places: dict[Case, str]


@functools.lru_cache(maxsize=256)
def _fixed(cases: tuple[Case, ...]) -> tuple[dict[Case, str], str]:
    return labels(cases), axis(cases)


def names(experiment: str, cases: Iterable[Case]) -> Names:
    """Name cases as the experiment of that name does.

    A case that is trained for another number of steps than the experiment's, its schedule kept or scaled, has the
    name of the experiment's case, unless both or several such lengths are given; then its name says the steps.
    Other cases, such as those of a user's unit, are named by what distinguishes them from all others. The cases of
    an unknown experiment are named among themselves.

    >>> mul = EXPERIMENTS["thesis/ch5/nru-lr"].cases
    >>> list(names("thesis/ch5/nru-lr", mul[:1]).labels.values())  # alone, it would be just NRU
    ['NRU (lr 0.001)']
    """
    given = tuple(dict.fromkeys(cases))
    known = EXPERIMENTS[experiment].cases if experiment in EXPERIMENTS else given
    fixed, along = _fixed(known)
    found = {case: fixed[case] for case in given if case in fixed}
    if len(found) < len(given):
        other = _unpublished(known, fixed, [case for case in given if case not in fixed], found)
        found = {case: found.get(case) or other[case] for case in given}
    return Names(found, along, places(given, along))


def _unpublished(
    known: tuple[Case, ...], fixed: dict[Case, str], rest: list[Case], published: Iterable[Case]
) -> dict[Case, str]:
    """Name the cases that the experiment does not hold."""
    alike: dict[object, list[Case]] = {}
    for case in known:
        alike.setdefault((case.model, case.task), []).append(case)
    origins = {case: _origin(case, alike.get((case.model, case.task), [])) for case in rest}
    shown = Counter([*filter(None, origins.values()), *published])
    union = labels((*known, *rest))
    return {
        case: fixed[origin] if origin is not None and shown[origin] == 1 else union[case]
        for case, origin in origins.items()
    }


def _origin(case: Case, alike: list[Case]) -> Case | None:
    """Return the one case of the experiment that differs only in how long it is trained."""
    recipe = case.recipe
    same = [c for c in alike if c.recipe.replace(steps=recipe.steps) == recipe]
    same = same or [c for c in alike if c.recipe.stretched(recipe.steps) == recipe]
    return same[0] if len(same) == 1 else None
