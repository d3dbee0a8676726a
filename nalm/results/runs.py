"""Results of training: ``Runs`` with the curves of many runs, and ``Outcome`` with the key numbers of one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from nalm.config import Case

Array = npt.NDArray[np.float64]
SHOWN = 20  # cases that a printed result lists


@dataclass(frozen=True)
class Outcome:
    """The key numbers of one run: how it ended, when it was solved, and what it cost."""

    case: Case
    seed: int
    outcome: str  # solved, unsolved or diverged
    solved_at: int | None  # the first evaluated step below the threshold, solved in the end or not
    best_step: int  # where the validation error was lowest; the next three are read there
    validation: float
    test: float
    sparsity: float
    threshold: float
    steps: int
    resets: int
    formula: str
    seconds: float
    mode: str
    device: str
    neighbours: int  # runs in the population it was trained with
    version: str = ""
    # measured at the end, as the case requests
    measures: dict[str, float] = field(default_factory=dict, hash=False)

    @property
    def solved(self) -> bool:
        """True if the run counts as a success."""
        return self.outcome == "solved"


@dataclass(frozen=True)
class Mark:
    """The evaluation with the lowest validation error, its errors, and the first step with a solved test error."""

    best_step: int
    validation: float
    test: float
    sparsity: float
    solved_at: int | None


@dataclass(repr=False)
class Runs:
    """Curves and outcomes of runs; row i is ``cases[i]`` with ``seeds[i]``."""

    cases: list[Case]
    seeds: list[int]
    steps: list[npt.NDArray[np.int64]]  # per run, the steps at which it was evaluated
    validation: list[Array]
    test: list[Array]
    sparsity: list[Array]
    weights: list[dict[str, Array]]  # effective weights at the end
    trajectories: list[dict[str, Array]]  # the same at every evaluation, for small models
    formulas: list[str]  # of the snapped weights; empty where there is no formula
    thresholds: list[float]
    seconds: list[float]  # a run's share of the time its population took
    modes: list[str]  # eager, compiled or captured
    device: str = "cpu"
    resets: list[int] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)  # from every evaluation, also if curves were thinned
    # measured at the end, as the cases request
    measures: list[dict[str, float]] = field(default_factory=list)
    records: list[dict[str, Array]] = field(default_factory=list)  # other measurements by name

    def __post_init__(self) -> None:
        self.measures = self.measures or [{} for _ in self.cases]
        if not self.marks:
            columns = (self.cases, self.steps, self.validation, self.test, self.sparsity, self.thresholds)
            self.marks = [mark(*row) for row in zip(*columns, strict=True)]
        self.records = self.records or [{} for _ in self.cases]

    def __len__(self) -> int:
        return len(self.cases)

    def __repr__(self) -> str:
        """Return a line for each case: how many runs are solved, their commonest formula, the median test error."""
        lines = [f"{len(self)} runs on {self.device}"]
        for case in list(dict.fromkeys(self.cases))[:SHOWN]:
            own = self.of(case)
            common = Counter(formula for formula in own.formulas if formula).most_common(1)
            said = "".join(f", {text} from {count}" for text, count in common)
            error = float(np.median([m.test for m in own.marks]))
            lines.append(
                f"  {case.name}: {own.solved.sum()} of {len(own)} solved{said}, median test error {error:.2g}"
            )
        more = len(set(self.cases)) - SHOWN
        return "\n".join([*lines, *([f"  ... and {more} more cases"] if more > 0 else [])])

    @property
    def solved(self) -> npt.NDArray[np.bool_]:
        """True if the test error at the best evaluation is below the threshold."""
        return np.array([m.test < limit for m, limit in zip(self.marks, self.thresholds, strict=True)], bool)

    @property
    def solved_at(self) -> list[int | None]:
        """The first evaluated step at which the test error was below the threshold."""
        return [m.solved_at for m in self.marks]

    @property
    def sparsity_error(self) -> Array:
        """The sparsity error at the best evaluation."""
        return np.array([m.sparsity for m in self.marks])

    @property
    def outcomes(self) -> list[str]:
        """solved, unsolved, or diverged when the run ended in something that is not a number."""
        words = []
        for solved, test, weights in zip(self.solved, self.test, self.weights, strict=True):
            finite = np.isfinite(test[-1]) and all(np.isfinite(w).all() for w in weights.values())
            words.append("solved" if solved else "unsolved" if finite else "diverged")
        return words

    def lines(self) -> list[Outcome]:
        """Return the outcome of every run."""
        return [
            Outcome(
                case=self.cases[i],
                seed=self.seeds[i],
                outcome=outcome,
                **vars(mark),
                threshold=self.thresholds[i],
                steps=int(self.steps[i][-1]),
                resets=self.resets[i],
                formula=self.formulas[i],
                seconds=self.seconds[i],
                mode=self.modes[i],
                device=self.device,
                neighbours=len(self),
                measures=self.measures[i],
            )
            for i, (mark, outcome) in enumerate(zip(self.marks, self.outcomes, strict=True))
        ]

    def of(self, case: Case) -> "Runs":
        """Return the runs of one case."""
        return self.take([i for i, other in enumerate(self.cases) if other == case])

    def take(self, which: Sequence[int]) -> "Runs":
        """Return the runs with these indices, in this order."""
        fields = ("cases", "seeds", "steps", "validation", "test", "sparsity", "weights", "trajectories")
        fields += ("formulas", "thresholds", "seconds", "modes", "resets", "marks", "measures", "records")  # type: ignore[assignment]
        return Runs(**{name: [getattr(self, name)[i] for i in which] for name in fields}, device=self.device)


def best(validation: Array) -> int:
    """Return the index of the lowest validation error, ignoring NaN; the last index if none is finite."""
    return int(np.nanargmin(validation)) if np.isfinite(validation).any() else len(validation) - 1


LATE = 10  # last evaluations, from which the one with the lowest training error is chosen


def judged(case: Case, validation: Array) -> int:
    """Return the evaluation that counts: the lowest validation error, or for images the one that the case chooses."""
    chosen = case.task.chosen
    if chosen == "validation":
        return best(validation)
    late = max(0, len(validation) - LATE) if chosen == "train" else len(validation) - 1
    return late + int(np.argmin(validation[late:]))


def mark(
    case: Case, steps: Sequence[int], validation: Array, test: Array, sparsity: Sequence[float], limit: float
) -> Mark:
    """Return the evaluation that counts of a run, with its errors, and the first step below the threshold."""
    at, low = judged(case, validation), test < limit
    first = int(steps[int(np.argmax(low))]) if low.any() else None
    return Mark(int(steps[at]), float(validation[at]), float(test[at]), float(sparsity[at]), first)


def joined(parts: Sequence[tuple[list[int], Runs]]) -> Runs:
    """Join several tables into one; each part lists the indices of its rows in the result."""
    order = sorted((place, i, row) for i, (places, _) in enumerate(parts) for row, place in enumerate(places))
    single = [parts[i][1].take([row]) for _, i, row in order]
    first = single[0]
    for other in single[1:]:
        for name in vars(first):
            if isinstance(getattr(first, name), list):
                getattr(first, name).extend(getattr(other, name))
    return first
