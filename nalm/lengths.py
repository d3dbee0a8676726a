"""Networks on sequences, length by length: solved where they are as good as one whose arithmetic is given (spec 16).

For every length the limit is a one-sided upper bound of the mean error of reference runs, each taken where its
validation error is lowest. The published code takes the quantile at 8 degrees of freedom however many runs are left; it
leaves out by hand the references that did not learn their digits, and here those whose own threshold was not reached.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.stats

from nalm import stats
from nalm.claims import Verdict
from nalm.config import Case, Claim
from nalm.errors import NALMError
from nalm.experiments.mnist_more import FIGURES
from nalm.labels import labels, places
from nalm.published import claims
from nalm.rules import near, word
from nalm.runs import Outcome
from nalm.stats import Interval

Array = npt.NDArray[np.float64]
Curves = Mapping[tuple[str, int], Mapping[str, Array]]  # by the first 12 letters of a case and the seed
LEVEL, DEGREES = 0.99, 8
REFERENCE = "Accumulator"
WHERE = "length="


def limits(errors: Array) -> Array:
    r"""The limit at every length, :math:`\bar e + t_{0.99, 8}\, s / \sqrt n`, of references' errors (runs, lengths).

    One reference alone has no spread: its limit is its own error.

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
    """The first evaluated step whose error is below the limit.

    >>> first_below(np.array([0.0, 5.0, 10.0]), np.array([9.0, 1.0, 2.0]), 3.0)
    5
    """
    low = errors < limit
    return int(steps[np.argmax(low)]) if low.any() else None


@dataclass(frozen=True)
class Length:
    """The runs of one case at one length of sequences."""

    length: int
    limit: float
    success: Interval
    solved_at: Interval  # over solved runs, in steps of training
    sparsity: Interval  # over solved runs
    errors: tuple[float, ...]  # of every run, by its seed, where its validation error is lowest
    right: tuple[float, ...]  # shares of sequences whose last number rounds to the right one


@dataclass(frozen=True)
class Row:
    """One case at every length."""

    case: Case
    name: str
    lengths: tuple[Length, ...]


def of_sequences(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The runs that read sequences."""
    return [o for o in outcomes if o.case.digits is not None and o.case.digits.length]


def by_length(outcomes: Iterable[Outcome], curves: Curves) -> dict[str, list[Row]]:
    """By operation one row for every case, the references first; nothing where no reference has learnt its digits."""
    runs = [o for o in of_sequences(outcomes) if (o.case.hash[:12], o.seed) in curves]
    groups: dict[Case, list[Outcome]] = {}
    for o in runs:
        groups.setdefault(o.case, []).append(o)
    found: dict[str, list[Row]] = {}
    names = named(groups)
    for case, mine in sorted(groups.items(), key=lambda item: not is_reference(item[0])):
        given = [o for o in runs if is_reference(o.case) and o.solved and _same(o.case, case)]
        if given:
            bound = limits(np.array([_at_best(o, curves, "error") for o in given]))
            row = Row(case, names[case], _lengths(case, mine, curves, bound))
            found.setdefault(case.operation, []).append(row)
    return found


def is_reference(case: Case) -> bool:
    """Whether a case's arithmetic is given."""
    return case.model[0].unit == REFERENCE


def _same(reference: Case, case: Case) -> bool:
    """Whether a reference read the same images for as long."""
    return (reference.operation, reference.digits, reference.recipe.steps) == (
        case.operation,
        case.digits,
        case.recipe.steps,
    )


def named(cases: Iterable[Case]) -> dict[Case, str]:
    """What cases are called in a table of lengths: their labels, with their penalties where these do not differ."""
    unique = list(dict.fromkeys(cases))
    short, where = labels(unique), places(unique)
    twice = [name for name in short.values() if list(short.values()).count(name) > 1]
    long = {c: f"{short[c]}, {where[c]}" if short[c] in twice else short[c] for c in unique}
    return {c: "reference" if is_reference(c) else long[c] for c in unique}


def _at_best(o: Outcome, curves: Curves, what: str) -> list[float]:
    assert o.case.digits is not None
    own = curves[o.case.hash[:12], o.seed]
    at = int(np.argmin(np.abs(own["steps"] - o.best_step)))
    return [float(own[f"test.{n}.{what}"][at]) for n in o.case.digits.lengths]


def _lengths(case: Case, runs: Sequence[Outcome], curves: Curves, bound: Array) -> tuple[Length, ...]:
    assert case.digits is not None
    errors, right = (np.array([_at_best(o, curves, what) for o in runs]) for what in ("error", "right"))
    rows = []
    for k, length in enumerate(case.digits.lengths):
        solved = [o for o, error in zip(runs, errors[:, k], strict=True) if error < bound[k]]
        own = [curves[o.case.hash[:12], o.seed] for o in solved]
        steps = [first_below(c["steps"], c[f"test.{length}.error"], bound[k]) for c in own]
        rows.append(
            Length(
                length,
                float(bound[k]),
                stats.success_rate(errors[:, k] < bound[k]),
                stats.solved_at([s for s in steps if s is not None]),
                stats.sparsity([o.sparsity for o in solved]),
                tuple(errors[:, k].tolist()),
                tuple(right[:, k].tolist()),
            )
        )
    return tuple(rows)


def published(case: Case, metric: str = "success_rate") -> dict[int, Claim]:
    """What was published of a case by length; of the same case trained for longer or shorter, too."""
    task, unit = FIGURES.get(case.trunk, ("", ""))
    found = [c for c in claims(task, units=(unit,)) if c.metric == metric and c.where.startswith(WHERE)]
    return {int(c.where.removeprefix(WHERE)): c for c in found}


def verdicts(found: Mapping[str, Sequence[Row]]) -> list[Verdict]:
    """Published shares of solved runs, and when they were solved, beside ours at every length."""
    judged = []
    for row in (row for rows in found.values() for row in rows):
        steps = row.case.recipe.steps
        length = f"ours after {steps // row.case.epoch:,} epochs, theirs after 1,000"
        for metric, slack in (("success_rate", 0.0), ("solved_at_mean", _between(row.case))):
            theirs = published(row.case, metric)
            for r in row.lengths:
                ours = r.success if metric == "success_rate" else r.solved_at
                if r.length in theirs and ours.n:
                    claim = theirs[r.length]
                    judged.append(Verdict(claim, ours, word(near(claim, ours, slack)), length))
    return judged


def _between(case: Case) -> float:
    """Steps between evaluations."""
    assert case.digits is not None
    return float(case.digits.every * case.epoch)
