"""One population from start to end: blocks of steps between evaluations, and what is recorded there."""

import time
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.engine.network import Network, Tensors, spelled
from nalm.engine.plan import Run
from nalm.engine.program import Program
from nalm.errors import NALMError
from nalm.runs import Runs
from nalm.tasks.threshold import threshold
from nalm.units import Unit
from nalm.units.spelling import letters

EVERY = 1_000  # steps between evaluations
SMALL = 64  # effective weights per run up to which their trajectory is kept
INALU_WEIGHT, INALU_START, INALU_WINDOW = 0.05, 10_000, 5_000  # nalm-benchmark's settings


class Training:
    """Trains one population; can be stopped after any block, taken out, and put back exactly."""

    def __init__(self, runs: Sequence[Run], device: torch.device, *, compiled: bool = True):
        self.program = Program(runs, device, compiled)
        self.case = runs[0].case
        self.at = 0
        self.curves: dict[str, list[Tensor]] = {"validation": [], "test": [], "sparsity": []}
        self.steps: list[int] = []
        self.trajectories: dict[str, list[Tensor]] = {}
        self.thresholds = [threshold(run.case, device) for run in runs]
        self.resets = torch.zeros(len(runs), dtype=torch.int64)
        self.since = torch.zeros(len(runs), dtype=torch.int64)  # evaluation at which a run last started
        self.seconds = 0.0

    @property
    def finished(self) -> bool:
        """Whether nothing is left to train."""
        if self.steps and self.steps[-1] >= self.case.recipe.steps:
            return True
        return self.case.recipe.stop_when_solved and bool(self.steps) and bool(self.solved_now().all())

    def solved_now(self) -> np.ndarray:
        """Which runs are below their threshold at the last evaluation."""
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
        for name, value in (("validation", validation), ("test", test), ("sparsity", sparsity)):
            self.curves[name].append(value.double().cpu())
        if sum(w[0].numel() for w in meaning.values()) <= SMALL:
            for name, w in meaning.items():
                self.trajectories.setdefault(name, []).append(w.float().cpu().clone())
        self.steps.append(self.at)

    def _rules(self) -> None:
        """What changes rarely is decided here, on the host: growing weights and the iNALU's rules."""
        recipes, settings = [c.recipe for c in self.program.cases], self.program.settings
        for name in ("l1", "l2"):
            if name in settings:
                values = [getattr(r, name).at(self.at) for r in recipes]
                settings[name].copy_(torch.tensor(values, dtype=torch.float32))
        if self.case.recipe.inalu:
            fits = self.curves["validation"][-1] < 1
            settings["inalu"].copy_(INALU_WEIGHT * (fits & (self.at >= INALU_START)))
            stuck = self._stuck()
            if stuck.any():
                self.resets += stuck
                self.since = torch.where(stuck, len(self.steps) - 1, self.since)
                self.program.restart(stuck.to(self.program.device), self.resets)

    def _stuck(self) -> Tensor:
        """The iNALU's test for starting again: over 5,000 steps the error is above 1 and does not fall.

        The published code looks every 10 steps at errors that change every 1,000; this looks every 1,000.
        """
        history = torch.stack(self.curves["validation"])  # (evaluations, runs)
        stuck = torch.zeros(history.shape[1], dtype=torch.bool)
        for run in range(history.shape[1]):
            seen = history[int(self.since[run]) : -1, run].repeat_interleave(EVERY)
            if len(seen) <= INALU_WINDOW:
                continue
            old, new = seen[: len(seen) // 2], seen[len(seen) // 2 :]
            falls = old.mean() > new.mean() + new.std(correction=0)
            stuck[run] = bool(~falls & (new.mean() > 1))
        return stuck

    # -- state --------------------------------------------------------------------------------

    def state(self) -> Tensors:
        """Everything a later process needs to go on as if nothing had happened, as named tensors."""
        program = self.program
        tensors = {f"params.{n}": p.clone() for n, p in program.params.items()}
        tensors |= {
            f"slots.{i}.{n}": s.clone() for n, slots in program.slots.items() for i, s in enumerate(slots)
        }
        tensors |= {f"curves.{n}": torch.stack(c) for n, c in self.curves.items() if c}
        tensors |= {f"trajectories.{n}": torch.stack(c) for n, c in self.trajectories.items()}
        tensors |= {"at": torch.tensor(self.at), "steps": torch.tensor(self.steps)}
        return tensors | {
            "resets": self.resets.clone(),
            "since": self.since.clone(),
            "seconds": torch.tensor(self.seconds),
        }

    def restore(self, tensors: Tensors) -> None:
        """Put back what ``state`` took out, of the same population."""
        program = self.program
        for name, p in program.params.items():
            if f"params.{name}" not in tensors or tensors[f"params.{name}"].shape != p.shape:
                raise NALMError(
                    f"This state is of another population: {name!r} is missing or of another shape."
                )
        for name, p in program.params.items():
            p.copy_(tensors[f"params.{name}"])
            for i, slot in enumerate(program.slots[name]):
                slot.copy_(tensors[f"slots.{i}.{name}"])
        self.at = int(tensors["at"])
        program.step.fill_(self.at)
        self.steps = tensors["steps"].tolist()
        self.curves = {n: list(tensors[f"curves.{n}"].unbind(0)) if self.steps else [] for n in self.curves}
        prefix = "trajectories."
        self.trajectories = {
            n[len(prefix) :]: list(t.unbind(0)) for n, t in tensors.items() if n.startswith(prefix)
        }
        self.resets, self.since = tensors["resets"].clone(), tensors["since"].clone()
        self.seconds = float(tensors["seconds"])
        if self.steps and self.steps[-1] == self.at and self.at < self.case.recipe.steps:
            self._rules()

    # -- results ------------------------------------------------------------------------------

    def results(self) -> Runs:
        """What was recorded, as plain arrays."""
        program, n = self.program, len(self.program.runs)
        curves = {name: torch.stack(c).numpy() for name, c in self.curves.items()}  # (evaluations, runs)
        weights = {name: w.double().cpu().numpy() for name, w in program.look()[1].items()}
        trajectories = {name: torch.stack(t).numpy() for name, t in self.trajectories.items()}
        return Runs(
            cases=list(program.cases),
            seeds=list(program.seeds),
            steps=[np.array(self.steps)] * n,
            validation=[curves["validation"][:, i] for i in range(n)],
            test=[curves["test"][:, i] for i in range(n)],
            sparsity=[curves["sparsity"][:, i] for i in range(n)],
            weights=[{name: w[i] for name, w in weights.items()} for i in range(n)],
            trajectories=[{name: t[:, i] for name, t in trajectories.items()} for i in range(n)],
            formulas=self._formulas(),
            thresholds=list(self.thresholds),
            seconds=[self.seconds / n] * n,
            modes=[program.mode] * n,
            device=str(program.device),
            resets=self.resets.tolist(),
        )

    def _formulas(self) -> list[str]:
        """What each run's rounded weights spell; equal weights are spelt once."""
        program = self.program
        one = Network(self.case.model, self.case.inputs).eval()
        units = [part for part in one.parts() if isinstance(part, Unit)]
        if len(units) < len(self.case.model):
            return [""] * len(program.runs)  # a baseline has no formula
        weights = {name: p.cpu() for name, p in program.params.items()}
        spelt: dict[object, str] = {}
        texts = []
        for i, case in enumerate(program.cases):
            sign = True if case.train.kind == "uniform" and case.train.low > 0 else None
            with torch.no_grad():
                for name, p in weights.items():
                    one.get_parameter(name).copy_(p[i])
            known = (sign, *(tuple(w.flatten().tolist()) for u in units for w in u.rounded().values()))
            if known not in spelt:
                try:
                    spelt[known] = spelled(one, letters(case.inputs, positive=sign))
                except NALMError:
                    spelt[known] = ""  # weights that are not numbers
            texts.append(spelt[known])
        return texts
