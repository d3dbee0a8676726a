"""Baselines that the units are compared with: ordinary layers, and fixed operations.

They are ``Trainable`` but no ``Unit``: no grid and no formula, but the same shapes, populations and initialisation.
"""

import itertools
from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError, unknown
from nalm.operations import operation as find_operation
from nalm.units.base import Trainable
from nalm.units.start import Constant, Start, Uniform

ACTIVATIONS = {
    "relu": torch.relu,
    "relu6": torch.nn.functional.relu6,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
}
RECTIFIERS = ("relu", "relu6")


class Linear(Trainable):
    r"""An affine layer :math:`y = W x + b`, Xavier uniform, bias at 0.

    >>> Linear(2, 1, bias=False)
    Linear(in_features=2, out_features=1, bias=False)
    """

    options = ("bias",)
    weight: Tensor
    offset: Tensor  # only with a bias

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        bias: bool = True,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        self.bias = bias
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        r = F.glorot(self.in_features, self.out_features)
        start: dict[str, Start] = {"weight": Uniform((self.out_features, self.in_features), -r, r)}
        return start | ({"offset": Constant((self.out_features,), 0.0)} if self.bias else {})

    def compute(self, x: Tensor) -> Tensor:
        y = F.linear(x, self.weight)
        return y + self.offset.unsqueeze(-2) if self.bias else y


class Affine(Trainable):
    r"""A factor and an offset for each output, :math:`y_o = w_o x_o + b_o`; inputs beyond the outputs are left out.

    Starts as the identity.

    >>> Affine(2, 2)(torch.tensor([3.0, 2.0])).tolist()
    [3.0, 2.0]
    """

    factor: Tensor
    offset: Tensor

    def start(self) -> dict[str, Start]:
        if self.out_features > self.in_features:
            raise NALMError(f"{self.label} has more outputs than inputs.")
        return {"factor": Constant((self.out_features,), 1.0), "offset": Constant((self.out_features,), 0.0)}

    def compute(self, x: Tensor) -> Tensor:
        return x[..., : self.out_features] * self.factor.unsqueeze(-2) + self.offset.unsqueeze(-2)

    def sparsity_error(self) -> Tensor:
        return self.factor.new_zeros(self.runs)  # its numbers are meant to be any


class MLP(Trainable):
    r"""Hidden layers with an activation, then a linear layer.

    Hidden weights start Kaiming uniform before a ReLU or ReLU6, else and in the last layer Xavier uniform; biases start
    at 0. So do the published codes.

    >>> MLP(2, 1, hidden=(100,))
    MLP(in_features=2, out_features=1, hidden=(100,), activation='relu', bias=True)
    """

    options = ("hidden", "activation", "bias")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        hidden: Sequence[int] = (100,),
        activation: Literal["relu", "relu6", "sigmoid", "tanh"] = "relu",
        bias: bool = True,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if activation not in ACTIVATIONS:
            raise unknown("activation", activation, ACTIVATIONS)
        if not all(isinstance(width, int) and width > 0 for width in hidden):
            raise NALMError(f"MLP needs hidden widths of at least 1, got {tuple(hidden)!r}.")
        self.hidden = tuple(hidden)
        self.activation = activation
        self.bias = bias
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        sizes = (self.in_features, *self.hidden, self.out_features)
        start: dict[str, Start] = {}
        for layer, (fan_in, fan_out) in enumerate(itertools.pairwise(sizes)):
            rectified = layer < len(self.hidden) and self.activation in RECTIFIERS
            r = (6 / fan_in) ** 0.5 if rectified else F.glorot(fan_in, fan_out)
            start[f"weight{layer}"] = Uniform((fan_out, fan_in), -r, r)
            if self.bias:
                start[f"bias{layer}"] = Constant((fan_out,), 0.0)
        return start

    def compute(self, x: Tensor) -> Tensor:
        for layer in range(len(self.hidden) + 1):
            weight = getattr(self, f"weight{layer}")
            x = F.matrix(x, weight) if layer and x.shape[-1] > F.UNROLL else F.linear(x, weight)
            x = x + getattr(self, f"bias{layer}").unsqueeze(-2) if self.bias else x
            x = ACTIVATIONS[self.activation](x) if layer < len(self.hidden) else x
        return x

    def sparsity_error(self) -> Tensor:
        errors = [F.sparsity(w) for name, w in self.weights().items() if name.startswith("weight")]
        return torch.stack(errors).amax(0)


