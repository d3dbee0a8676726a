"""The records of a population in training: best evaluations, and curves that are thinned so that they stay small."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.results.runs import Mark

MOST = 200  # evaluations of a curve that are kept; then every second goes, and every second from there on
SMALL = 64  # effective weights per run up to which their trajectory is kept
CURVES = ("validation", "test", "sparsity")

Tensors = dict[str, Tensor]


class Records:
    """Curves and trajectories at some evaluations, the first and the latest always among them.

    Where the validation error is lowest, and when a run is first solved, is followed at every evaluation.
    ``whole`` keeps every evaluation, for rules that look back.
    """

    def __init__(self, thresholds: Sequence[float], whole: bool):
        self.whole = whole
        self.limits = torch.tensor(thresholds, dtype=torch.float64)
        self.steps: list[int] = []
        self.places: list[int] = []  # which evaluation each is, counted from 0
        self.stride = 1  # between evaluations that are kept
        self.curves: dict[str, list[Tensor]] = {name: [] for name in CURVES}
        self.trajectories: dict[str, list[Tensor]] = {}
        runs = len(thresholds)
        self.best = {name: torch.full((runs,), torch.inf, dtype=torch.float64) for name in CURVES}
        self.best_step, self.solved_at = (torch.full((runs,), -1, dtype=torch.int64) for _ in range(2))

    def add(self, step: int, found: Tensors, weights: Tensors) -> None:
        """Record one evaluation of every run: validation and test error, sparsity error, and the effective weights."""
        place = self.places[-1] + 1 if self.places else 0
        if self.places and self.places[-1] % self.stride:
            self._keep(range(len(self.places) - 1))
        values = {name: found[name].double().cpu() for name in CURVES}
        for name in CURVES:
            self.curves[name].append(values[name])
        if sum(w[0].numel() for w in weights.values()) <= SMALL:
            for name, w in weights.items():
                self.trajectories.setdefault(name, []).append(w.float().cpu().clone())
        self.steps.append(step)
        self.places.append(place)
        self._mark(step, values)
        if len(self.steps) > MOST and not self.whole:
            self.stride *= 2
            self._keep([i for i, p in enumerate(self.places) if p % self.stride == 0 or p == place])

    def _mark(self, step: int, values: Tensors) -> None:
        """Update the best evaluation (the latest until an error is finite) and the first that is solved."""
        before = self.best["validation"]
        better = (values["validation"] < before) | ~before.isfinite()
        self.best = {name: torch.where(better, values[name], self.best[name]) for name in CURVES}
        self.best_step = torch.where(better, step, self.best_step)
        first = (values["test"] < self.limits) & (self.solved_at < 0)
        self.solved_at = torch.where(first, step, self.solved_at)

    def _keep(self, which: Sequence[int]) -> None:
        self.steps, self.places = [self.steps[i] for i in which], [self.places[i] for i in which]
        for lists in (self.curves, self.trajectories):
            for name, values in lists.items():
                lists[name] = [values[i] for i in which]

    def marks(self) -> list[Mark]:
        """Return the best evaluation of every run, and when it was first solved."""
        columns = [self.best_step, *(self.best[name] for name in CURVES), self.solved_at]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [Mark(step, v, t, s, None if at < 0 else at) for step, v, t, s, at in rows]

    def state(self) -> Tensors:
        """Return everything as named tensors."""
        tensors = {f"curves.{n}": torch.stack(c) for n, c in self.curves.items() if c}
        tensors |= {f"trajectories.{n}": torch.stack(c) for n, c in self.trajectories.items()}
        tensors |= {f"best.{n}": value for n, value in self.best.items()}
        tensors |= {"best.step": self.best_step, "best.solved_at": self.solved_at}
        numbers = {"steps": self.steps, "places": self.places, "stride": self.stride}
        return tensors | {name: torch.tensor(value) for name, value in numbers.items()}

    def restore(self, tensors: Tensors) -> None:
        """Restore what ``state`` returned."""
        self.steps, self.places = tensors["steps"].tolist(), tensors["places"].tolist()
        self.stride = int(tensors["stride"])
        self.curves = {n: list(tensors[f"curves.{n}"].unbind(0)) if self.steps else [] for n in CURVES}
        paths = {
            n.removeprefix("trajectories."): t for n, t in tensors.items() if n.startswith("trajectories.")
        }
        self.trajectories = {n: list(t.unbind(0)) for n, t in paths.items()}
        self.best = {n: tensors[f"best.{n}"] for n in CURVES}
        self.best_step, self.solved_at = tensors["best.step"], tensors["best.solved_at"]


def rising(numbers: Tensor) -> bool:
    """Return whether these are whole numbers from 0 upwards, each larger than the one before."""
    if numbers.ndim != 1:
        return False
    whole = not numbers.is_floating_point() or not len(numbers)
    return whole and bool((numbers.diff() > 0).all()) and bool((numbers[:1] >= 0).all())
