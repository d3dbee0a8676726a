"""Images one after another, and a unit in a loop that keeps a product, a sum or counts.

Mistry 2023, sections 4.6.2 and 6.3.2.

A permutation of the images is cut into consecutive sequences, and what is left over is dropped, as Madsen & Johansen
(2020) do it. The permutations are the published ones: of the training images by a seed drawn from the run's, of the
others by fixed seeds. Departs from published code: evaluations are without noise, and read every image once for all
lengths.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional as T

from nalm.config import Case, ImageSequence, Layer
from nalm.config.images import amounts_to
from nalm.config.values import require
from nalm.engine.images.data import Resident, normalised
from nalm.engine.images.readers import Tensors, convolved
from nalm.engine.model import Network
from nalm.networks.cells import LSTM
from nalm.networks.loop import Loop
from nalm.units import NALU, NALUSeparate

Indices = npt.NDArray[np.int64]
VALIDATION_SEED, TEST_SEED = 47430696, 88253339  # of the published code
TRAINED = 11 / 12  # of the training images; the last are for validation: 55,000 and 5,000 of MNIST
EMPTY = (NALU, NALUSeparate, LSTM)  # cells that the published code starts at 0 even for a product


def training_seed(seed: int) -> int:
    """Return the seed of a run's own permutation."""
    return int(np.random.RandomState(seed).randint(0, 2**32 - 1))


def permuted(digits: npt.NDArray[np.int64], first: int, seed: int) -> Indices:
    """Return the indices of images of digits from ``first`` on, in the order in which they are cut into sequences."""
    return np.random.RandomState(seed).permutation(np.flatnonzero(digits >= first))


def cut(order: Tensor, length: int) -> Tensor:
    """Cut an order into consecutive sequences of a length, (sequences, length); leave out the rest.

    >>> cut(torch.tensor([4, 2, 9, 7, 1]), 2).tolist()
    [[4, 2], [9, 7]]
    """
    count = len(order) // length
    return order[: count * length].unflatten(0, (count, length))


def amounts(operation: str, digits: Tensor) -> Tensor:
    """Return what digits (..., time) amount to after every step, (..., time, out): product, sum or counts.

    >>> amounts("multiply", torch.tensor([3, 5, 2])).squeeze(-1).tolist()
    [3.0, 15.0, 30.0]
    """
    if operation == "count":
        ten = torch.arange(10, device=digits.device)
        return (digits.unsqueeze(-1) == ten).double().cumsum(-2)
    values = digits.double().unsqueeze(-1)
    return values.cumprod(-2) if operation == "multiply" else values.cumsum(-2)


