"""Networks on sequences, measured length by length.

A run solves a length if its error there is below the limit: a one-sided upper bound of the mean error of the
reference runs, in which the arithmetic is given. Errors are taken at the lowest validation error of each run.
The published code (stable-nalu, Madsen 2020) uses the quantile at 8 degrees of freedom whatever the number of runs; it
excludes references that did not learn their digits by hand, and here those above their own threshold are excluded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.stats

from nalm import stats
from nalm.config import Case, Claim, Task
from nalm.config.labels import labels, places
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.mnist.sequences import AT_LENGTH, PUBLISHED
from nalm.results.runs import Outcome
from nalm.stats import Interval

Array = npt.NDArray[np.float64]
Curves = Mapping[tuple[str, int], Mapping[str, Array]]  # by the first 12 letters of a case and the seed
LEVEL, DEGREES = 0.99, 8
REFERENCE = "Accumulator"
WHERE = "length="
WITHOUT = "No results by length yet: first run the reference (--only unit=Accumulator) for the same number of epochs."


def limits(errors: Array) -> Array:
    r"""Compute the limit at every length, :math:`\bar e + t_{0.99, 8}\, s / \sqrt n`.

    ``errors`` of reference runs have the shape (runs, lengths).
    The limit of a single reference is its own error.

    >>> limits(np.array([[1.0], [3.0]])).round(4).tolist()  # mean 2, deviation sqrt 2: 2 + 2.8965
    [4.8965]
    """
    if errors.ndim != 2 or not len(errors):
        raise NALMError("A limit needs at least one reference run that has learnt its digits, got none.")
    n = len(errors)
    spread = errors.std(0, ddof=1) if n > 1 else np.zeros(errors.shape[1])
    found: Array = errors.mean(0) + scipy.stats.t.ppf(LEVEL, DEGREES) * spread / np.sqrt(n)
    return found


def first_below(steps: Array, errors: Array, limit: float) -> int | None:
    """Return the first evaluated step whose error is below the limit.

    >>> first_below(np.array([0.0, 5.0, 10.0]), np.array([9.0, 1.0, 2.0]), 3.0)
    5
    """
    low = errors < limit
    return int(steps[np.argmax(low)]) if low.any() else None


@dataclass(frozen=True)
class Kind:
    """Runs with the same references: equal operation, images and number of steps."""

    operation: str
    task: Task
    steps: int


@dataclass(frozen=True)
class Length:
    """The runs of one case at one length of sequences."""

    length: int
    limit: float
    success: Interval
    solved_at: tuple[int, ...]  # of the solved runs, in steps of training
    sparsity: tuple[float, ...]  # of the solved runs
    errors: tuple[float, ...]  # of every run, by its seed, where its validation error is lowest
    right: tuple[float, ...]  # shares of sequences whose last number rounds to the right one


@dataclass(frozen=True)
class Row:
    """One case at every length; ``between`` is the largest number of steps between two evaluations."""

    case: Case
    name: str
    lengths: tuple[Length, ...]
    between: float

    @property
    def epochs(self) -> int:
        """The number of epochs of its training."""
        return self.case.recipe.steps // self.case.epoch


def of_sequences(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Select the runs that read sequences."""
    return [o for o in outcomes if o.case.task.lengths]


def by_length(outcomes: Iterable[Outcome], curves: Curves, experiment: str = "") -> dict[Kind, list[Row]]:
    """Measure every case by length, grouped by kind, references first.

    A kind without a reference that learnt its digits is left out. The experiment decides the names of cases.
    """
    runs = [o for o in of_sequences(outcomes) if (o.case.key, o.seed) in curves]
    groups: dict[Case, list[Outcome]] = {}
    for o in runs:
        groups.setdefault(o.case, []).append(o)
    found: dict[Kind, list[Row]] = {}
    names = named(groups, experiment)
    for case, mine in sorted(groups.items(), key=lambda item: not is_reference(item[0])):
        kind = _kind(case)
        given = [o for o in runs if is_reference(o.case) and o.solved and _kind(o.case) == kind]
        if given:
            bound = limits(np.array([_at_best(o, curves, "error") for o in given]))
            gaps = [np.diff(curves[o.case.key, o.seed]["steps"]).max(initial=0) for o in mine]
            row = Row(case, names[case], _lengths(case, mine, curves, bound), float(max(gaps)))
            found.setdefault(kind, []).append(row)
    return found


