"""One step of many runs as one function of tensors: draw, forward, loss, gradient, clip, update, project."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.func import grad

from nalm import functional as F
from nalm.config import Rows
from nalm.engine import optim
from nalm.engine.compiler import Compiler, Methods
from nalm.engine.device import threads
from nalm.engine.graphs import Graphs
from nalm.engine.model import Network, Tensors
from nalm.engine.numbers import schloer
from nalm.engine.numbers.data import Data
from nalm.engine.numbers.evaluation import Evaluation
from nalm.engine.numbers.rows import RowData
from nalm.engine.numbers.settings import settings
from nalm.engine.plan import Run
from nalm.engine.step import grown, update
from nalm.losses import SEES
from nalm.losses import loss as find_loss

CAPTURED = 100  # steps per CUDA graph
READ_AGAIN = ("NALU", "NALUSeparate", "GNALU")  # layers that read their inputs in three sums


class Program:
    """The tensors and functions of one population; the caller decides when to step and when to evaluate."""

    def __init__(self, runs: Sequence[Run], device: torch.device, compiled: bool):
        case = runs[0].case
        self.runs, self.case, self.device = list(runs), case, device
        self.cases, self.seeds = [r.case for r in runs], [r.seed for r in runs]
        self.network = Network(case.model, case.inputs, bool(case.task.times))
        self._learn = Methods(self.network, "penalised", "project")
        n = len(runs)
        starts = self._starts(torch.zeros(n))
        self.params = {name: t.to(device) for name, t in starts.items()}
        self._optimiser = optim.optimiser(case.recipe.optimiser, case.recipe.momentum, case.recipe.decay)
        self.slots = {name: optim.slots(self._optimiser, p) for name, p in self.params.items()}
        self.step = torch.zeros((), dtype=torch.int32, device=device)
        self.data = RowData(runs, device) if isinstance(case.task, Rows) else Data(runs, device)
        self._noise = {name: k.to(device) for name, k in self.network.noise_keys(self.seeds).items()}
        self.settings = settings(self.cases, self.seeds, self.data.grid(case.recipe.batch))
        self.settings |= self.data.settings()
        self.compiler = Compiler(compiled, wide=self.data.width > F.UNROLL)
        self.evaluation = Evaluation(case, self.data, self._noise, self.compiler)

        def draw(at: Tensor, s: Tensors) -> tuple[Tensor, Tensor]:
            return self.data.batch(at, s)

        self._draw = draw
        again = device.type == "cpu" or case.model[0].unit in READ_AGAIN
        self._drawn_apart = again and self.data.width > F.UNROLL
        self._graphs = Graphs(device)

    def _starts(self, resets: Tensor) -> Tensors:
        recipe = self.case.recipe
        normals = [case.recipe.normal_starts for case in self.cases]
        return self.network.starts(self.seeds, resets, recipe.grid, recipe.starts, normals)

    @property
    def mode(self) -> str:
        """The way in which steps are run: captured, compiled or eager."""
        return "captured" if self._graphs else "compiled" if self.compiler.proven else "eager"

    # -- the step -----------------------------------------------------------------------------

    def _one(
        self,
        loss_name: str,
        params: Tensors,
        slots: dict[str, list[Tensor]],
        step: Tensor,
        s: Tensors,
        given: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        """Take one step in place; ``given`` is the batch where it was drawn before."""
        recipe = self.case.recipe
        names = [name for name, _ in recipe.penalties]
        wanted = [*names, *(["weight"] if recipe.inalu and "weight" not in names else [])]
        x, y = given if given is not None else self.data.batch(step, s)
        counters = {n.replace(".key", ".counter"): step.expand(len(self.runs)) for n in self._noise}
        loss = find_loss(loss_name)
        seen = self.data.scaling.seen(SEES[loss_name](x) if loss_name in SEES else x)

        def objective(p: Tensors) -> tuple[Tensor, Tensor]:
            prediction, terms = self._learn("penalised", {**p, **self._noise, **counters}, seen, wanted)
            each = loss(self.data.scaling.said(prediction), y, x)
            for name in names:
                share = grown(step, s[f"{name}.start"], s[f"{name}.slope"])
                each = each + s[f"{name}.weight"] * share * terms[name]
            if recipe.inalu:
                each = each + s["inalu"] * terms["weight"]
            if recipe.l1 is not None:
                each = each + s["l1"] * _total([v.abs().flatten(1).sum(-1) for v in p.values()])
            if recipe.l2 is not None:
                each = each + s["l2"] * _total([_norm(v) for v in p.values()])
            return each.sum(), each

        gradients, losses = grad(objective, has_aux=True)(params)
        if recipe.clip_norm > 0:
            gradients = optim.CLIPS[recipe.norm](gradients, s["clip_norm"])
        if recipe.clip_value > 0:
            gradients = optim.clip_value(gradients, s["clip_value"])
        if recipe.gradient_noise > 0:
            gradients = optim.noisy(gradients, s["gradient_noise"], s["gradient"], step)
        lr = s["lr"] if recipe.schedule == "constant" else optim.cosine(s["lr"], step, recipe.steps)
        rule = self._optimiser, lr
        if recipe.rules:
            s["losses"].add_(torch.stack([losses, losses.square()], -1))
            schloer.update(params, gradients, slots, rule, step, losses)
            return
        update(params, gradients, slots, rule, step, lambda moved: self._learn("project", moved))

    def advance(self, steps: int, loss_name: str) -> None:
        """Take a number of steps."""
        with threads(len(self.runs) * self.case.recipe.batch * self.case.inputs):
            self._advance(steps, loss_name)

    def _advance(self, steps: int, loss_name: str) -> None:
        name = f"train {loss_name}"
        step = self._step(loss_name)
        while steps:
            if self.device.type == "cuda" and steps >= CAPTURED and self._captured(name, step):
                self._graphs.replay(name)
                steps -= CAPTURED
                continue
            self._call(name, step)
            steps -= 1
            again = self.compiler.again(name, *self._state(None)) if self.device.type == "cpu" else None
            while again and steps:
                again()
                steps -= 1

    def _step(self, loss_name: str) -> Callable[..., object]:
        def step(
            params: Tensors,
            slots: dict[str, list[Tensor]],
            at: Tensor,
            s: Tensors,
            given: tuple[Tensor, Tensor] | None,
        ) -> None:
            self._one(loss_name, params, slots, at, s, given)

        return step

    def _call(self, name: str, step: Callable[..., object]) -> None:
        """Take one step. Inputs are drawn by a function of their own where fusion would draw them repeatedly."""
        given = None
        if self._drawn_apart:
            given = self.compiler("data", self._draw)(self.step, self.settings)
        self.compiler(name, step)(*self._state(given))

    def _state(self, given: object) -> tuple[object, ...]:
        """Return the arguments of a step."""
        return self.params, self.slots, self.step, self.settings, given

    def _captured(self, name: str, step: Callable[..., object]) -> bool:
        """Return whether a CUDA graph of the step exists; capture it once the compiled step has run."""
        if name not in self._graphs:
            if name not in self.compiler.proven:
                return False
            self._graphs.capture(name, lambda: self._calls(name, step, CAPTURED))
        return True

    def _calls(self, name: str, step: Callable[..., object], times: int) -> None:
        for _ in range(times):
            self._call(name, step)

    # -- evaluation ---------------------------------------------------------------------------

    def evaluate(self, params: Tensors | None = None) -> tuple[Tensor, Tensor]:
        """Return the errors (runs,) on the validation and test sets, of other parameters if they are given."""
        with threads(len(self.runs) * self.data.rows * self.case.inputs):
            return self.evaluation.errors(self.params if params is None else params)

    def predict(self, x: Tensor) -> Tensor:
        """Return the outputs of the models for x (runs, rows, in)."""
        return self.evaluation.predict(self.params, x)

    def look(self) -> tuple[Tensor, Tensors]:
        """Return sparsity errors (runs,), and the effective weights by name."""
        return self.evaluation.look(self.params)

    def restart(self, which: Tensor, resets: Tensor) -> None:
        """Draw new initial parameters for some runs; the optimiser keeps its state."""
        if self.case.recipe.rules:
            fresh = schloer.starts(self.network, self.seeds, resets, list(self.params))
        else:
            fresh = self._starts(resets)
        for name, p in self.params.items():
            p.copy_(torch.where(optim.per_run(which, p), fresh[name].to(self.device), p))


def _total(parts: list[Tensor]) -> Tensor:
    return torch.stack(parts).sum(0)


def _norm(v: Tensor) -> Tensor:
    return v.square().flatten(1).sum(-1).clamp_min(1e-24).sqrt()
