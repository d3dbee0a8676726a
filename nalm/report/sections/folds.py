"""The folds of one case on two digits: accuracies, confusions and paths of weights, for the section two_digits."""

import numpy as np
import numpy.typing as npt

from nalm import stats
from nalm.config import Case
from nalm.report.study import Study
from nalm.results.runs import Outcome
from nalm.stats import Interval

Array = npt.NDArray[np.float64]
FOLD = 2  # its confusions are in Mistry 2023; the first fold is used where it is missing
FEW = 3  # wrongly read digits that are named; of more, their number is told
WEIGHTS = ("0.weight[0]", "0.weight[1]")


class Folds:
    """The runs of one case with their curves."""

    def __init__(self, study: Study, case: Case, name: str):
        self.case, self.name, self.exact = case, name, case.task.exact
        key = case.key
        found = [(o, study.curves.get((key, o.seed), {})) for o in study.runs[key]]
        self.runs = [(o, c) for o, c in found if "test.output.strict" in c]

    def right(self, which: str, part: str, sense: str = "") -> list[float]:
        """Return the percentage that was right in a set at the judged epoch, for each fold."""
        return [100 * float(self._curve(c, which, part, sense)[_at(o, c)]) for o, c in self.runs]

    def _curve(self, curves: dict[str, Array], which: str, part: str, sense: str = "") -> Array:
        usual = "rounded" if self.exact == "decimals" and part != "output" else self.exact
        return curves[f"{which}.{part}.{sense or usual}"]

    def mean(self, which: str, part: str, sense: str = "") -> Interval:
        """Return the mean over folds with Student's interval; the default sense of right is the case's own."""
        return stats.mean(self.right(which, part, sense), 0.0, 100.0)

    def epochs(self, part: str) -> tuple[list[float], list[Interval]]:
        """Return the means over folds of the test at every stored epoch, up to the shortest fold's last."""
        length = min(len(c["steps"]) for _, c in self.runs)
        values = np.array([100 * self._curve(c, "test", part)[:length] for _, c in self.runs])
        at = self.runs[0][1]["steps"][:length] / self.case.epoch
        return [float(v) for v in at], [stats.mean(column, 0.0, 100.0) for column in values.T]

    def confusion(self) -> tuple[int, Array]:
        """Return a fold, and how often a digit (row) was read as another (column), counting both images."""
        o, curves = next(((o, c) for o, c in self.runs if o.seed == FOLD), self.runs[0])
        return o.seed, curves["test.confusion"].reshape(2, 10, 10).sum(0)

    def missed(self) -> list[str]:
        """Return texts, by fold: which digits are read wrongly in most test images, and as which digit."""
        told = []
        for o, curves in self.runs:
            counts = curves["test.confusion"].reshape(2, 10, 10).sum(0)
            wrong = [d for d in range(10) if counts[d].sum() > 2 * counts[d, d]]
            words = [f"{d} as {counts[d].argmax()}" for d in wrong]
            if len(wrong) > FEW:
                words = [f"{len(wrong)} of {np.count_nonzero(counts.sum(1))} digits"]
            if wrong:
                told.append(f"{self.name}, fold {o.seed}: {', '.join(words)}")
        return told

    def paths(self) -> list[tuple[int, Array, Array]]:
        """Return seed and path of the two weights of every fold while they are finite; none for other layers."""
        few = [(o.seed, c) for o, c in self.runs if all(w in c for w in WEIGHTS) and "0.weight[2]" not in c]
        paths = [(seed, np.stack([c[w] for w in WEIGHTS])) for seed, c in few]
        kept = [(seed, path[:, np.isfinite(path).all(0)]) for seed, path in paths]
        return [(seed, path[0], path[1]) for seed, path in kept if path.size]


def _at(o: Outcome, curves: dict[str, Array]) -> int:
    """Return the index of the judged evaluation among the stored ones."""
    return int(np.argmin(np.abs(curves["steps"] - o.best_step)))
