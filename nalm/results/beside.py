"""Runs of another folder beside one's own: its cases of the same experiments that one has not trained oneself."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from nalm.errors import NALMError
from nalm.results import source
from nalm.results.source import Recorded, Results


def outcomes(where: str | Path, beside: str | Path = "") -> Results:
    """Return the finished runs of a folder, and of another one those of the same experiments and other cases."""
    own = source.outcomes(where)
    if not beside:
        return own
    require_shared(where, beside)
    theirs = source.outcomes(beside)
    joined: Results = {}
    for name, runs in own.items():
        mine = {o.case.hash for o in runs}
        joined[name] = [*runs, *(o for o in theirs.get(name, ()) if o.case.hash not in mine)]
    return joined


def fingerprints(where: str | Path, beside: str | Path = "") -> dict[str, str]:
    """Return a text for each experiment of a folder that changes when its runs in either folder change."""
    own = source.fingerprints(where)
    theirs = source.fingerprints(beside) if beside else {}
    return {name: f"{text} {theirs[name]}" if name in theirs else text for name, text in own.items()}


def read(
    where: str | Path, choose: Callable[[Iterable[str]], Iterable[str]] = list, beside: str | Path = ""
) -> list[Recorded]:
    """Read experiments of a folder with their curves, and the other cases that another folder has of them."""
    own = source.read(where, choose)
    if not beside:
        return own
    names = {found.name for found in own}
    theirs = {r.name: r for r in source.read(beside, lambda known: [n for n in known if n in names])}
    return [_joined(found, theirs[found.name]) if found.name in theirs else found for found in own]


def _joined(own: Recorded, other: Recorded) -> Recorded:
    mine = {o.case.hash for o in own.outcomes}
    more = [o for o in other.outcomes if o.case.hash not in mine]
    keys = {(o.case.key, o.seed) for o in more}
    return replace(
        own,
        outcomes=[*own.outcomes, *more],
        curves=own.curves | {key: curve for key, curve in other.curves.items() if key in keys},
        tallies=(*own.tallies, *other.tallies),
        counted=own.counted or other.counted,
    )


def require_shared(where: str | Path, beside: str | Path) -> None:
    """Raise a NALMError if another folder has no experiment that the first one has."""
    own, theirs = source.fingerprints(where), source.fingerprints(beside)
    if not own.keys() & theirs.keys():
        names = ", ".join(sorted(own)[:3])
        raise NALMError(
            f"{beside} has none of the experiments of {where}, such as {names}: leave --beside out."
        )