def along(loop: Loop, values: Tensor, lengths: Sequence[int]) -> Tensor:
    """Return the running results of the values (n, in) when they are cut into sequences: (lengths, n, out).

    All lengths take their steps together; the longest come first, so that those still going on are the first rows.
    What is left over stays 0.
    """
    n, device = len(values), values.device
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    begins = torch.cat([torch.arange(n // lengths[i], device=device) * lengths[i] for i in order])
    places = torch.cat([torch.arange(n // lengths[i], device=device) * lengths[i] + i * n for i in order])
    results = values.new_zeros(len(lengths) * n, loop.outputs)
    state = loop.begin(values[begins])
    for t in range(max(lengths)):
        active = sum(n // length for length in lengths if length > t)
        state, _ = loop.step(values[begins[:active] + t], state[:active])
        results[places[:active] + t] = loop.output(state)
    return results.unflatten(0, (len(lengths), n))


class Regressor(nn.Module):
    """Numbers read from images of 28 x 28 (Mistry 2023, Fig. E.4): one for its digit, or a chance for each."""

    def __init__(self, outputs: int):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 20, 5), nn.Conv2d(20, 50, 5)
        self.fc1, self.fc2 = nn.Linear(800, 500), nn.Linear(500, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return the numbers (batch, outputs) that are read from images (batch, 1, 28, 28)."""
        x = T.max_pool2d(convolved(self.conv1, x), 2)
        x = T.max_pool2d(convolved(self.conv2, x), 2).flatten(1)
        y: Tensor = self.fc2(torch.relu(self.fc1(x)))
        return y if y.shape[-1] == 1 else y.softmax(-1)


class Reading(nn.Module):
    """A regressor for every image and a unit in a loop."""

    def __init__(self, layers: Sequence[Layer], inputs: int, operation: str, lengths: Sequence[int]):
        super().__init__()
        self.arithmetic = Network(layers, inputs)
        self.cell = layers[0].out
        self.reader = Regressor(inputs - self.cell)
        self.operation, self.lengths = operation, tuple(lengths)

    @property
    def loop(self) -> Loop:
        """The layer as a cell."""
        (unit,) = self.arithmetic.parts()
        whole = self.operation == "multiply" and not isinstance(unit, EMPTY)
        return Loop(unit, first=1.0 if whole else 0.0)

    def read(self, images: Tensor) -> Tensor:
        """Return the numbers read of each image, (batch, time, numbers), for images (batch, time, 28, 28)."""
        values: Tensor = self.reader(images.flatten(0, 1).unsqueeze(1))
        return values.unflatten(0, images.shape[:2])

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return running results (1, lengths, n, out) for images (1, n, 28, 28), and the values read."""
        values = self.read(images)
        return along(self.loop, values[0], self.lengths).unsqueeze(0), values

    def penalised(self, images: Tensor, names: Sequence[str]) -> tuple[Tensor, Tensors]:
        """Return results after every image, for counts the last, (batch, results); and the penalties."""
        loop, values = self.loop, self.read(images)
        if loop.unit.noisy:  # as many draws as steps in every step of training
            loop.unit.noise.counter = loop.unit.noise.counter * values.shape[-2]
        results, seen = loop(values)
        terms = loop.unit.penalties(seen if "inputs" in names else None) if names else {}
        asked = results[..., -1, :] if self.operation == "count" else results.flatten(-2)
        return asked, {name: terms[name] for name in names}

    def project(self) -> None:
        """Move the weights of the cell back into their bounds."""
        self.arithmetic.project()


class Sequences:
    """Sequences of images, and what they amount to."""

    tables: dict[str, tuple[int, ...]] = {}
    halves = False

    def __init__(self, case: Case):
        self.case, self.first = case, int(case.train.low)
        self.task: ImageSequence = case.task  # type: ignore[assignment]  # LAYOUTS chooses this class by its kind
        self.measures = tuple(f"{n}.{what}" for n in self.task.lengths for what in ("error", "right"))

    @staticmethod
    def check(case: Case) -> None:
        """Refuse a model that is not one cell with as many inputs and results as the sequence needs."""
        require(len(case.model) == 1, f"A sequence has one layer as its cell, got {len(case.model)}.")
        read, cell = amounts_to(case.operation), case.model[0]
        require(
            case.inputs == read + cell.out,
            f"A cell sees {read} of an image and its own {cell.out}: {read + cell.out} inputs; got {case.inputs}.",
        )
        (unit,) = Network(case.model, case.inputs).parts()
        results = Loop(unit).outputs
        require(
            results == read, f"{case.operation!r} has {read} results, the cell {cell.label} gives {results}."
        )

    def network(self, precision: torch.dtype) -> nn.Module:
        """Return the network, always in float32: its results are compared with those of a reference."""
        return Reading(self.case.model, self.case.inputs, self.case.operation, self.task.lengths)

    def sets(self, seed: int, pictures: Resident) -> dict[str, Tensor]:
        """Return training sequences, and all images for validation and for the test in one long row each."""
        digits, trained = pictures.digits.cpu().numpy(), int(pictures.trained * TRAINED)
        parts = (
            (slice(0, trained), training_seed(seed)),
            (slice(trained, pictures.trained), VALIDATION_SEED),
            (slice(pictures.trained, None), TEST_SEED),
        )
        train, validation, test = (
            torch.from_numpy(permuted(digits[part], self.first, s) + part.start) for part, s in parts
        )
        return {
            "train": cut(train, self.task.length),
            "validation": validation.unsqueeze(0),
            "test": test.unsqueeze(0),
        }

    def inputs(self, images: Tensor, key: Tensor, step: Tensor) -> Tensor:
        """Return the images, normalised."""
        return normalised(images)

    def target(self, digits: Tensor) -> Tensor:
        """Return the right results for true digits (batch, time)."""
        found = amounts(self.case.operation, digits)
        return (found[..., -1, :] if self.case.operation == "count" else found.flatten(-2)).float()

    def judged(self, output: Tensor, read: Tensor, digits: Tensor) -> tuple[Tensor, Tensor]:
        """Return by length the squared error of all steps and the share of last results that round right.

        Squares are computed in float64: products of twenty digits have ten places and more.
        """
        found = []
        for i, length in enumerate(self.task.lengths):
            wanted = amounts(self.case.operation, cut(digits[0], length))
            said = cut(output[0, i], length).double()
            found += [
                (said - wanted).square().mean(),
                (said.round() == wanted)[:, -1].all(-1).double().mean(),
            ]
        return torch.stack(found).unsqueeze(0), output.new_zeros(1, 0).double()

    def error(self, means: dict[str, float], test: bool) -> float:
        """Return the squared error at the length of training."""
        return means[f"{'test' if test else 'validation'}.{self.task.length}.error"]
