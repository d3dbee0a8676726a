"""Summaries of many runs of a case: a few numbers, each with its interval."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from nalm import stats
from nalm.config import Case
from nalm.config.labels import loss_of, unit_of
from nalm.results.runs import Outcome
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


def summarise(outcomes: Sequence[Outcome]) -> list[Summary]:
    """Return one summary per case, in the order in which the cases first appear."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.case.hash, []).append(outcome)
    return [_summary(runs[0].case, runs) for runs in groups.values()]


def _summary(case: Case, runs: Sequence[Outcome]) -> Summary:
    solved = [o for o in runs if o.solved]
    steps = [o.solved_at for o in solved if o.solved_at is not None]
    return Summary(
        case=case,
        success=stats.success_rate([o.solved for o in runs]),
        solved_at=stats.solved_at(steps),
        median=stats.median(steps),
        sparsity=stats.sparsity([o.sparsity for o in solved]),
        formulas=tuple(Counter(o.formula for o in runs).most_common()),
        diverged=sum(o.outcome == "diverged" for o in runs),
        seconds=sum(o.seconds for o in runs),
    )


def _plain(interval: Interval) -> dict[str, Any]:
    return {n: None if isinstance(v, float) and v != v else v for n, v in asdict(interval).items()}
