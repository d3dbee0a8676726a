"""The trainer of tasks on numbers: blocks of steps between evaluations, and the records of these."""

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.config import Case
from nalm.engine.measures import counted, grid_errors
from nalm.engine.model import Tensors
from nalm.engine.numbers import inalu, schloer
from nalm.engine.numbers.evaluation import EVERY
from nalm.engine.numbers.formulas import formulas
from nalm.engine.numbers.program import Program
from nalm.engine.numbers.thresholds import thresholds
from nalm.engine.plan import Run
from nalm.engine.records import Records, rising
from nalm.errors import NALMError
from nalm.results.runs import Runs

RECORDED = ("curves", "trajectories", "steps", "places", "epochs")  # parts of a state that grow


class NumberTrainer:
    """Trains one population; it can be stopped after any block, saved, and continued exactly."""

    def __init__(
        self,
        runs: Sequence[Run],
        device: torch.device,
        *,
        compiled: bool = True,
        data: str = "",
        precision: str = "",
    ):
        self.program = Program(runs, device, compiled)
        self.case = runs[0].case
        self.at = 0
        self.thresholds = thresholds(self.program)
        self.records = Records(self.thresholds, whole=self.case.recipe.inalu)
        self.resets = torch.zeros(len(runs), dtype=torch.int64)
        self.since = torch.zeros(len(runs), dtype=torch.int64)  # evaluation at which a run last started
        self.losses = schloer.Losses()
        self.seconds = 0.0

    @staticmethod
    def check(case: Case) -> None:
        """Accept every case: all cases on numbers can be trained."""

    @staticmethod
    def was_compiled(mode: str) -> bool:
        """Return whether a run with this mode was compiled; graphs are captured of compiled steps only."""
        return mode != "eager"

    @property
    def steps(self) -> list[int]:
        """The evaluated steps that are kept; the last is the latest."""
        return self.records.steps

    @property
    def curves(self) -> dict[str, list[Tensor]]:
        """Errors (runs,) at these steps."""
        return self.records.curves

    @property
    def finished(self) -> bool:
        """True if nothing is left to train."""
        if self.steps and self.steps[-1] >= self.case.recipe.steps:
            return True
        return self.case.recipe.stop_when_solved and bool(self.steps) and bool(self.solved_now().all())

    def solved_now(self) -> np.ndarray:
        """Return which runs are below their threshold at the last evaluation."""
        result: np.ndarray = self.curves["test"][-1].cpu().numpy() < np.array(self.thresholds)
        return result

    def advance(self) -> None:
        """Evaluate, then train to the next evaluation; at the end, evaluate only."""
        started = time.perf_counter()
        if not self.steps or self.steps[-1] != self.at:
            self._record()
            self._rules()
        steps = min(EVERY, self.case.recipe.steps - self.at)
        recipe = self.case.recipe
        if recipe.then and self.at < recipe.switch:
            steps = min(steps, recipe.switch - self.at)
        if steps and not self.finished:
            self.program.advance(
                steps, recipe.then if recipe.then and self.at >= recipe.switch else recipe.loss
            )
            self.at += steps
        if self.at == recipe.steps and self.steps[-1] != self.at:
            self._record()
        self.seconds += time.perf_counter() - started

    def _record(self) -> None:
        validation, test = self.program.evaluate()
        sparsity, meaning = self.program.look()
        found = {"validation": validation, "test": test, "sparsity": sparsity}
        self.records.add(self.at, found, meaning)

    def _rules(self) -> None:
        """Change the settings that change rarely, on the host: growing weights and the iNALU's rules."""
        recipes, settings = [c.recipe for c in self.program.cases], self.program.settings
        for name in ("l1", "l2"):
            if name in settings:
                values = [getattr(r, name).at(self.at) for r in recipes]
                settings[name].copy_(torch.tensor(values, dtype=torch.float32))
        if self.case.recipe.inalu:
            validation = self.curves["validation"]
            settings["inalu"].copy_(inalu.weight(validation[-1], self.at))
            self._restart(inalu.stuck(validation, self.since, EVERY), len(self.steps) - 1)
        if self.case.recipe.rules and self.at:
            self.losses.add(settings["losses"])
            self._restart(self.losses.stuck(self.since), len(self.losses.epochs))

    def _restart(self, stuck: Tensor, now: int) -> None:
        """Start some runs again; ``now`` is the evaluation."""
        if stuck.any():
            self.resets += stuck
            self.since = torch.where(stuck, now, self.since)
            self.program.restart(stuck.to(self.program.device), self.resets)

    # -- state --------------------------------------------------------------------------------

    def state(self) -> Tensors:
        """Return everything that a later process needs to go on exactly, as named tensors."""
        program = self.program
        tensors = {f"params.{n}": p.clone() for n, p in program.params.items()}
        tensors |= {
            f"slots.{i}.{n}": s.clone() for n, slots in program.slots.items() for i, s in enumerate(slots)
        }
        return tensors | {
            **self.losses.state(program.settings),
            **self.records.state(),
            "at": torch.tensor(self.at),
            "resets": self.resets.clone(),
            "since": self.since.clone(),
            "seconds": torch.tensor(self.seconds),
        }

    def final_state(self) -> None:
        """Return None: a longer training starts again."""

    def restore(self, tensors: Tensors) -> None:
        """Continue from a state of the same population."""
        self._fits(tensors)
        program = self.program
        for name, p in program.params.items():
            p.copy_(tensors[f"params.{name}"])
            for i, slot in enumerate(program.slots[name]):
                slot.copy_(tensors[f"slots.{i}.{name}"])
        self.at = int(tensors["at"])
        program.step.fill_(self.at)
        self.records.restore(tensors)
        self.resets, self.since = tensors["resets"].clone(), tensors["since"].clone()
        self.seconds = float(tensors["seconds"])
        self.losses.restore(tensors, program.settings)
        if self.steps and self.steps[-1] == self.at and self.at < self.case.recipe.steps:
            self._rules()

    def _fits(self, tensors: Tensors) -> None:
        """Refuse a state whose parts are not those of this population."""
        own = {n: t for n, t in self.state().items() if n.split(".")[0] not in RECORDED}
        for name, t in own.items():
            other = tensors.get(name)
            if other is None and name in ("stride", "best.step"):
                raise NALMError("This state was written before records were thinned: delete the checkpoint.")
            if other is None or other.shape != t.shape or other.dtype != t.dtype:
                raise NALMError(
                    f"This state is of another population: {name!r} is missing or of another shape."
                )
        at, stride, runs = int(tensors["at"]), int(tensors["stride"]), len(self.thresholds)
        steps, places = (tensors.get(name, torch.zeros(0, 0)) for name in ("steps", "places"))
        whole = {n: t for n, t in tensors.items() if n.split(".")[0] in ("curves", "trajectories")}
        needed = [f"curves.{name}" for name in self.curves] if len(steps) else []
        if (
            not (0 <= at <= self.case.recipe.steps and stride >= 1 and steps.dim() == 1)
            or not all(rising(t) and t.shape == steps.shape for t in (steps, places))
            or any(t.shape[:2] != (len(steps), runs) or not t.is_floating_point() for t in whole.values())
            or not all(name in whole for name in needed)
            or (len(steps) and int(steps[-1]) > at)
        ):
            raise NALMError("This state is of another population: its records do not belong together.")

    # -- results ------------------------------------------------------------------------------

    def results(self) -> Runs:
        """Return what was recorded, as plain arrays."""
        program, n = self.program, len(self.program.runs)
        curves = {name: torch.stack(c).numpy() for name, c in self.curves.items()}  # (evaluations, runs)
        weights = {name: w.double().cpu().numpy() for name, w in program.look()[1].items()}
        trajectories = {name: torch.stack(t).numpy() for name, t in self.records.trajectories.items()}
        return Runs(
            cases=list(program.cases),
            seeds=list(program.seeds),
            steps=[np.array(self.steps)] * n,
            validation=[curves["validation"][:, i] for i in range(n)],
            test=[curves["test"][:, i] for i in range(n)],
            sparsity=[curves["sparsity"][:, i] for i in range(n)],
            weights=[{name: w[i] for name, w in weights.items()} for i in range(n)],
            trajectories=[{name: t[:, i] for name, t in trajectories.items()} for i in range(n)],
            formulas=formulas(program),
            thresholds=list(self.thresholds),
            seconds=[self.seconds / n] * n,
            modes=[program.mode] * n,
            device=str(program.device),
            resets=self.resets.tolist(),
            marks=self.records.marks(),
            measures=self._measures(),
        )

    def _measures(self) -> list[dict[str, float]]:
        """Return the measures that the case asks for at the end, with the errors there; {} if it asks for none."""
        n, case, program = len(self.program.runs), self.case, self.program
        if not case.task.measured:
            return [{} for _ in range(n)]
        found = {name: self.curves[name][-1] for name in ("test", "validation")}
        found |= counted(program.params, case.task.counts)
        found |= grid_errors(case, program.predict, n, program.device)
        return [{name: float(values[i]) for name, values in found.items()} for i in range(n)]
