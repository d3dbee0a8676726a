"""Networks that read digits from images, and a unit behind them that calculates."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as T

from nalm import draws
from nalm.config import Layer
from nalm.config.images import PSEUDO_LABEL
from nalm.engine.images.dropped import HALVINGS, kept
from nalm.engine.model import Between, Network
from nalm.tasks.authors import FromGPU
from nalm.units.noise import Noise
from nalm.units.start import Start, Uniform

Tensors = dict[str, Tensor]
FIRST = 100  # streams of a reader's starts and noise begin here; those of the layers behind it are fewer


class Dropout(nn.Module):
    """Leaves out every number with a chance of 1/2, 1/4, ...; which ones is a draw of the run, not of a generator.

    One hashed word decides over 32 numbers at a chance of 1/2, over 16 at 1/4.
    """

    def __init__(self, halvings: int):
        super().__init__()
        self.halvings = halvings  # the chance is 2^-halvings
        self.noise = Noise()

    def forward(self, x: Tensor) -> Tensor:
        """Leave numbers of x (*runs, batch, features) out at random and make the rest larger, in training."""
        if not self.training:
            return x
        each, runs = 32 // self.halvings, self.noise.counter.shape
        count = x.shape[len(runs) :].numel()  # of one run
        words = self.noise.bits((*runs, -(-count // each)))
        return x * kept(words, self.halvings, count).reshape(x.shape) * (1 / (1 - 2.0**-self.halvings))


def linear_start(weight: tuple[int, ...]) -> dict[str, Start]:
    """Return torch's initialisation of a layer: uniform within one over the root of the number of inputs."""
    r = (1 / torch.Size(weight[1:]).numel()) ** 0.5
    return {"weight": Uniform(weight, -r, r), "bias": Uniform(weight[:1], -r, r)}


