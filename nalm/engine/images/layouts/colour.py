"""Two digits on top of one another, told apart by their channel: each is found by a spatial transformer, then read.

Mistry 2023, sections 4.6.1.2 and E.4.2. Every digit is turned, scaled and placed anew whenever it is seen,
also in evaluations.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as T

from nalm import config, draws
from nalm.config import Layer
from nalm.engine.images.data import Resident, normalised, split
from nalm.engine.images.distort import CANVAS, DRAWS, distorted, poses
from nalm.engine.images.layouts.pair import Pairs
from nalm.engine.images.readers import Classifier, Tensors, TwoDigitReader, convolved, softargmax
from nalm.engine.images.spline import SIDE, ThinPlate, control_points
from nalm.engine.model import Network
from nalm.units.start import Constant, Start

POINTS = SIDE * SIDE


class Points(nn.Linear):
    """Control points before the tanh that keeps them in the image; unmoved if the layer starts from zero."""

    home: Tensor

    def __init__(self, in_features: int, identity: bool):
        super().__init__(in_features, 2 * POINTS)
        self.identity = identity
        self.register_buffer("home", torch.zeros(2 * POINTS))

    def start(self) -> dict[str, Start] | None:
        """Return zeros if the transformer starts as the identity, else None: it starts as a linear layer."""
        shape = tuple(self.weight.shape)
        return {"weight": Constant(shape, 0.0), "bias": Constant(shape[:1], 0.0)} if self.identity else None

    def constants(self) -> Tensors:
        """Return the positions that the layer's outputs are added to."""
        return {"home": control_points().atanh().flatten().float() * self.identity}

    def forward(self, x: Tensor) -> Tensor:
        """Return the control points (batch, 16, 2)."""
        return torch.tanh(super().forward(x) + self.home).unflatten(-1, (POINTS, 2))


class Localiser(nn.Module):
    """Finds one of the digits: control points of the spline through which it looks like itself (Mistry 2023, Fig. E.2).

    The published code starts it as the identity, and loses that when it resets all parameters before training; so
    ``identity`` is off by default.
    """

    def __init__(self, identity: bool, precision: torch.dtype = torch.float32):
        super().__init__()
        self.precision = precision
        self.conv1, self.conv2 = nn.Conv2d(2, 20, 5), nn.Conv2d(20, 20, 5)
        self.fc1, self.points = nn.Linear(320, 32), Points(32, identity)

    def forward(self, x: Tensor) -> Tensor:
        """Return the control points (batch, 16, 2) for images (batch, 2, 42, 42)."""
        x = T.avg_pool2d(x.to(self.precision), 2)
        x = T.max_pool2d(convolved(self.conv1, x), 2)
        x = convolved(self.conv2, x).flatten(1).float()
        found: Tensor = self.points(torch.relu(self.fc1(x)))
        return found


class ColourReader(TwoDigitReader):
    """Two images on top of one another, found by two localisers and read by one classifier."""

    def __init__(
        self, layers: Sequence[Layer], first: int, identity: bool, precision: torch.dtype = torch.float32
    ):
        super().__init__()
        self.first = first
        self.localisers = nn.ModuleList([Localiser(identity, precision) for _ in range(2)])
        self.plate = ThinPlate(CANVAS, CANVAS)
        self.reader = Classifier(10 - first, precision, channels=2, side=CANVAS // 2)
        self.arithmetic = Network(layers, 2)

    def seen(self, images: Tensor) -> Tensor:
        """Return the images as each localiser shows them, (batch, 2 localisers, 2 channels, 42, 42)."""
        return torch.stack([self.plate(images, find(images)) for find in self.localisers], 1)

    def read(self, images: Tensor) -> Tensor:
        """Return the digits (batch, 2) that are read from images (batch, 2, 42, 42)."""
        logits = self.reader(T.avg_pool2d(self.seen(images).flatten(0, 1), 2))
        return softargmax(logits, self.first).unflatten(0, (-1, 2))


class Colours(Pairs):
    """Two images in two channels, and one operation on their digits."""

    task: config.Colour

    def network(self, precision: torch.dtype) -> nn.Module:
        """Return two localisers and a classifier, followed by the case's layers."""
        return ColourReader(self.case.model, self.first, self.task.identity, precision)

    def sets(self, seed: int, pictures: Resident) -> dict[str, Tensor]:
        """Return sets as for images side by side, and a part of the training samples as ``validation``."""
        sets = super().sets(seed, pictures)
        kept, out = (torch.from_numpy(places) for places in split(len(sets["train"]), self.task.validation))
        train = sets["train"][kept]
        return sets | {"train": train, "seen": self.some(train), "validation": sets["train"][out]}

    def inputs(self, images: Tensor, key: Tensor, step: Tensor) -> Tensor:
        """Return each image at a pose of its own, normalised: (batch, 2, 42, 42)."""
        count = len(images) * 2
        position = torch.arange(count * DRAWS, dtype=torch.int32, device=images.device)
        drawn = poses(draws.bits(key, step, position).reshape(count, DRAWS))
        canvas = distorted(images.flatten(0, 1), torch.arange(count, device=images.device), *drawn)
        return normalised(canvas.unflatten(0, (-1, 2)))
