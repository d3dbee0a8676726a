"""The runs that a rule about rates, steps or sparsity errors compares: in rows, or counted with more seeds."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from nalm import stats
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import Interval, Mean
from nalm.stats.interval import Array


@dataclass(frozen=True)
class CountedRuns:
    """Runs of one or several cases, each case with the most seeds there are."""

    rows: Sequence[Outcome]  # of all cases
    tallies: Sequence[Tally]  # of the cases of which more runs were counted

    @property
    def uncounted(self) -> list[Outcome]:
        """The rows of the cases without a tally."""
        known = {tally.case.hash for tally in self.tallies}
        return [o for o in self.rows if o.case.hash not in known]

    @property
    def runs(self) -> int:
        """The number of runs."""
        return sum(tally.runs for tally in self.tallies) + len(self.uncounted)

    @property
    def solved(self) -> int:
        """The number of solved runs."""
        return sum(tally.solved for tally in self.tallies) + sum(o.solved for o in self.uncounted)

    @property
    def ranges(self) -> int:
        """The number of training ranges."""
        return len({str(o.case.train) for o in self.rows})

    @property
    def steps(self) -> Array:
        """The steps at which the solved runs were solved."""
        alone = [o.solved_at for o in self.uncounted if o.solved and o.solved_at is not None]
        return np.concatenate([*(tally.solved_steps for tally in self.tallies), alone]).astype(np.float64)

    @property
    def sparsity(self) -> tuple[Interval, Mean]:
        """The mean sparsity error of the solved runs, as the papers compute it, and with its standard error.

        Tallies of several cases cannot be joined for the former, so then the rows are taken.
        """
        if len(self.tallies) != 1 or self.uncounted:
            return sparsity_of([o.sparsity for o in self.rows if o.solved])
        (tally,) = self.tallies
        n = tally.sparsity.n
        error = tally.sparsity_sd / sqrt(n) if n else tally.sparsity_sd
        return tally.sparsity_published, Mean(tally.sparsity.estimate, error, n)


def sparsity_of(errors: Sequence[float]) -> tuple[Interval, Mean]:
    """Return the mean sparsity error as the papers compute it, and with its standard error."""
    return stats.sparsity_published(errors), stats.mean_of(np.minimum(errors, 0.5))
