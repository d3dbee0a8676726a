"""The data of a population: samplers of inputs, their targets, and the scaling of both."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm import draws
from nalm import functional as F
from nalm.engine.plan import Run
from nalm.tasks.authors import evaluation
from nalm.tasks.operands import Target, subsets
from nalm.tasks.sampler import Sampler, fixed_rows
from nalm.tasks.scaling import Scaling

EVALUATION, SEQUENCES = 10_000, 1_000  # rows of each evaluation set; fewer of sequences
# inputs evaluated per call, where drawing them is part of the compiled step; on a GPU; where they are drawn first
NUMBERS, LARGE, CACHED = 2**24, 2**27, 2**18
SETS = ("validation", "test")
LABELS = 9_999  # the index of noise on targets among the streams of noise

Tensors = dict[str, Tensor]
Sets = list[tuple[Tensor, Tensor]]  # inputs and targets of the validation and the test set


class Data:
    """Samplers of training and test inputs, the truth about them, and the rows of an evaluation."""

    def __init__(self, runs: Sequence[Run], device: torch.device):
        self.case, self.device = runs[0].case, device
        self.cases, self.seeds = [r.case for r in runs], [r.seed for r in runs]
        parts = [subsets(r.case, r.seed)[0].stop for r in runs]
        short, long = (self.case.inputs * length for length in self.case.task.times or (1, 1))
        long = self.case.task.test_inputs or long
        self.train = Sampler([c.train for c in self.cases], short, device, parts)
        self.test = Sampler([c.test for c in self.cases], long, device, parts)
        self.target = Target(self.cases, self.seeds, device)
        self.total = SEQUENCES if self.case.task.times else EVALUATION
        self.width = short
        room = max(50, min(numbers_at_once(device, short) // (len(runs) * max(short, long)), self.total))
        self.rows = next(r for r in (10_000, 5_000, 2_500, 1_000, 500, 100, 50) if r <= room)
        self._published: Sets = []
        self.scaling = self._scaling()
        self.scalings = [self._evaluated(which) for which in SETS]  # of the evaluation sets

    def _scaling(self) -> Scaling:
        """Return the scaling by the statistics of the fixed sample, or of the first 10,000 rows of training data."""
        if not self.case.task.scaling:
            return Scaling()
        key = draws.keys(self.seeds, "train", device=self.device)
        first = torch.zeros((), dtype=torch.int32, device=self.device)
        x = self.train(key, first, self.train.grid(self.case.task.sample or EVALUATION)).mT
        return Scaling.of(self.case.task.scaling, x, self.target(x))

    def _evaluated(self, which: str) -> Scaling:
        """Return the scaling of an evaluation set, for which the whole set is drawn if its own statistics count."""
        kind = self.case.task.scaling
        if kind != "minmax-evaluated":
            return self.scaling
        if self.case.task.data == "authors":
            return self.scaling.evaluated(kind, evaluation(self.cases, self.target, which, self.device)[0])
        sampler = self.train if which == "validation" else self.test
        key = draws.keys(self.seeds, which, device=self.device)
        first = torch.zeros((), dtype=torch.int32, device=self.device)
        return self.scaling.evaluated(kind, sampler(key, first, sampler.grid(self.total)).mT)

    def grid(self, rows: int) -> Tensor:
        """Return the positions of a batch in the stream of training inputs."""
        return self.train.grid(rows)

    def settings(self) -> Tensors:
        """Return tensors that a step reads besides the settings of the runs."""
        if not self.case.task.noise:
            return {}
        sizes = [case.task.noise for case in self.cases]
        keys = draws.keys(self.seeds, "noise", LABELS, device=self.device)
        return {"labels": keys, "noise": torch.tensor(sizes, device=self.device)}

    def batch(self, step: Tensor, s: Tensors) -> tuple[Tensor, Tensor]:
        """Return the batch (runs, batch, in) of a step and its targets; ``s`` are the settings of the runs."""
        if not self.case.task.sample:
            x = self.train(s["train"], step, self._positions(s["grid"])).mT
        else:
            rows = fixed_rows(
                s["rows"], step, self.case.recipe.batch, self.case.task.sample, self.case.inputs
            )
            x = self.train(s["train"], torch.zeros_like(step), rows).mT
        y = self.target(x)
        return x, self._noisy(y, step, s) if self.case.task.noise else y

    @staticmethod
    def _noisy(y: Tensor, step: Tensor, s: Tensors) -> Tensor:
        """Return targets (runs, batch, out) with normal noise."""
        position = torch.arange(y[0].numel(), dtype=torch.int32, device=y.device).reshape(y.shape[1:])
        drawn = draws.stored(draws.normal(draws.bits(s["labels"], step, position), y.dtype))
        spread = (y - y.mean(-2, keepdim=True)).square().mean(-2, keepdim=True).sqrt()
        return y + s["noise"][:, None, None] * spread * drawn

    def _positions(self, words: Tensor) -> Tensor:
        """Return the positions of a batch; a GPU counts them, so that inputs are drawn and summed in one loop."""
        if words.is_cuda and self.width > F.UNROLL:
            return self.train.grid(self.case.recipe.batch)
        return draws.unpacked(words)

    def sets(self, start: Tensor, keys: Tensor, grids: tuple[Tensor, ...]) -> Sets:
        """Return inputs and targets of both evaluation sets, from row ``start`` on."""
        samplers, at = (self.train, self.test), torch.zeros_like(start)
        positions = [draws.unpacked(words) for words in grids]
        x = [f(keys[i], at, positions[i] + start * f.inputs).mT for i, f in enumerate(samplers)]
        return [(part, self.target(part)) for part in x]

    def grids(self) -> tuple[Tensor, Tensor]:
        """Return the positions of an evaluation's rows in both sets."""
        return self.train.grid(self.rows), self.test.grid(self.rows)

    def published(self, start: int) -> Sets | None:
        """Return rows of the published evaluation sets and their targets, if the case asks for them."""
        if self.case.task.data != "authors":
            return None
        if not self._published:
            self._published = [evaluation(self.cases, self.target, which, self.device) for which in SETS]
        rows = slice(start, start + self.rows)
        return [(x[:, rows], y[:, rows]) for x, y in self._published]


def numbers_at_once(device: torch.device, width: int) -> int:
    """Return how many inputs one call of an evaluation takes."""
    return LARGE if device.type == "cuda" else CACHED if width > F.UNROLL else NUMBERS
