"""Runs that read images, from start to end: epochs between evaluations, several runs side by side."""

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.config import Case
from nalm.engine.images.layouts import LAYOUTS
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.trained import Trained
from nalm.engine.plan import Run
from nalm.results.runs import Runs


class ImageTrainer:
    """Trains some runs of one program side by side; it can be stopped after any turn and continued exactly."""

    def __init__(self, runs: Sequence[Run], device: torch.device, *, compiled: bool = True, data: str = ""):
        self.program = ImageProgram(runs[0].case, data, device, compiled)
        self.members = [Trained(run, Member(self.program, run.seed)) for run in runs]

    @staticmethod
    def check(case: Case) -> None:
        """Refuse a cell that does not fit the images it has to read."""
        LAYOUTS[type(case.task)].check(case)

    @staticmethod
    def was_compiled(mode: str) -> bool:
        """Return whether a run with this mode was compiled; graphs are captured of either."""
        return "compiled" in mode

    @property
    def at(self) -> int:
        """The number of steps that the runs have taken on average."""
        return sum(m.at for m in self.members) // len(self.members)

    @property
    def finished(self) -> bool:
        """True if nothing is left to train."""
        return all(m.finished for m in self.members)

    def solved_now(self) -> np.ndarray:
        """Return which runs are below their threshold at the last evaluation."""
        return np.array(
            [bool(m.steps) and m.errors(True)[-1] < m.run.case.threshold.value for m in self.members]
        )

    def advance(self) -> None:
        """Evaluate those that are due, then some steps of each that is not finished."""
        started = time.perf_counter()
        self._evaluate()
        active = [m for m in self.members if not m.finished]
        for m in active:
            m.advance()
        self._evaluate([m for m in active if m.at == m.run.case.recipe.steps])
        for m in active:
            m.seconds += (time.perf_counter() - started) / len(active)

    def _evaluate(self, among: Sequence[Trained] | None = None) -> None:
        due = [m for m in (self.members if among is None else among) if m.due]
        for m in due:
            m.member.evaluate()
        for m in due:
            m.record()

    def state(self) -> dict[str, Tensor]:
        """Return every run's network as named tensors, the runs by their number here."""
        return {
            f"{i}.{name}": t.contiguous() for i, m in enumerate(self.members) for name, t in m.state().items()
        }

    def final_state(self) -> dict[str, Tensor]:
        """Return the state: a longer training goes on from it."""
        return self.state()

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Go on from a state, with those of its networks that are no further than wanted."""
        for i, m in enumerate(self.members):
            own = {n.removeprefix(f"{i}."): t for n, t in tensors.items() if n.startswith(f"{i}.")}
            if own and not (own.get("at", torch.zeros(())) > m.run.case.recipe.steps).any():
                m.restore(own)

    def results(self) -> Runs:
        """Return what was recorded, as plain arrays."""
        members = self.members
        names = [
            {n: np.stack([w[n].double().numpy() for w in m.weights]) for n in m.weights[0]} for m in members
        ]
        return Runs(
            cases=[m.run.case for m in members],
            seeds=[m.run.seed for m in members],
            steps=[np.array(m.steps) for m in members],
            validation=[m.errors(False) for m in members],
            test=[m.errors(True) for m in members],
            sparsity=[np.array(m.sparsity) for m in members],
            weights=[{n: path[-1] for n, path in paths.items()} for paths in names],
            trajectories=names,
            formulas=[m.formula() for m in members],
            thresholds=[m.run.case.threshold.value for m in members],
            seconds=[m.seconds for m in members],
            modes=[self.program.mode] * len(members),
            device=str(self.program.device),
            resets=[0] * len(members),
            marks=[m.mark() for m in members],
            records=[m.records() for m in members],
        )
