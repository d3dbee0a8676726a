"""Runs that read images, from start to end: epochs between evaluations, several runs side by side."""

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.config import Case
from nalm.engine.device import check_precision
from nalm.engine.images.convolutions import fastest
from nalm.engine.images.layouts import LAYOUTS
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.readers import Pair
from nalm.engine.images.together import Together
from nalm.engine.images.trained import Trained
from nalm.engine.plan import Run
from nalm.results.runs import Runs


class Batch:
    """Members at the same step that are trained as one."""

    def __init__(self, members: Sequence[Trained], compiled: bool):
        self.members = members
        program = members[0].member.program
        name = fastest(program.device.type, program.precise)
        self.together = Together([m.member for m in members], name, compiled)

    @property
    def finished(self) -> bool:
        """True if nothing is left to train."""
        return all(m.finished for m in self.members)

    @property
    def mode(self) -> str:
        """The way in which steps are run."""
        return self.members[0].member.program.words(bool(self.together.compiler.proven))

    def advance(self) -> None:
        """Evaluate if it is due, then take some steps of all members."""
        self._evaluate()
        if self.finished:
            return
        first = self.members[0]
        if self.together.epoch != first.epoch:
            self.together.shuffle(first.epoch)
        loss, count = first.turn()
        for _ in range(count):
            self.together.advance(loss)
        for m in self.members:
            m.at += count
        if first.at == first.run.case.recipe.steps:
            self._evaluate()

    def _evaluate(self) -> None:
        """Evaluate all members if one is due, and record those that are: one may have been saved before, one after."""
        due = [m for m in self.members if m.due]
        if due:
            self.together.evaluate()
            found = self.together.fetch()
            for m in due:
                m.record(found[m.member])


class ImageTrainer:
    """Trains some runs of one program side by side; it can be stopped after any turn and continued exactly."""

    def __init__(
        self,
        runs: Sequence[Run],
        device: torch.device,
        *,
        compiled: bool = True,
        data: str = "",
        precision: str = "",
    ):
        check_precision(precision)
        self.compiled = compiled
        programs = {
            case: ImageProgram(case, data, device, compiled, precision)
            for case in dict.fromkeys(run.case for run in runs)
        }
        self.members = [Trained(run, Member(programs[run.case], run.seed)) for run in runs]
        self.batches: list[Batch] = []  # made by the first advance, when it is known how far each member is

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
            [bool(m.steps) and m.error(m.means[-1]) < m.run.case.threshold.value for m in self.members]
        )

    def advance(self) -> None:
        """Evaluate those that are due, then some steps of each that is not finished."""
        started = time.perf_counter()
        if isinstance(self.members[0].member.program.network, Pair):
            self._advance_batch(started)
            return
        self._evaluate()
        active = [m for m in self.members if not m.finished]
        for m in active:
            m.advance()
        self._evaluate([m for m in active if m.at == m.run.case.recipe.steps])
        for m in active:
            m.seconds += (time.perf_counter() - started) / len(active)

    def _advance_batch(self, started: float) -> None:
        """Advance the first batch that is not finished; members that began at different steps are different batches."""
        if not self.batches:
            steps = dict.fromkeys(m.at for m in self.members)
            self.batches = [Batch([m for m in self.members if m.at == at], self.compiled) for at in steps]
        batch = next(b for b in self.batches if not b.finished)
        batch.advance()
        for m in batch.members:
            m.seconds += (time.perf_counter() - started) / len(batch.members)

    def _evaluate(self, among: Sequence[Trained] | None = None) -> None:
        due = [m for m in (self.members if among is None else among) if m.due]
        for m in due:
            m.member.evaluate()
        for m in due:
            m.record(m.member.fetch())

    def state(self) -> dict[str, Tensor]:
        """Return every run's network as named tensors, the runs by their number here."""
        return {
            f"{i}.{name}": t.contiguous() for i, m in enumerate(self.members) for name, t in m.state().items()
        }

    def final_state(self) -> dict[str, Tensor]:
        """Return the state: a longer training goes on from it."""
        return self.state()

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Continue from a state, with those of its networks that are not trained further than wanted."""
        for i, m in enumerate(self.members):
            own = {n.removeprefix(f"{i}."): t for n, t in tensors.items() if n.startswith(f"{i}.")}
            if own and not (own.get("at", torch.zeros(())) > m.run.case.recipe.steps).any():
                m.restore(own)

    def _mode(self, member: Trained) -> str:
        """Return the way in which a member was trained."""
        found = [b for b in self.batches if member in b.members]
        return found[0].mode if found else member.member.program.mode

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
            modes=[self._mode(m) for m in members],
            device=str(members[0].member.program.device),
            resets=[0] * len(members),
            marks=[m.mark() for m in members],
            records=[m.records() for m in members],
        )
