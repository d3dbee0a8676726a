"""Runs whose readers have the same shape, trained as one batch: every layer of all of them is one product.

The layers behind the readers may differ: each kind sees the digits that its own readers read. Members keep their
tensors, which become views of those of the batch; the gradient of a sum over runs is each run's own.
"""

import functools
from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.func import grad
from torch.nn import functional

from nalm.config.images import PSEUDO_LABEL
from nalm.engine import optim
from nalm.engine.compiler import Compiler, Methods
from nalm.engine.graphs import Graphs
from nalm.engine.images.convolutions import LINEAR, NAMES, form
from nalm.engine.images.data import normalised
from nalm.engine.images.fused import by_channel, by_pixel
from nalm.engine.images.program import Member
from nalm.engine.images.readers import pseudo_label, softargmax
from nalm.engine.images.stacked import READER, SameLayers, Stacked
from nalm.engine.step import grown, start_and_slope, update
from nalm.losses import loss as find_loss

Tensors = dict[str, Tensor]
COLUMNS = READER + "fc1.weight"
WITH = (*NAMES, *LINEAR)  # weights that a form takes


class Together(Stacked):
    """Steps and evaluations of members that are one batch."""

    def __init__(self, members: Sequence[Member], convolutions: str, compiled: bool):
        super().__init__(members)
        first = self.members[0].program
        self.case, self.layout = first.case, first.layout
        self.precision, self.first = first.precision, int(first.case.train.low)
        self.graphs = Graphs(self.device, self.stream)
        self.compiler = Compiler(compiled and self.device.type == "cuda")
        self.convolve = form(convolutions)
        self.decide = Methods(first.network.get_submodule("reader"), "conclude")
        self.quiet = Methods(first.judge.get_submodule("reader"), "conclude")
        self._read_images, self._count = self._image_reader(), self._counted()
        self._steps: dict[str, Callable[..., object]] = {}

    # -- one step -----------------------------------------------------------------------------

    def advance(self, loss_name: str) -> None:
        """Take one step of every member."""
        with self.here():
            if loss_name not in self._steps:
                self._steps[loss_name] = self._step(loss_name)
            step = self.compiler(f"train {loss_name}", self._steps[loss_name])
            own = (self.params, self.slots, self.at, self.noise, self.tables, self.shared)
            self.graphs(loss_name, lambda: step(*own))

    def _step(self, loss_name: str) -> Callable[..., object]:
        """Return one step: look up, read, calculate, gradient, clip, update, project."""
        recipe, epoch, runs = self.case.recipe, self.case.epoch, len(self.members)
        loss, rule = find_loss(loss_name), self.members[0].program.optimiser
        labelled = [
            (kind.part, ramp)
            for kind in self.kinds
            for name, ramp in kind.recipe.penalties
            if name == PSEUDO_LABEL
        ]

        def step(
            params: Tensors,
            slots: dict[str, list[Tensor]],
            at: Tensor,
            noise: Tensors,
            t: Tensors,
            shared: Tensors,
        ) -> None:
            rows = t["rows"][:, (at.long() % epoch) * recipe.batch + t["grid"]]
            y = self.layout.target(shared["digits"][rows].flatten(0, 1)).unflatten(0, (runs, -1))
            x = normalised(shared["images"][rows]).flatten(1, 2).to(self.precision)
            draw = noise[READER + "dropout1.noise.key"], at
            hidden, pull = self.convolve(_inside(params, WITH), x, draw)

            def objective(hidden: Tensor, p: Tensors) -> Tensor:
                logits = self._logits(self.decide, hidden, p, noise, at)
                read = softargmax(logits, self.first).unflatten(1, (-1, 2))
                terms = [
                    self._loss(kind, loss, read[kind.part], y[kind.part], p, noise, at) for kind in self.kinds
                ]
                for part, ramp in labelled:
                    weight = ramp.weight * grown(at, *start_and_slope(ramp))
                    terms.append(weight * pseudo_label(logits[part], self.first))
                return torch.cat(terms).sum()

            rest = {n: p for n, p in params.items() if n.removeprefix(READER) not in WITH}
            back, gradients = grad(objective, argnums=(0, 1))(hidden, rest)
            gradients |= {READER + n: g.to(params[READER + n].dtype) for n, g in pull(back).items()}
            gradients = self._changed({n: gradients[n] for n in params}, params, t)
            update(params, gradients, slots, (rule, t["lr"]), at, self._project)

        return step

    def _logits(self, decide: Methods, hidden: Tensor, p: Tensors, noise: Tensors, at: Tensor) -> Tensor:
        """Return the logits (runs, n, classes) of outputs of the first linear layer, (runs, n, 128)."""
        keys = {n.removeprefix(READER): k for n, k in noise.items() if n.startswith(READER)}
        counters = {n.removesuffix("key") + "counter": at.expand(len(self.members)) for n in keys}
        own = {n.removeprefix(READER): t for n, t in p.items() if n.startswith(READER)}
        logits: Tensor = decide("conclude", {**own, **keys, **counters}, hidden)
        return logits

    @staticmethod
    def _loss(
        kind: SameLayers,
        loss: Callable[..., Tensor],
        read: Tensor,
        y: Tensor,
        p: Tensors,
        noise: Tensors,
        at: Tensor,
    ) -> Tensor:
        """Return the loss of every run of a kind and the penalties of its layers."""
        keys = kind.own(noise)
        counters = {n.removesuffix("key") + "counter": at.expand(len(read)) for n in keys}
        ramps = [(name, ramp) for name, ramp in kind.recipe.penalties if name != PSEUDO_LABEL]
        names = [name for name, _ in ramps]
        output, terms = kind.learn("penalised", {**kind.own(p), **keys, **counters}, read, names)
        total = loss(output, y, output)
        for name, ramp in ramps:
            total = total + ramp.weight * grown(at, *start_and_slope(ramp)) * terms[name]
        return total.expand(len(read))

    def _changed(self, gradients: Tensors, params: Tensors, limits: Tensors) -> Tensors:
        """Return gradients with the weight decay of each kind, and clipped where its recipe says so."""
        for kind in self.kinds:
            if kind.recipe.weight_decay:
                for n in [n for n in params if n.startswith(kind.prefix)]:
                    gradients[n] = gradients[n] + kind.recipe.weight_decay * params[n]
        runs = len(self.members)
        for norm, clip in optim.CLIPS.items():
            if f"clip.{norm}" in limits:  # infinite for runs that are not clipped by this norm
                wide = {n: _padded(g, self.parts[n], runs) for n, g in gradients.items()}
                wide[COLUMNS] = by_pixel(
                    wide[COLUMNS]
                )  # its order in memory, in which the norm is read faster
                clipped = clip(wide, limits[f"clip.{norm}"])
                clipped[COLUMNS] = by_channel(clipped[COLUMNS])
                gradients = {n: g[self.parts[n]] for n, g in clipped.items()}
        return gradients

    def _project(self, moved: Tensors) -> None:
        for kind in self.kinds:
            if own := kind.own(moved):
                kind.learn("project", own)

    # -- evaluation ---------------------------------------------------------------------------

    @torch.no_grad()
    def evaluate(self) -> None:
        """Start the evaluation of every set of every member; ``fetch`` waits for its end."""
        with self.here():
            pictures = self.pictures
            pictures["offset"].zero_()
            reader = self.compiler(f"read {tuple(pictures['rows'].shape)}", self._read_images)
            needed = (self.params, self.at, pictures, self.shared)
            for _ in range(pictures["rows"].shape[1] // len(pictures["grid"])):
                self.graphs("read", functools.partial(reader, *needed))
            for name, s in self.sets.items():
                for part in ("offset", "sums", "counts"):
                    s[part].zero_()
                count = self.compiler(f"judge {tuple(s['rows'].shape)}", self._count)
                own = (self.params, self.noise, s, pictures["read"], self.shared)
                for _ in range(s["rows"].shape[1] // len(s["grid"])):
                    self.graphs(f"judge {name}", functools.partial(count, *own))

    def _image_reader(self) -> Callable[..., object]:
        """Return the function that reads one chunk of the images of every member."""

        def read_images(params: Tensors, at: Tensor, pictures: Tensors, shared: Tensors) -> None:
            place = pictures["offset"] + pictures["grid"]
            x = normalised(shared["images"][pictures["rows"][:, place]]).to(self.precision)
            hidden, _ = self.convolve(_inside(params, WITH), x, None)
            logits = self._logits(self.quiet, hidden, params, {}, at)
            pictures["read"].index_copy_(1, place, softargmax(logits, self.first))
            pictures["offset"].add_(len(pictures["grid"]))

        return read_images

    def _counted(self) -> Callable[..., object]:
        """Return the function that adds one chunk of a set of every member to its sums."""
        runs = len(self.members)

        def count(params: Tensors, noise: Tensors, s: Tensors, digits: Tensor, shared: Tensors) -> None:
            place = s["offset"] + s["grid"]
            places, kept = s["places"][:, place], s["kept"][:, place].unsqueeze(-1)
            read = digits.gather(1, places.flatten(1)).view(places.shape)
            outputs = [
                kind.judge("forward", {**kind.own(params), **kind.own(noise)}, read[kind.part])
                for kind in self.kinds
            ]
            true = shared["digits"][s["rows"][:, place]]
            measures, counts = self.layout.judged(
                *[t.flatten(0, 1) for t in (torch.cat(outputs), read, true)]
            )
            for part, values in (("sums", measures), ("counts", counts)):
                s[part].add_(torch.where(kept, values.unflatten(0, (runs, -1)), 0.0).sum(1))
            s["offset"].add_(len(s["grid"]))

        return count


def _padded(gradient: Tensor, part: slice, runs: int) -> Tensor:
    """Return the gradient of some runs with zeros for the others."""
    if len(gradient) == runs:
        return gradient
    return functional.pad(gradient, (0, 0) * (gradient.ndim - 1) + (part.start, runs - part.stop))


def _inside(params: Tensors, names: Sequence[str]) -> Tensors:
    """Return some tensors of the readers by their names inside them."""
    return {name: params[READER + name] for name in names}