class Quadratic(Trainable):
    r"""Quadratic layers (Mistry 2023, eq. 7.1): :math:`y = (W_j x + b_j) \odot (W_k x + b_k) + W_l x^2 + c`.

    With ``widths``, as many layers before the last, without activations between them.
    The start is unspecified in the sources; Xavier uniform and zeros here. With W_k and W_l at 0 and b_k at 1 it begins
    as a linear layer (Fan et al. 2021, arXiv:2110.06081), which `thesis/ch7` asks for in its recipe.
    """

    options = ("widths",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        widths: Sequence[int] = (),
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if not all(isinstance(width, int) and width > 0 for width in widths):
            raise NALMError(f"Quadratic needs hidden widths of at least 1, got {tuple(widths)!r}.")
        self.widths = tuple(widths)
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    @property
    def layers(self) -> list[str]:
        """Return the prefix of the names of each layer's parameters."""
        return [*(f"hidden{k}_" for k in range(len(self.widths))), ""]

    def start(self) -> dict[str, Start]:
        sizes = itertools.pairwise((self.in_features, *self.widths, self.out_features))
        start: dict[str, Start] = {}
        for layer, (fan_in, fan_out) in zip(self.layers, sizes, strict=True):
            r = F.glorot(fan_in, fan_out)
            start |= {f"{layer}weight_{part}": Uniform((fan_out, fan_in), -r, r) for part in "jkl"}
            start |= {f"{layer}bias_{part}": Constant((fan_out,), 0.0) for part in "jkl"}
        return start

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        for layer in self.layers:
            left, right = (
                F.linear(x, w[f"{layer}weight_{p}"]) + w[f"{layer}bias_{p}"].unsqueeze(-2) for p in "jk"
            )
            squares = F.linear(x * x, w[f"{layer}weight_l"])
            x = left * right + squares + w[f"{layer}bias_l"].unsqueeze(-2)
        return x

    def sparsity_error(self) -> Tensor:
        errors = [F.sparsity(w) for name, w in self.weights().items() if "weight" in name]
        return torch.stack(errors).amax(0)


class ProductFC(Trainable):
    r"""A weighted product :math:`y_o = \prod_i W_{oi} x_i`, of which only the product of weights matters."""

    weight: Tensor

    def start(self) -> dict[str, Start]:
        return {"weight": Uniform((self.out_features, self.in_features), 0.25, 0.75)}

    def compute(self, x: Tensor) -> Tensor:
        return F.product(lambda x_i, w_i: w_i * x_i, x, self.weight)


class Fixed(Trainable):
    """An operation on the first inputs that needs no learning, repeated for every output.

    >>> Fixed(2, 1, operation="divide")(torch.tensor([3.0, 2.0]))
    tensor([1.5000])
    """

    options: ClassVar[tuple[str, ...]] = ("operation",)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        operation: str = "multiply",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        arity = find_operation(operation).arity
        if isinstance(in_features, int) and in_features < arity:
            raise NALMError(f"{operation!r} has {arity} operands, got in_features={in_features}.")
        self.operation = operation
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        return {}

    def compute(self, x: Tensor) -> Tensor:
        operation = find_operation(self.operation)
        y = operation.formula(*x.unbind(-1)[: operation.arity])
        return y.unsqueeze(-1).expand(*y.shape, self.out_features)

    def sparsity_error(self) -> Tensor:
        return torch.zeros(self.runs)


BASELINES: dict[str, type[Trainable]] = {
    baseline.__name__: baseline for baseline in (Linear, Affine, MLP, Quadratic, ProductFC, Fixed)
}
