"""One step of many runs as one function of tensors: draw, forward, loss, gradient, clip, update, project."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.func import grad

from nalm import draws
from nalm import functional as F
from nalm.engine import optim
from nalm.engine.compiler import Compiler, Methods, threads
from nalm.engine.model import Network, Tensors, exact, snapped
from nalm.engine.numbers.data import SETS, Data
from nalm.engine.plan import Run
from nalm.losses import SEES
from nalm.losses import loss as find_loss
from nalm.tasks.sampler import fixed_rows
from nalm.tasks.threshold import METRICS

CAPTURED = 100  # steps per CUDA graph


Sets = list[tuple[Tensor, Tensor]]  # inputs and targets of the validation and the test set


class Program:
    """The tensors and functions of one population; the caller decides when to step and when to evaluate."""

    def __init__(self, runs: Sequence[Run], device: torch.device, compiled: bool):
        case = runs[0].case
        self.runs, self.case, self.device = list(runs), case, device
        self.cases, self.seeds = [r.case for r in runs], [r.seed for r in runs]
        self.network = Network(case.model, case.inputs, bool(case.times))
        self.judge = Network(case.model, case.inputs, bool(case.times)).eval()
        self._learn = Methods(self.network, "penalised", "project")
        self._judge = Methods(self.judge, "forward", "sparsity_error", "meaning")
        self._exact = self._judge  # what a test is of
        if case.threshold.metric == "rule":
            self._exact = Methods(exact(Network(case.model, case.inputs, bool(case.times))).eval(), "forward")
        n = len(runs)
        starts = self._starts(torch.zeros(n))
        self.params = {name: t.to(device) for name, t in starts.items()}
        self._optimiser = optim.optimiser(case.recipe.optimiser, case.recipe.momentum, case.recipe.decay)
        self.slots = {
            name: [torch.zeros_like(p) for _ in self._optimiser.slots] for name, p in self.params.items()
        }
        self.step = torch.zeros((), dtype=torch.int32, device=device)
        self.data = Data(runs, device)
        self._noise = {name: k.to(device) for name, k in self.network.noise_keys(self.seeds).items()}
        self.settings = self._settings()
        self.compiler = Compiler(compiled)

        def draw(at: Tensor, settings: Tensors) -> tuple[Tensor, Tensor]:
            return self._data(at, settings)

        self._draw = draw
        self._graphs: dict[str, torch.cuda.CUDAGraph] = {}

    def _starts(self, resets: Tensor) -> Tensors:
        recipe = self.case.recipe
        return self.network.starts(self.seeds, resets, recipe.grid, recipe.starts)

    def _vector(self, values: Sequence[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32, device=self.device)

    def _settings(self) -> Tensors:
        """What differs between runs, and what the host changes at evaluations."""
        recipes = [c.recipe for c in self.cases]
        first = recipes[0]
        s = {
            "lr": self._vector([r.lr for r in recipes]),
            "train": draws.keys(self.seeds, "train", device=self.device),
            "grid": draws.packed(self.data.train.grid(first.batch)),
        }
        if self.case.sample:
            s["rows"] = draws.keys(self.seeds, "rows", device=self.device)
        for name, _ in first.penalties:
            ramps = [dict(r.penalties)[name] for r in recipes]
            s[f"{name}.weight"] = self._vector([r.weight for r in ramps])
            # A ramp of no length is on from its start: half a step earlier, and very steep.
            s[f"{name}.start"] = self._vector([r.start - 0.5 * (r.end == r.start) for r in ramps])
            s[f"{name}.slope"] = self._vector(
                [1 / (r.end - r.start) if r.end > r.start else 1e9 for r in ramps]
            )
        if first.inalu:
            s["inalu"] = self._vector([0.0] * len(recipes))
        for name in ("l1", "l2"):
            if getattr(first, name) is not None:
                s[name] = self._vector([getattr(r, name).at(0) for r in recipes])
        for name in ("clip_norm", "clip_value", "gradient_noise"):
            if getattr(first, name) > 0:
                s[name] = self._vector([getattr(r, name) for r in recipes])
        if first.gradient_noise > 0:
            s["gradient"] = draws.keys(self.seeds, "gradient", device=self.device)
        return s

    @property
    def mode(self) -> str:
        """How the steps are run: captured, compiled or eager."""
        return "captured" if self._graphs else "compiled" if self.compiler.proven else "eager"

    # -- the step -----------------------------------------------------------------------------

    def _data(self, step: Tensor, s: Tensors) -> tuple[Tensor, Tensor]:
        """A batch (runs, batch, in) and its targets."""
        x = self._batch(s, step)
        return x, self.data.target(x)

    def _batch(self, s: Tensors, step: Tensor) -> Tensor:
        if not self.case.sample:
            return self.data.train(s["train"], step, draws.unpacked(s["grid"])).mT
        rows = fixed_rows(s["rows"], step, self.case.recipe.batch, self.case.sample, self.case.inputs)
        return self.data.train(s["train"], torch.zeros_like(step), rows).mT

    def _one(
        self,
        loss_name: str,
        params: Tensors,
        slots: dict[str, list[Tensor]],
        step: Tensor,
        s: Tensors,
        given: tuple[Tensor, Tensor] | None = None,
    ) -> None:
        recipe = self.case.recipe
        names = [name for name, _ in recipe.penalties]
        wanted = [*names, *(["weight"] if recipe.inalu and "weight" not in names else [])]
        x, y = given if given is not None else self._data(step, s)
        counters = {n.replace(".key", ".counter"): step.expand(len(self.runs)) for n in self._noise}
        loss = find_loss(loss_name)
        seen = self.data.scaling.seen(SEES[loss_name](x) if loss_name in SEES else x)

        def objective(p: Tensors) -> Tensor:
            prediction, terms = self._learn("penalised", {**p, **self._noise, **counters}, seen, wanted)
            each = loss(self.data.scaling.said(prediction), y, x)
            for name in names:
                ramp = ((step - s[f"{name}.start"]) * s[f"{name}.slope"]).clamp(0, 1)
                each = each + s[f"{name}.weight"] * ramp * terms[name]
            if recipe.inalu:
                each = each + s["inalu"] * terms["weight"]
            if recipe.l1 is not None:
                each = each + s["l1"] * _total([v.abs().flatten(1).sum(-1) for v in p.values()])
            if recipe.l2 is not None:
                each = each + s["l2"] * _total([_norm(v) for v in p.values()])
            return each.sum()

        gradients: Tensors = grad(objective)(params)
        if recipe.clip_norm > 0:
            gradients = optim.clip_norm(gradients, s["clip_norm"])
        if recipe.clip_value > 0:
            gradients = optim.clip_value(gradients, s["clip_value"])
        if recipe.gradient_noise > 0:
            gradients = optim.noisy(gradients, s["gradient_noise"], s["gradient"], step)
        lr = s["lr"] if recipe.schedule == "constant" else optim.cosine(s["lr"], step, recipe.steps)
        moved: Tensors = {}
        for name, p in params.items():
            change, state = self._optimiser(gradients[name], slots[name], lr, step)
            moved[name] = p - change
            for old, new in zip(slots[name], state, strict=True):
                old.copy_(new)
        self._learn("project", moved)
        for name, p in params.items():
            p.copy_(moved[name])
        step.add_(1)

    def advance(self, steps: int, loss_name: str) -> None:
        """Take so many steps."""
        with threads(len(self.runs) * self.case.recipe.batch * self.case.inputs):
            self._advance(steps, loss_name)

    def _advance(self, steps: int, loss_name: str) -> None:
        name = f"train {loss_name}"
        step = self._step(loss_name)
        while steps:
            if self.device.type == "cuda" and steps >= CAPTURED and self._captured(name, step):
                self._graphs[name].replay()
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
            settings: Tensors,
            given: tuple[Tensor, Tensor] | None,
        ) -> None:
            self._one(loss_name, params, slots, at, settings, given)

        return step

    def _call(self, name: str, step: Callable[..., object]) -> None:
        """One step. Many inputs are drawn by a function of their own, or fusion would draw them several times."""
        given = None
        if self.data.train.inputs > F.UNROLL:
            given = self.compiler("data", self._draw)(self.step, self.settings)
        self.compiler(name, step)(*self._state(given))

    def _state(self, given: object) -> tuple[object, ...]:
        """Arguments of a step."""
        return self.params, self.slots, self.step, self.settings, given

    def _captured(self, name: str, step: Callable[..., object]) -> bool:
        """Whether a CUDA graph of the step exists; it is made once the compiled step has run."""
        if name not in self._graphs:
            if name not in self.compiler.proven:
                return False
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(CAPTURED):
                    self._call(name, step)
            self._graphs[name] = graph
        return True

    # -- evaluation ---------------------------------------------------------------------------

    @torch.no_grad()
    def evaluate(self) -> tuple[Tensor, Tensor]:
        """Errors (runs,) on the validation and test sets; both go through one compiled function."""
        s = self.settings
        if "evaluate" not in s:
            s["evaluate"] = torch.stack([draws.keys(self.seeds, which, device=self.device) for which in SETS])
            s["validation grid"], s["test grid"] = map(draws.packed, self.data.grids())
        metrics = METRICS["mse"], METRICS[self.case.threshold.metric]
        judges, both = (self._judge, self._exact), (self.params, self.params)
        if self.case.threshold.metric == "rule":  # the test is of what the weights spell
            both = self.params, snapped(self.judge, self.params)

        def sets(start: Tensor, keys: Tensor, grids: tuple[Tensor, Tensor]) -> Sets:
            samplers, at = (self.data.train, self.data.test), torch.zeros_like(start)
            positions = [draws.unpacked(words) for words in grids]
            x = [f(keys[i], at, positions[i] + start * f.inputs).mT for i, f in enumerate(samplers)]
            return [(part, self.data.target(part)) for part in x]

        def errors(
            params: Sequence[Tensors],
            start: Tensor,
            keys: Tensor,
            grids: tuple[Tensor, Tensor],
            given: Sets | None,
        ) -> Tensor:
            sums = []
            for i, (x, y) in enumerate(sets(start, keys, grids) if given is None else given):
                prediction = judges[i]("forward", {**params[i], **self._noise}, self.data.scaling.seen(x))
                sums.append(metrics[i](self.data.scaling.said(prediction), y).sum((-2, -1)))
            return torch.stack(sums, -1)

        long = bool(self.case.times)  # loops over sequences compile long
        evaluate = errors if long else self.compiler("evaluate", errors)
        draw = sets if long else self.compiler("sets", sets)
        grids = s["validation grid"], s["test grid"]
        total = torch.zeros(len(self.runs), 2, dtype=torch.float64, device=self.device)
        with threads(len(self.runs) * self.data.rows * self.case.inputs):
            for start in range(0, self.data.total, self.data.rows):
                at = torch.tensor(start, dtype=torch.int32, device=self.device)
                given = self.data.published(start)
                if given is None and self.data.train.inputs > F.UNROLL:
                    given = draw(at, s["evaluate"], grids)  # type: ignore[assignment]
                part = evaluate(both, at, s["evaluate"], grids, given)
                total += part  # type: ignore[arg-type]
        validation, test = (total / self.data.total / self.case.model[-1].out).unbind(-1)
        return validation, test

    @torch.no_grad()
    def predict(self, x: Tensor) -> Tensor:
        """What the models say of x (runs, rows, in)."""
        prediction: Tensor = self._judge("forward", {**self.params, **self._noise}, self.data.scaling.seen(x))
        return self.data.scaling.said(prediction)

    @torch.no_grad()
    def look(self) -> tuple[Tensor, Tensors]:
        """Sparsity errors (runs,), and the effective weights by name."""
        tensors = {**self.params, **self._noise}
        return self._judge("sparsity_error", tensors), self._judge("meaning", tensors)

    def restart(self, which: Tensor, resets: Tensor) -> None:
        """Draw new initial parameters for some runs; the optimiser keeps its state."""
        fresh = self._starts(resets)
        for name, p in self.params.items():
            p.copy_(torch.where(optim.per_run(which, p), fresh[name].to(self.device), p))


def _total(parts: list[Tensor]) -> Tensor:
    return torch.stack(parts).sum(0)


def _norm(v: Tensor) -> Tensor:
    return v.square().flatten(1).sum(-1).clamp_min(1e-24).sqrt()
