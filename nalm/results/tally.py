"""The runs of a case in counts and quantiles: all that is kept of a thousand seeds."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nalm import stats
from nalm.config import Case
from nalm.errors import NALMError
from nalm.results.runs import Outcome
from nalm.stats import Interval

LEVELS = (0, 5, 25, 50, 75, 95, 100)  # percent
ERRORS = ("validation", "test", "sparsity")  # sparsity errors are those of the solved runs


@dataclass(frozen=True)
class Spread:
    """Quantiles of an error over runs: values of runs, not means of two. NaN counts as infinite."""

    quantiles: tuple[float, ...]  # at LEVELS; empty without runs
    median: Interval

    @classmethod
    def of(cls, values: npt.ArrayLike) -> "Spread":
        """Compute the quantiles of values.

        >>> Spread.of([3.0, 1.0, 2.0, float("nan")]).quantiles
        (1.0, 1.0, 1.0, 2.0, 3.0, inf, inf)
        """
        x = np.asarray(values, dtype=np.float64)
        x = np.sort(np.where(np.isnan(x), math.inf, x))
        ranks = [max(math.ceil(level / 100 * len(x)), 1) - 1 for level in LEVELS] if len(x) else []
        return cls(tuple(float(x[rank]) for rank in ranks), stats.median(x))


@dataclass(frozen=True)
class Tally:
    """Counts and quantiles over the runs of one case."""

    case: Case
    seeds: tuple[tuple[int, int], ...]  # spans (first, end); end is not included
    runs: int
    solved: int
    diverged: int
    not_finite: int  # runs whose test error is not a finite number
    solved_at: Mapping[int, int]  # how many solved runs were solved at each step
    errors: Mapping[str, Spread]  # by name: see ERRORS
    sparsity: Interval  # mean over solved runs; an error above 0.5 counts as 0.5
    sparsity_sd: float  # of the same errors; NaN of fewer than two
    sparsity_published: Interval  # the same as the papers compute it
    thresholds: tuple[float, float]  # the lowest and the highest
    formulas: tuple[tuple[str, int], ...]  # the commonest first
    steps: int  # run-steps
    seconds: float
    solved_seeds: tuple[int, ...] | None = None  # None in tables that were written without them

    @classmethod
    def of(cls, runs: Sequence[Outcome]) -> "Tally":
        """Count the runs of one case."""
        if not runs:
            raise NALMError("There is nothing to count without a run: give the finished runs of one case.")
        solved = [o for o in runs if o.solved]
        values = {"validation": runs, "test": runs, "sparsity": solved}
        spreads = {name: Spread.of([getattr(o, name) for o in values[name]]) for name in ERRORS}
        sparse = [o.sparsity for o in solved]
        limits = [o.threshold for o in runs]
        return cls(
            case=runs[0].case,
            seeds=spans(o.seed for o in runs),
            runs=len(runs),
            solved=len(solved),
            diverged=sum(o.outcome == "diverged" for o in runs),
            not_finite=sum(not math.isfinite(o.test) for o in runs),
            solved_at=dict(sorted(Counter(o.solved_at for o in solved if o.solved_at is not None).items())),
            errors=spreads,
            sparsity=stats.sparsity(sparse),
            sparsity_sd=float(np.minimum(sparse, 0.5).std(ddof=1)) if len(sparse) > 1 else math.nan,
            sparsity_published=stats.sparsity_published(sparse),
            thresholds=(min(limits), max(limits)),
            formulas=tuple(Counter(o.formula for o in runs).most_common()),
            steps=sum(o.steps for o in runs),
            seconds=sum(o.seconds for o in runs),
            solved_seeds=tuple(sorted(o.seed for o in solved)),
        )

    @property
    def by_seed(self) -> dict[int, bool]:
        """Return the seeds that were run and if each is solved; empty if that is not known."""
        if self.solved_seeds is None:
            return {}
        return {s: False for span in self.seeds for s in range(*span)} | dict.fromkeys(
            self.solved_seeds, True
        )

    @property
    def success(self) -> Interval:
        """The share of solved runs, with Wilson's interval."""
        return stats.wilson(self.solved, self.runs)

    @property
    def solved_steps(self) -> npt.NDArray[np.int64]:
        """The step at which each solved run was solved, in order."""
        return np.repeat(list(self.solved_at), list(self.solved_at.values())).astype(np.int64)


def tallies(outcomes: Iterable[Outcome]) -> list[Tally]:
    """Return one tally per case, in the order in which the cases first appear."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.case.hash, []).append(outcome)
    return [Tally.of(runs) for runs in groups.values()]


def spans(seeds: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return the spans (first, end) that cover these seeds; the end is not included.

    >>> spans([0, 1, 2, 7, 8])
    ((0, 3), (7, 9))
    """
    found: list[tuple[int, int]] = []
    for seed in sorted(seeds):
        if found and found[-1][1] == seed:
            found[-1] = found[-1][0], seed + 1
        else:
            found.append((seed, seed + 1))
    return tuple(found)
