"""The problems of ``benchmarks.attached``: data, the network that learns it, and the training loop."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Generator, Tensor, nn

import nalm
from nalm.units.baselines import Linear

Rows = tuple[int, int]  # networks, and rows for each
Draw = Callable[[Rows, float, Generator], tuple[Tensor, Tensor]]  # rows, factor -> inputs and targets


@dataclass(frozen=True)
class Problem:
    """A problem: the data, the network that learns it, and the training loop."""

    network: Callable[[], nn.Module]
    draw: Draw
    formula: str  # of the last unit, in the inputs of the units before it
    loss: str = "mse"
    lr: float = 1e-2
    steps: int = 2_000
    ones: bool = False  # whether the weights of the last unit start at 1


def _area(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw two sides and a column that does not matter; in training the sides are measured with 5 % of noise."""
    x = factor * (1 + 4 * torch.rand(*rows, 3, generator=g))
    noise = 0.05 * torch.randn(x.shape, generator=g) * (factor == 1)
    return x * (1 + noise), x[..., :1] * x[..., 1:2]


def _hidden(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw eight columns; the target is the product of two weighted sums, which a linear layer has to find."""
    x = factor * torch.rand(*rows, 8, generator=g)
    w = torch.tensor([[1.0, 2, 0, 0, 0.5, 0, 1, 0], [0, 0, 1.5, 1, 0, 2, 0, 0.5]])
    return x, (x @ w.mT).prod(-1, keepdim=True)


def _ratio(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw five columns; the target is the first by the third."""
    x = factor * (1 + 2 * torch.rand(*rows, 5, generator=g))
    return x, x[..., :1] / x[..., 2:3]


def _sums(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw ten columns; the target is the product of two sums of four columns."""
    x = factor * (1 + torch.rand(*rows, 10, generator=g))
    return x, x[..., :4].sum(-1, keepdim=True) * x[..., 4:8].sum(-1, keepdim=True)


def _behind(layers: str, ones: bool) -> nn.Module:
    """Return the network that a name such as Linear-ReLU-NMU spells, started as usual or with the NMU's weights at 1.

    Its linear layers accept a leading axis; they are started as nn.Linear.
    """
    parts, width = list[nn.Module](), 8
    for k, name in enumerate(names := layers.split("-")):
        if name == "Linear":
            out = 2 if "Linear" not in names[k + 1 :] else 16
            torchs = nn.Linear(width, out)
            parts.append(Linear(width, out))
            parts[-1].load_state_dict({"weight": torchs.weight, "offset": torchs.bias})
            width = out
        else:
            parts.append(nn.ReLU() if name == "ReLU" else nalm.NMU(width, 1))
    if ones:
        nn.init.ones_(parts[-1].get_parameter("weight"))
    return nn.Sequential(*parts)


def _two_layers() -> nn.Module:
    return nn.Sequential(nalm.NAU(10, 2), nalm.NMU(2, 1))


SUMS = "(a + b + c + d)*(e + f + g + h)"
PROBLEMS: dict[str, Problem] = {
    "area of noisy sides: NMU": Problem(lambda: nalm.NMU(3, 1), _area, "a*b"),
    **{
        f"hidden product: {layers}{' from 1' if ones else ''}": Problem(
            partial(_behind, layers, ones), _hidden, "a*b", steps=5_000, ones=ones
        )
        for layers in ("Linear-NMU", "Linear-ReLU-NMU", "Linear-ReLU-Linear-NMU")
        for ones in (False, True)
    },
    "ratio of two of five: NMRU": Problem(lambda: nalm.NMRU(5, 1), _ratio, "a/c", steps=5_000),
    "ratio of two of five: NRU": Problem(lambda: nalm.NRU(5, 1), _ratio, "a/c"),
    "ratio of two of five: RealNPU": Problem(lambda: nalm.RealNPU(5, 1), _ratio, "a/c"),
    "product of two sums: NAU-NMU, mse": Problem(_two_layers, _sums, SUMS),
    "product of two sums: NAU-NMU, projected": Problem(_two_layers, _sums, SUMS, loss="projected"),
}
