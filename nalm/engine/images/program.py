"""One training step and one evaluation of a network that reads images, as functions of tensors.

Runs that share a program are members: each has tensors and, on a GPU, a stream and captured graphs of its own.
Images stay on the device as bytes; a step looks its samples up by their places, so that the host sends nothing.
"""

import contextlib
import functools
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.func import grad

from nalm import draws
from nalm.config import Case
from nalm.engine import optim
from nalm.engine.compiler import Compiler, Methods
from nalm.engine.device import fix_matrix_products, fixed_convolutions, products_in
from nalm.engine.graphs import Graphs
from nalm.engine.images.data import resident, shuffled
from nalm.engine.images.layouts import LAYOUTS
from nalm.engine.images.readers import buffers, starts
from nalm.engine.model import Network
from nalm.engine.step import grown, start_and_slope, update
from nalm.losses import loss as find_loss

CHUNK = 1_000  # samples that are evaluated at a time, at most
CHUNKS = 1_000  # of a set, at most
LAYERS = "arithmetic."  # beginning of the names of weights behind the reader

Tensors = dict[str, Tensor]


class ImageProgram:
    """The layout, the network and the compiled functions that the runs of a case share."""

    def __init__(
        self,
        case: Case,
        data: str,
        device: torch.device,
        compiled: bool,
        precision: str = "",
    ):
        on_gpu = device.type == "cuda"
        fix_matrix_products(device)
        self.case, self.device = case, device
        self.layout = LAYOUTS[type(case.task)](case)
        self.precise = precision or ("bfloat16" if on_gpu and self.layout.halves else "")
        self.precision = torch.bfloat16 if self.precise == "bfloat16" else torch.float32
        with torch.random.fork_rng(
            devices=[]
        ):  # their numbers are handed in; torch's generator is left alone
            self.network = self.layout.network(self.precision)
            self.judge = self.layout.network(self.precision).eval()
        self._learn = Methods(self.network, "penalised", "project")
        self.quiet = Methods(self.judge, "forward", "seen")  # without noise
        self.pictures = resident(case.task.source, data, str(device))
        self.compiler = Compiler(compiled and on_gpu)  # on a CPU convolutions are all of the time
        self.optimiser = optim.optimiser(case.recipe.optimiser, case.recipe.momentum, case.recipe.decay)
        self._steps: dict[str, Callable[..., object]] = {}

    @property
    def mode(self) -> str:
        """The way in which steps are run: captured or eager, compiled or not."""
        return self.words(bool(self.compiler.proven))

    def words(self, compiled: bool) -> str:
        """Return the mode in words: captured or eager, compiled or not, and the precision if it was set."""
        words = ["captured"] * (self.device.type == "cuda") + ["compiled"] * compiled
        return " ".join([*(words or ["eager"]), *([self.precise] * bool(self.precise))])

    def step(self, loss_name: str) -> Callable[..., object]:
        """Return the function that takes one step."""
        if loss_name not in self._steps:
            self._steps[loss_name] = self._step(loss_name)
        return self.compiler(f"train {loss_name}", self._steps[loss_name])

    def _step(self, loss_name: str) -> Callable[..., object]:
        """Return one step: look up, read, calculate, gradient, clip, update, project."""
        recipe, epoch = self.case.recipe, self.case.epoch
        names = [name for name, _ in recipe.penalties]
        loss = find_loss(loss_name)

        def step(
            params: Tensors,
            slots: dict[str, list[Tensor]],
            at: Tensor,
            noise: Tensors,
            t: Tensors,
            shared: Tensors,
        ) -> None:
            rows = t["rows"][(at.long() % epoch) * recipe.batch + t["grid"]]
            x = self.layout.inputs(shared["images"][rows], t["transform"], at)
            y = self.layout.target(shared["digits"][rows])
            counters = {n.removesuffix("key") + "counter": at for n in noise if n.endswith("noise.key")}

            def objective(p: Tensors) -> Tensor:
                output, terms = self._learn("penalised", {**p, **noise, **counters}, x, names)
                total: Tensor = loss(output, y, output)
                for name, ramp in recipe.penalties:
                    total = total + ramp.weight * grown(at, *start_and_slope(ramp)) * terms[name]
                return total

            gradients: Tensors = grad(objective)(params)
            if recipe.weight_decay:
                gradients = {
                    n: g + recipe.weight_decay * params[n] if n.startswith(LAYERS) else g
                    for n, g in gradients.items()
                }
            if recipe.clip_norm > 0:
                alone = {n: g.unsqueeze(0) for n, g in gradients.items()}
                runs = optim.CLIPS[recipe.norm](alone, t["clip_norm"])
                gradients = {n: g.squeeze(0) for n, g in runs.items()}
            rule = self.optimiser, t["lr"]
            update(params, gradients, slots, rule, at, lambda moved: self._learn("project", moved))

        return step

    def count(self, params: Tensors, at: Tensor, noise: Tensors, s: Tensors, shared: Tensors) -> None:
        """Add one chunk of a set to its sums; not compiled, which would take longer than it saves."""
        place, chunk = s["offset"] + s["grid"], len(s["grid"])
        rows, kept = s["rows"][place], s["kept"][place].unsqueeze(-1)
        x = self.layout.inputs(shared["images"][rows], s["transform"], at * CHUNKS + s["offset"] // chunk)
        output, read = self.quiet("forward", {**params, **noise}, x)
        measures, counts = self.layout.judged(output, read, shared["digits"][rows])
        s["sums"].add_(torch.where(kept, measures, 0.0).sum(0))
        s["counts"].add_(torch.where(kept, counts, 0.0).sum(0))
        s["offset"].add_(chunk)


class Member:
    """One run of a program."""

    def __init__(self, program: ImageProgram, seed: int):
        self.program, self.seed = program, seed
        device, case = program.device, program.case
        self.stream = torch.cuda.Stream() if device.type == "cuda" else None
        task = case.task
        begun = starts(program.network, seed, task.start, case.recipe.starts, task.generator)
        self.params = {n: p.to(device) for n, p in begun.items()}
        self.slots = {n: optim.slots(program.optimiser, p) for n, p in self.params.items()}
        self.noise = {n: k.to(device) for n, k in buffers(program.network, seed).items()}
        self.at = torch.zeros((), dtype=torch.int32, device=device)
        sets = program.layout.sets(seed, program.pictures)
        self.train = sets.pop("train").to(device)
        self.tables = {  # of one size for all members
            "rows": self.train.new_zeros(case.epoch * case.recipe.batch, *self.train.shape[1:]),
            "grid": torch.arange(case.recipe.batch, device=device),
            "lr": torch.tensor([case.recipe.lr], device=device),
            "clip_norm": torch.tensor([case.recipe.clip_norm], device=device),
            "transform": draws.keys([seed], "transform", device=device)[0],
        }
        self.sets = {name: self._set(rows.to(device), i) for i, (name, rows) in enumerate(sets.items())}
        self.sizes = {name: len(rows) for name, rows in sets.items()}
        self.shared = {"images": program.pictures.images, "digits": program.pictures.digits}
        self.graphs = Graphs(device, self.stream)
        self.epoch = -1  # whose order is in the tables
        if self.stream is not None:
            torch.cuda.synchronize()

    def _set(self, rows: Tensor, number: int) -> Tensors:
        """Return a set padded to whole chunks, with zeros for its sums and a key for what is drawn anew."""
        device, layout = rows.device, self.program.layout
        chunk = min(CHUNK, len(rows))
        more = -len(rows) % chunk
        kept = torch.arange(len(rows) + more, device=device) < len(rows)
        entries = sum(torch.Size(shape).numel() for shape in layout.tables.values())
        return {
            "rows": torch.cat([rows, rows.new_zeros(more, *rows.shape[1:])]),
            "kept": kept,
            "grid": torch.arange(chunk, device=device),
            "transform": draws.keys([self.seed], "transform", 1 + number, device=device)[0],
            "offset": torch.zeros((), dtype=torch.int64, device=device),
            "sums": torch.zeros(len(layout.measures), dtype=torch.float64, device=device),
            "counts": torch.zeros(entries, dtype=torch.float64, device=device),
        }

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """Run the block on the member's own stream, with results that can be repeated."""
        program = self.program
        with fixed_convolutions(), products_in(program.precise), torch.cuda.stream(self.stream):
            yield

    def shuffle(self, epoch: int) -> None:
        """Put the samples of an epoch in their order."""
        self.epoch = epoch
        with self.here():
            rows = self.tables["rows"]
            (order,) = shuffled([len(self.train)], len(rows), [self.seed], epoch, rows.device)
            rows.copy_(self.train[order])

    def advance(self, loss_name: str) -> None:
        """Take one step."""
        with self.here():
            step = self.program.step(loss_name)
            own = (self.params, self.slots, self.at, self.noise, self.tables, self.shared)
            self.graphs(loss_name, lambda: step(*own))

    @torch.no_grad()
    def evaluate(self) -> None:
        """Start the evaluation of every set; ``fetch`` waits for its end."""
        with self.here():
            for name, s in self.sets.items():
                for part in ("offset", "sums", "counts"):
                    s[part].zero_()
                chunk = functools.partial(
                    self.program.count, self.params, self.at, self.noise, s, self.shared
                )
                for _ in range(len(s["rows"]) // len(s["grid"])):
                    self.graphs(f"judge {name}", chunk)

    def fetch(self) -> Tensors:
        """Return the results of an evaluation and the weights behind the reader, on the host."""
        with self.here():
            layers = {n: p.cpu() for n, p in self.params.items() if n.startswith(LAYERS)}
            return evaluated(self.sets) | layers

    def judged(self, found: Tensors) -> tuple[dict[str, float], dict[str, Tensor]]:
        """Return means by set and measure, and counts by set and table, of what was fetched."""
        means: dict[str, float] = {}
        counts: dict[str, Tensor] = {}
        layout = self.program.layout
        for name, size in self.sizes.items():
            values = (found[f"sums.{name}"] / size).tolist()
            means |= {f"{name}.{m}": v for m, v in zip(layout.measures, values, strict=True)}
            parts = found[f"counts.{name}"].split([math.prod(shape) for shape in layout.tables.values()])
            for (table, shape), part in zip(layout.tables.items(), parts, strict=True):
                counts[f"{name}.{table}"] = part.reshape(shape)
        return means, counts

    def arithmetic(self, found: Tensors) -> Network:
        """Return the layers behind the reader with the weights that were fetched."""
        like = self.program.network.get_submodule("arithmetic")
        assert isinstance(like, Network)
        network = Network(self.program.case.model, like.inputs, like.recurrent).eval()
        with torch.no_grad():
            for name, p in network.named_parameters():
                p.copy_(found[LAYERS + name])
        return network


def evaluated(sets: dict[str, Tensors]) -> Tensors:
    """Return the sums and counts of every set, on the host."""
    return {f"{part}.{name}": s[part].cpu() for name, s in sets.items() for part in ("sums", "counts")}
