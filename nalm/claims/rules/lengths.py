"""Networks on sequences, length by length: solved where they are as good as one whose arithmetic is given (spec 16).

For every length the limit is a one-sided upper bound of the mean error of reference runs, each taken where its
validation error is lowest. The published code takes the quantile at 8 degrees of freedom however many runs are left; it
leaves out by hand the references that did not learn their digits, and here those whose own threshold was not reached.
"""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.stats

from nalm import stats
from nalm.claims import Verdict
from nalm.claims.rules.images import told
from nalm.config import Case, Claim, Task
from nalm.config.labels import labels, places
from nalm.errors import NALMError
from nalm.experiments.mnist.colour import FIGURES
from nalm.experiments.mnist.two_digits import EPOCHS
from nalm.experiments.published import claims
from nalm.results.runs import Outcome
from nalm.stats import Interval

Array = npt.NDArray[np.float64]
Curves = Mapping[tuple[str, int], Mapping[str, Array]]  # by the first 12 letters of a case and the seed
LEVEL, DEGREES = 0.99, 8
REFERENCE = "Accumulator"
WHERE = "length="
WITHOUT = "By length there is nothing yet: it takes references (unit=Accumulator) of as many epochs that read digits."
PIXEL = 1e-5  # sparsity errors were read off a figure, in which 0 is 6e-6
METRICS = ("success_rate", "solved_at_mean", "sparsity_error_mean")


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
class Kind:
    """What runs share that are measured by the same references: the question, the images, how long they trained."""

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
    """One case at every length; ``between`` are the steps between two evaluations that are known of."""

    case: Case
    name: str
    lengths: tuple[Length, ...]
    between: float

    @property
    def epochs(self) -> int:
        """How long it was trained."""
        return self.case.recipe.steps // self.case.epoch


def of_sequences(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The runs that read sequences."""
    return [o for o in outcomes if o.case.task.lengths]


def by_length(outcomes: Iterable[Outcome], curves: Curves) -> dict[Kind, list[Row]]:
    """By kind one row for every case, the references first; nothing where no reference has learnt its digits."""
    runs = [o for o in of_sequences(outcomes) if (o.case.key, o.seed) in curves]
    groups: dict[Case, list[Outcome]] = {}
    for o in runs:
        groups.setdefault(o.case, []).append(o)
    found: dict[Kind, list[Row]] = {}
    names = named(groups)
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
    """What kinds are called: by their operation, and how long they were trained where this differs."""
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
    """Whether a case's arithmetic is given."""
    return case.model[0].unit == REFERENCE


def named(cases: Iterable[Case]) -> dict[Case, str]:
    """What cases are called in a table of lengths: their labels, with their penalties where these do not differ."""
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
    """What was published of a case by length; of the same case trained for longer or shorter, too."""
    task, unit = FIGURES.get(case.trunk, ("", ""))
    found = [c for c in claims(task, units=(unit,)) if c.metric == metric and c.where.startswith(WHERE)]
    return {int(c.where.removeprefix(WHERE)): c for c in found}


def verdicts(found: Mapping[Kind, Sequence[Row]]) -> list[Verdict]:
    """Published shares of solved runs, when they were solved and how sparse, beside our longest training."""
    longest: dict[Case, Row] = {}
    for row in (row for rows in found.values() for row in rows):
        before = longest.get(row.case.trunk)
        if before is None or before.case.recipe.steps < row.case.recipe.steps:
            longest[row.case.trunk] = row
    judged = []
    for row, metric in itertools.product(longest.values(), METRICS):
        theirs = published(row.case, metric)
        judged += [judge(theirs[at.length], row, at) for at in row.lengths if at.length in theirs]
    return judged


def judge(claim: Claim, row: Row, at: Length) -> Verdict:
    """One published number beside ours at the same length of sequences, with the intervals of the papers."""
    runs = f"{at.success.n} run{'s' * (at.success.n > 1)}"
    epochs = row.epochs, EPOCHS
    if claim.metric == "success_rate":
        return Verdict(claim, *told(claim, at.success, epochs, runs))
    if not at.solved_at:
        return Verdict(claim, None, "not comparable", "no solved run of ours")
    solved = f"{len(at.solved_at)} solved of {runs}"
    if claim.metric == "solved_at_mean":
        ours, slack = stats.solved_at_published(at.solved_at), row.between
        words = f"{solved}, evaluated every {slack:,.0f} steps"
    else:
        ours, slack = stats.sparsity_published(at.sparsity), PIXEL
        words = f"{solved}, equal below {PIXEL:g}"
    return Verdict(claim, *told(claim, ours, epochs, words, math.inf, slack))
