"""Networks fitted to a trajectory as right-hand sides of differential equations (Heim et al. 2020, section 4.1).

First steps of an optimiser, then L-BFGS. All in float64, as published. Models of several widths are one population: the
narrow ones are padded with parameters that are 0 and stay so, which changes no output.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from nalm.config import Case
from nalm.engine import optim
from nalm.engine.compiler import Compiler, Methods
from nalm.engine.graphs import Graphs
from nalm.engine.measures import counted
from nalm.engine.model import Network, Tensors
from nalm.engine.plan import Run
from nalm.engine.systems import euler, lbfgs
from nalm.engine.systems.padding import Padding
from nalm.formulas import readout
from nalm.results.runs import Runs
from nalm.tasks.epidemic import NAMES, START, published

STEPS = 200  # of Euler's method, each of length 1
EVERY = 100  # steps between evaluations
BLOCK = 50  # evaluations of L-BFGS between two looks at who is done
PATIENCE = 3  # evaluations of L-BFGS per step it may take


class SystemTrainer:
    """Fits one population of systems to the published epidemic."""

    def __init__(
        self,
        runs: Sequence[Run],
        device: torch.device,
        *,
        compiled: bool = True,
        data: str = "",
        precision: str = "",
    ):
        self.runs, self.device = list(runs), device
        self.cases, self.recipe = [r.case for r in runs], runs[0].case.recipe
        self.thresholds = [case.threshold.value for case in self.cases]
        self.networks = [Network(case.model, case.inputs) for case in self.cases]
        self.padding = Padding(self.networks)
        self.theta, self.mask = (t.to(device) for t in self.padding.initial(runs))
        self.l1 = self._vector([0.0 if c.recipe.l1 is None else c.recipe.l1.start for c in self.cases])
        self.lr = self._vector([c.recipe.lr for c in self.cases])
        times, values = published()
        self.times, self.data = times, self._vector(values)
        self.reading = euler.interpolation(times, STEPS).to(device)
        self.start = self._vector([START] * len(runs))
        self.optimiser = optim.optimiser(self.recipe.optimiser, self.recipe.momentum, self.recipe.decay)
        self.slots = optim.slots(self.optimiser, self.theta)
        self.at, self.seconds = 0, 0.0
        self.step = torch.zeros((), dtype=torch.int32, device=device)
        self.polish: lbfgs.State = {}
        self.ticks = 0
        self.steps: list[int] = []
        self.errors: list[Tensor] = []
        self._compiler = Compiler(compiled)
        self._forward = Methods(self.padding.widest, "forward")
        self._graphs = Graphs(device)

    def _vector(self, values: object) -> Tensor:
        return torch.as_tensor(np.array(values), dtype=torch.float64, device=self.device)

    @staticmethod
    def check(case: Case) -> None:
        """Accept every case: all cases of systems can be trained."""

    @staticmethod
    def was_compiled(mode: str) -> bool:
        """Return whether a run with this mode was compiled; graphs are captured of compiled steps only."""
        return mode != "eager"

    # -- one evaluation -----------------------------------------------------------------------

    def _rate(self, theta: Tensor, states: Tensor) -> Tensor:
        found: Tensor = self._forward("forward", self.padding.named(theta), states)
        return found

    def trajectories(self, theta: Tensor) -> Tensor:
        """Return states (runs, 201, 3), one step of Euler's after another."""

        def rate(theta: Tensor, states: Tensor) -> Tensor:
            return self._rate(theta, states)

        called = self._compiler("rate", rate)
        return euler.trajectory(lambda p, u: called(p, u), theta, self.start, STEPS)  # type: ignore[arg-type, return-value]

    def _errors(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean squared errors (runs,) at the published times, and their slopes in the states."""
        away = self.reading @ states - self.data
        return away.square().mean((-2, -1)), self.reading.mT @ away * (2 / self.data.numel())

    def value(self, theta: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the objective (runs,), its slope (runs, n), and the mean squared error alone."""

        def jacobian(theta: Tensor, states: Tensor) -> Tensor:
            return euler.jacobians(self._rate, theta, states)

        def pull(theta: Tensor, states: Tensor, cotangents: Tensor) -> Tensor:
            return euler.pulled(self._rate, theta, states, cotangents)

        one, other = self._compiler("jacobian", jacobian), self._compiler("pull", pull)
        states = self.trajectories(theta)
        error, errors = self._errors(states)
        slope = euler.slope(states, errors, lambda u: one(theta, u), lambda u, c: other(theta, u, c))  # type: ignore[arg-type, return-value]
        objective = error + self.l1 * theta.abs().sum(-1)
        return objective, (slope + self.l1.unsqueeze(-1) * theta.sign()) * self.mask, error

    # -- training -----------------------------------------------------------------------------

    def _descend(self) -> None:
        _, slope, _ = self.value(self.theta)
        change, state = self.optimiser(slope, self.slots, self.lr, self.step)
        for old, new in zip(self.slots, state, strict=True):
            old.copy_(new)
        self.theta.sub_(change)
        self.step.add_(1)

    def _tick(self) -> None:
        lbfgs.tick(self.polish, lambda x: self.value(x)[:2], self.recipe.polish)

    def _repeat(self, name: str, function: Callable[[], None], times: int) -> None:
        """Call a function several times; on a GPU through a graph of it, once it has run."""
        for _ in range(times):
            self._graphs(name, function)

    @property
    def finished(self) -> bool:
        """True if nothing is left to train."""
        return bool(self.steps) and self.steps[-1] == self.recipe.steps + self.recipe.polish

    def solved_now(self) -> np.ndarray:
        """Return which runs are below their threshold at the last evaluation."""
        result: np.ndarray = self.errors[-1].numpy() < np.array(self.thresholds)
        return result

    @torch.no_grad()
    def advance(self) -> None:
        """Evaluate, then train to the next evaluation; after the last step, a block of L-BFGS."""
        started = time.perf_counter()
        if self.at < self.recipe.steps:
            if not self.steps:
                self._record(0)
            steps = min(EVERY, self.recipe.steps - self.at)
            self._repeat("descend", self._descend, steps)
            self.at += steps
            self._record(self.at)
        elif self.recipe.polish:
            if not self.polish:
                self.polish = lbfgs.begin(self.theta, lambda x: self.value(x)[:2])
            ticks = min(BLOCK, PATIENCE * self.recipe.polish - self.ticks)
            self._repeat("tick", self._tick, ticks)
            self.ticks += ticks
            self.theta.copy_(self.polish["x"])
            if bool(self.polish["done"].all()) or self.ticks >= PATIENCE * self.recipe.polish:
                self._record(self.recipe.steps + self.recipe.polish)
        self.seconds += time.perf_counter() - started

    @torch.no_grad()
    def _record(self, step: int) -> None:
        self.steps.append(step)
        self.errors.append(self._errors(self.trajectories(self.theta))[0].cpu())

    # -- state and results --------------------------------------------------------------------

    def state(self) -> Tensors:
        """Return everything that a later process needs to go on."""
        tensors = {f"slots.{i}": s.clone() for i, s in enumerate(self.slots)}
        tensors |= {f"slots.polish.{name}": s.clone() for name, s in self.polish.items()}
        tensors |= {"params.theta": self.theta.clone(), "curves.error": torch.stack(self.errors)}
        numbers = {"at": self.at, "ticks": self.ticks, "seconds": self.seconds, "steps": self.steps}
        return tensors | {name: torch.tensor(value) for name, value in numbers.items()}

    def final_state(self) -> None:
        """Return None: a longer training starts again."""

    def restore(self, tensors: Tensors) -> None:
        """Continue from a state; one of a population with other widths is ignored, and training restarts."""
        if "params.theta" not in tensors or tensors["params.theta"].shape != self.theta.shape:
            return
        self.theta.copy_(tensors["params.theta"])
        for i, slot in enumerate(self.slots):
            slot.copy_(tensors[f"slots.{i}"])
        before = "slots.polish."
        self.polish = {
            n.removeprefix(before): t.to(self.device) for n, t in tensors.items() if n.startswith(before)
        }
        self.at, self.ticks = int(tensors["at"]), int(tensors["ticks"])
        self.step.fill_(self.at)
        self.seconds = float(tensors["seconds"])
        self.steps, self.errors = tensors["steps"].tolist(), list(tensors["curves.error"].unbind(0))

    @property
    def mode(self) -> str:
        """The way in which steps are run: captured, compiled or eager."""
        return "captured" if self._graphs else "compiled" if self._compiler.proven else "eager"

    @torch.no_grad()
    def results(self) -> Runs:
        """Return what was recorded, as plain arrays; the test error is that of the fit, as published."""
        n = len(self.runs)
        errors = torch.stack(self.errors).numpy()  # (evaluations, runs)
        named = self.padding.named(self.theta)
        sizes = self.cases[0].task.counts
        counts = counted(named, sizes)
        weights, sparsity = [], []
        for run, network in enumerate(self.networks):
            for name, value in self.padding.own(self.theta, run).items():
                network.get_parameter(name).data = value
            weights.append({name: w.detach().numpy() for name, w in network.meaning().items()})
            sparsity.append(float(network.sparsity_error()))
        return Runs(
            cases=list(self.cases),
            seeds=[run.seed for run in self.runs],
            steps=[np.array(self.steps)] * n,
            validation=[errors[:, i] for i in range(n)],
            test=[errors[:, i] for i in range(n)],
            sparsity=[np.full(len(errors), value) for value in sparsity],
            weights=weights,
            trajectories=[{} for _ in range(n)],
            formulas=[readout.spelled(w, NAMES) for w in weights],
            thresholds=list(self.thresholds),
            seconds=[self.seconds / n] * n,
            modes=[self.mode] * n,
            device=str(self.device),
            resets=[0] * n,
            measures=[
                {"test": float(errors[-1, i]), **{name: float(c[i]) for name, c in counts.items()}}
                for i in range(n)
            ],
        )