def convolved(conv: nn.Conv2d, x: Tensor) -> Tensor:
    """Return the ReLU of a convolution in the precision of x; below float32 in the layout of tensor cores."""
    assert conv.bias is not None
    order = torch.contiguous_format if x.dtype == torch.float32 else torch.channels_last
    return torch.relu(T.conv2d(x, conv.weight.to(x.dtype, memory_format=order), conv.bias.to(x.dtype)))


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply a linear layer; with weights (runs, out, in) apply that of every run in one batched product."""
    if weight.ndim == 2:
        return T.linear(x, weight, bias)
    return torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)


class Classifier(nn.Module):
    """Logits of the digits on images of 28 x 28 (Mistry 2023, Fig. E.1, after PyTorch's example), or of another side.

    The convolutions and the first linear layer run in ``precision``; parameters and logits stay float32.
    """

    def __init__(
        self, classes: int, precision: torch.dtype = torch.float32, *, channels: int = 1, side: int = 28
    ):
        super().__init__()
        self.precision = precision
        self.conv1, self.conv2 = nn.Conv2d(channels, 32, 3), nn.Conv2d(32, 64, 3)
        self.dropout1, self.dropout2 = Dropout(HALVINGS), Dropout(1)
        self.fc1, self.fc2 = nn.Linear(64 * ((side - 4) // 2) ** 2, 128), nn.Linear(128, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits (batch, classes) of images (batch, channels, side, side)."""
        x = convolved(self.conv2, convolved(self.conv1, x.to(self.precision)))
        return self.decide(T.max_pool2d(x, 2).flatten(1))

    def decide(self, features: Tensor) -> Tensor:
        """Return the logits (*runs, batch, classes) of the convolutions' result (*runs, batch, features)."""
        p = self.precision
        return self.conclude(affine(self.dropout1(features), self.fc1.weight.to(p), self.fc1.bias.to(p)))

    def conclude(self, hidden: Tensor) -> Tensor:
        """Return the logits of the outputs of the first linear layer, (*runs, batch, 128)."""
        return affine(self.dropout2(torch.relu(hidden).float()), self.fc2.weight, self.fc2.bias)


def softargmax(logits: Tensor, first: int = 0) -> Tensor:
    """Return the mean digit under the softmax (Mistry 2023, equation 7.3): whole once the network is sure.

    >>> softargmax(torch.tensor([[0.0, 90.0, 0.0], [0.0, 0.0, -90.0]]), first=1).tolist()
    [2.0, 1.5]
    """
    digits = torch.arange(first, first + logits.shape[-1], dtype=logits.dtype, device=logits.device)
    return (torch.softmax(logits, -1) * digits).sum(-1)


def pseudo_label(logits: Tensor, first: int = 0) -> Tensor:
    """Return the cross entropy of logits (*runs, n, classes) with the digits that they read, rounded, for each run.

    A reader that is trained on results alone can read a digit as a mixture of other classes. With the digit that is
    read as its label (Lee 2013) it learns the class of the digit.

    >>> pseudo_label(torch.tensor([[0.0, -90.0, 0.0], [-90.0, 0.0, -90.0]]))  # half 0 and half 2, and sure that it is 1
    tensor(45.3466)
    """
    read = softargmax(logits, first).round().long() - first
    return -torch.log_softmax(logits, -1).gather(-1, read.unsqueeze(-1)).mean((-2, -1))


class TwoDigitReader(nn.Module):
    """Two digits, however they are read, and the layers that calculate with them."""

    arithmetic: Network

    def read(self, images: Tensor) -> Tensor:
        """Return the digits (batch, 2) that are read from images (batch, 2, height, width)."""
        raise NotImplementedError

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output (batch, 1), and the digits it was calculated from."""
        digits = self.read(images)
        return self.arithmetic(digits), digits

    def penalised(self, images: Tensor, names: Sequence[str]) -> tuple[Tensor, Tensors]:
        """Return the output, and the named penalties of the layers."""
        return self.arithmetic.penalised(self.read(images), names)

    def project(self) -> None:
        """Move the weights of every layer back into their bounds."""
        self.arithmetic.project()


class Pair(TwoDigitReader):
    """Two images side by side, read by one classifier."""

    def __init__(self, layers: Sequence[Layer], first: int, precision: torch.dtype = torch.float32):
        super().__init__()
        self.first = first
        self.reader = Classifier(10 - first, precision)
        self.arithmetic = Network(layers, 2)

    def logits(self, images: Tensor) -> Tensor:
        """Return the logits (batch, 2, classes) of images (batch, 2, 28, 28)."""
        found: Tensor = self.reader(images.flatten(0, 1).unsqueeze(1))
        return found.unflatten(0, images.shape[:2])

    def read(self, images: Tensor) -> Tensor:
        """Return the digits (batch, 2) that are read from images (batch, 2, 28, 28)."""
        return softargmax(self.logits(images), self.first)

    def penalised(self, images: Tensor, names: Sequence[str]) -> tuple[Tensor, Tensors]:
        """Return the output, and the named penalties of the layers and of the reader."""
        logits = self.logits(images)
        output, terms = self.arithmetic.penalised(softargmax(logits, self.first), names)
        if PSEUDO_LABEL in names:
            terms[PSEUDO_LABEL] = pseudo_label(logits.flatten(0, 1), self.first)
        return output, terms


def starts(
    network: nn.Module, seed: int, first: int = -1, between: Between = (), generator: str = "nalm"
) -> Tensors:
    """Return initial parameters by name, derived from the seed: layers start as published, the reader as in torch.

    Layers may begin as with another seed, ``first``, of this library's generator or of torch's on a GPU, and some of
    their parameters ``between`` two numbers.
    """
    arithmetic = network.get_submodule("arithmetic")
    assert isinstance(arithmetic, Network)
    own = first if first >= 0 else seed
    torchs = FromGPU(own) if generator == "torch" else None
    begun = arithmetic.starts([own], torch.zeros(1), between=between, source=torchs)
    found = {f"arithmetic.{n}": t[0] for n, t in begun.items()}
    modules = [(n, m) for n, m in network.named_modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    for i, (name, module) in enumerate(modules):
        source = draws.Drawn([seed], FIRST + i)
        begins = getattr(module, "start", dict)() or linear_start(tuple(module.weight.shape))
        for part, start in begins.items():
            if getattr(module, part) is not None:
                found[f"{name}.{part}"] = start.sample(source).expand(1, *start.shape)[0].float().clone()
    return found


def buffers(network: nn.Module, seed: int) -> Tensors:
    """Return the buffers of a network by name: constants, and the keys of noise and of dropout."""
    arithmetic = network.get_submodule("arithmetic")
    assert isinstance(arithmetic, Network)
    found = {f"arithmetic.{n}": k[0] for n, k in arithmetic.noise_keys([seed]).items()}
    dropped = [n for n, m in network.named_modules() if isinstance(m, Dropout)]
    found |= {f"{n}.noise.key": draws.keys([seed], "dropout", i)[0] for i, n in enumerate(dropped)}
    fixed = [(n, m) for n, m in network.named_modules() if hasattr(m, "constants")]
    return found | {f"{n}.{name}": value for n, m in fixed for name, value in m.constants().items()}
