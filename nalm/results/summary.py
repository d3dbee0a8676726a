"""Summaries of many runs of a case: a few numbers, each with its interval."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nalm import stats
from nalm.config import Case
from nalm.config.labels import loss_of, unit_of
from nalm.results.runs import Outcome
from nalm.results.tally import Tally, tallies
from nalm.stats import Interval


@dataclass(frozen=True)
class Summary:
    """The summary of the runs of one case."""

    case: Case
    success: Interval
    solved_at: Interval  # over solved runs
    median: Interval  # of solved-at
    sparsity: Interval  # over solved runs
    formulas: tuple[tuple[str, int], ...]  # the commonest first
    diverged: int
    seconds: float

    def plain(self) -> dict[str, Any]:
        """Return the values as JSON takes them; NaN becomes null."""
        case = self.case
        intervals = {n: _plain(getattr(self, n)) for n in ("success", "solved_at", "median", "sparsity")}
        return {
            "unit": unit_of(case),
            "operation": case.operation,
            "train": str(case.train),
            "test": str(case.test),
            "inputs": case.inputs,
            "case": case.hash,
            "loss": loss_of(case),
            "steps": case.recipe.steps,
            "lr": case.recipe.lr,
            **intervals,
            "formulas": [list(pair) for pair in self.formulas],
            "diverged": self.diverged,
            "seconds": round(self.seconds, 3),
        }


def summarise(outcomes: Sequence[Outcome], counted: Iterable[Tally] = ()) -> list[Summary]:
    """Return one summary per case, in the order in which the cases first appear.

    A case whose runs were ``counted`` with more seeds is summarised from that tally.
    """
    found = {tally.case.hash: tally for tally in tallies(outcomes)}
    for tally in counted:
        if tally.case.hash not in found or tally.runs > found[tally.case.hash].runs:
            found[tally.case.hash] = tally
    return [_summary(tally) for tally in found.values()]


def _summary(tally: Tally) -> Summary:
    return Summary(
        case=tally.case,
        success=tally.success,
        solved_at=stats.solved_at(tally.solved_steps),
        median=stats.median(tally.solved_steps),
        sparsity=tally.sparsity,
        formulas=tally.formulas,
        diverged=tally.diverged,
        seconds=tally.seconds,
    )


def _plain(interval: Interval) -> dict[str, Any]:
    return {n: None if isinstance(v, float) and v != v else v for n, v in asdict(interval).items()}
