"""The evaluation of a population: errors on the validation and test sets, and what the models say."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm import draws
from nalm import functional as F
from nalm.config import Case
from nalm.engine.compiler import Compiler, Methods
from nalm.engine.model import Network, Tensors, exact, snapped
from nalm.engine.numbers.data import SETS, Data, Sets
from nalm.tasks.threshold import METRICS

SNAPPED = ("rule", "valid")  # metrics of the snapped network in its exact form
EVERY = 1_000  # steps between evaluations
# Inputs in all evaluations of a training above which compiling them saves more seconds than it takes, on a CPU.
WORTH_COMPILING = 2**28


class Evaluation:
    """Models without noise, and the functions that judge them; parameters are handed in."""

    def __init__(self, case: Case, data: Data, noise: Tensors, compiler: Compiler):
        self.case, self.data, self.compiler = case, data, compiler
        self._noise = noise
        self._network = self._model().eval()
        self._judge = Methods(self._network, "forward", "sparsity_error", "meaning")
        self._exact = self._judge  # what is tested
        if case.threshold.metric in SNAPPED:
            self._exact = Methods(exact(self._model()).eval(), "forward")
        self._keys: Tensor | None = None
        self._grids: tuple[Tensor, ...] = ()

    def _model(self) -> Network:
        return Network(self.case.model, self.case.inputs, bool(self.case.task.times))

    @torch.no_grad()
    def errors(self, params: Tensors) -> tuple[Tensor, Tensor]:
        """Return errors (runs,) on the validation and test sets; both go through one compiled function."""
        device, seeds = self.data.device, self.data.seeds
        if self._keys is None:
            self._keys = torch.stack([draws.keys(seeds, which, device=device) for which in SETS])
            self._grids = tuple(map(draws.packed, self.data.grids()))
        metrics = METRICS["mse"], METRICS[self.case.threshold.metric]
        judges, both = (self._judge, self._exact), (params, params)
        if self.case.threshold.metric in SNAPPED:  # the snapped network is tested
            both = params, snapped(self._network, params)

        def sets(start: Tensor, keys: Tensor, grids: tuple[Tensor, ...]) -> Sets:
            return self.data.sets(start, keys, grids)

        def errors(
            params: Sequence[Tensors],
            start: Tensor,
            keys: Tensor,
            grids: tuple[Tensor, ...],
            given: Sets | None,
        ) -> Tensor:
            sums = []
            for i, (x, y) in enumerate(sets(start, keys, grids) if given is None else given):
                scaling = self.data.scalings[i]
                prediction = judges[i]("forward", {**params[i], **self._noise}, scaling.seen(x))
                sums.append(metrics[i](scaling.said(prediction), y).sum((-2, -1)))
            return torch.stack(sums, -1)

        compiled = self._worth_compiling()
        evaluate = self.compiler("evaluate", errors) if compiled else errors
        draw = self.compiler("sets", sets) if compiled else sets
        total = torch.zeros(len(seeds), 2, dtype=torch.float64, device=device)
        for start in range(0, self.data.total, self.data.rows):
            at = torch.tensor(start, dtype=torch.int32, device=device)
            given = self.data.published(start)
            if given is None and self.data.width > F.UNROLL:
                given = draw(at, self._keys, self._grids)  # type: ignore[assignment]
            total += evaluate(both, at, self._keys, self._grids, given)  # type: ignore[arg-type]
        validation, test = (total / self.data.total / self.case.model[-1].out).unbind(-1)
        return validation, test

    def _worth_compiling(self) -> bool:
        """Return whether compiling saves time; loops over sequences take long to compile."""
        if self.case.task.times:
            return False
        each = 2 * self.data.total * self.data.width * len(self.data.seeds)  # inputs of both sets
        return self.data.device.type == "cuda" or each * self.case.recipe.steps > WORTH_COMPILING * EVERY

    @torch.no_grad()
    def predict(self, params: Tensors, x: Tensor) -> Tensor:
        """Return the outputs of the models for x (runs, rows, in)."""
        scaling = self.data.scaling.evaluated(self.case.task.scaling, x)
        prediction: Tensor = self._judge("forward", {**params, **self._noise}, scaling.seen(x))
        return scaling.said(prediction)

    @torch.no_grad()
    def look(self, params: Tensors) -> tuple[Tensor, Tensors]:
        """Return sparsity errors (runs,), and the effective weights by name."""
        tensors = {**params, **self._noise}
        return self._judge("sparsity_error", tensors), self._judge("meaning", tensors)