def titles(found: Mapping[Kind, Sequence[Row]]) -> dict[Kind, str]:
    """Name kinds by their operation, and by their epochs where two have the same operation."""
    operations = [kind.operation for kind in found]
    return {
        kind: f"{kind.operation}, {rows[0].epochs:,} epochs"
        if operations.count(kind.operation) > 1
        else kind.operation
        for kind, rows in found.items()
    }


def _kind(case: Case) -> Kind:
    return Kind(case.operation, case.task.replace(inputs=2), case.recipe.steps)  # whatever the cell's width


def is_reference(case: Case) -> bool:
    """Check whether the arithmetic of a case is given."""
    return case.model[0].unit == REFERENCE


def named(cases: Iterable[Case], experiment: str = "") -> dict[Case, str]:
    """Name cases for a table of lengths, fixed by the experiment; an unknown one names them among themselves.

    Lengths of training are in different tables, so the number of steps is no part of a name.
    """
    given = list(dict.fromkeys(cases))
    known = EXPERIMENTS[experiment].cases if experiment in EXPERIMENTS else given
    fixed = {case.trunk: name for case, name in _distinct(known).items()}
    other = _distinct((*known, *given)) if any(case.trunk not in fixed for case in given) else {}
    return {case: fixed.get(case.trunk) or other[case] for case in given}


def _distinct(cases: Iterable[Case]) -> dict[Case, str]:
    """Label cases; where two have the same label, add their place on the axis, mostly that of penalties."""
    unique = list(dict.fromkeys(cases))
    short, where = labels(unique), places(unique)
    twice = [name for name in short.values() if list(short.values()).count(name) > 1]
    long = {c: f"{short[c]}, {where[c]}" if short[c] in twice else short[c] for c in unique}
    return {c: "reference" if is_reference(c) else long[c] for c in unique}


def _at_best(o: Outcome, curves: Curves, what: str) -> list[float]:
    own = curves[o.case.key, o.seed]
    at = int(np.argmin(np.abs(own["steps"] - o.best_step)))
    return [float(own[f"test.{n}.{what}"][at]) for n in o.case.task.lengths]


def _lengths(case: Case, runs: Sequence[Outcome], curves: Curves, bound: Array) -> tuple[Length, ...]:
    errors, right = (np.array([_at_best(o, curves, what) for o in runs]) for what in ("error", "right"))
    rows = []
    for k, length in enumerate(case.task.lengths):
        solved = [o for o, error in zip(runs, errors[:, k], strict=True) if error < bound[k]]
        own = [curves[o.case.key, o.seed] for o in solved]
        steps = [first_below(c["steps"], c[f"test.{length}.error"], bound[k]) for c in own]
        rows.append(
            Length(
                length,
                float(bound[k]),
                stats.success_rate(errors[:, k] < bound[k]),
                tuple(s for s in steps if s is not None),
                tuple(o.sparsity for o in solved),
                tuple(errors[:, k].tolist()),
                tuple(right[:, k].tolist()),
            )
        )
    return tuple(rows)


def published(case: Case, metric: str = "success_rate") -> dict[int, Claim]:
    """Return what was published about a case by length, whatever its number of steps."""
    found = [c for c in PUBLISHED.get(case.trunk, ()) if c.metric == metric + AT_LENGTH]
    return {length_of(c): c for c in found}


def length_of(claim: Claim) -> int:
    """Return the length of the sequences that a claim is about: 6 for 'length=6'."""
    return int(claim.where.removeprefix(WHERE))


def longest(outcomes: Iterable[Outcome], curves: Curves) -> dict[Case, Row]:
    """Measure by length; of a case that was trained for several lengths, keep the longest training.

    The key is the case without its number of steps.
    """
    found: dict[Case, Row] = {}
    for row in (row for rows in by_length(outcomes, curves).values() for row in rows):
        before = found.get(row.case.trunk)
        if before is None or before.case.recipe.steps < row.case.recipe.steps:
            found[row.case.trunk] = row
    return found
