"""Neural Status Register (Faber & Wattenhofer 2020; Mistry 2023, section 2.2.7). No published code exists."""

import math
from collections.abc import Mapping
from typing import Any, Self

import sympy
import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units import spelling
from nalm.units.base import Formulas, Grid, Spelled, Symbols, Unit, Weights
from nalm.units.start import Constant, Start, Uniform

CERTAIN = 1000.0  # a softmax of this against 0 is exactly one-hot
SURE = F.STEEP  # votes this large make every sigmoid 0 or 1


def _comparison(greater: int, equal: int, less: int) -> dict[str, float | Grid]:
    """Return weights that surely give a truth table over (a > b, a = b, a < b), with entries 1 or -1."""
    bias = (equal + (greater + less) / 2) / 2
    return {
        "left": (1.0, 0.0),
        "right": (0.0, 1.0),
        "sign": SURE * (greater - less) / 2,
        "zero": SURE * (equal - bias),
        "bias": SURE * bias,
    }


class NSR(Unit):
    r"""Compares two inputs it selects and returns the probability that the comparison holds.

    .. math:: d_o = \lambda (p^1_o \cdot x - p^2_o \cdot x), \quad p^k = \mathrm{softmax}(V^k), \qquad
        y_o = \sigma\bigl(w^\pm_o \tanh d_o + w^0_o (1 - 2 \tanh^2 d_o) + b_o\bigr)

    ``left`` and ``right`` are the selections p; ``sign``, ``zero`` and ``bias`` say which of <, =, > count as true.
    ``scale`` is lambda: larger for inputs that differ by less. ``redundancy`` copies vote by adding up
    before the sigmoid; their rows follow one another, (copies * out, in). Solved, the sign of d replaces
    its tanh. Returns the probability alone; the papers' second output is its complement.
    Unspecified in the sources and chosen here: V starts Xavier uniform, w in U[-1, 1], b at 0.

    >>> NSR.solved("less").formulas()
    [Piecewise((1, a < b), (0, True))]
    """

    grids = {"left": (0.0, 1.0), "right": (0.0, 1.0)}
    gold = {
        "greater": _comparison(1, -1, -1),
        "greater_equal": _comparison(1, 1, -1),
        "less": _comparison(-1, -1, 1),
        "less_equal": _comparison(-1, 1, 1),
        "equal": _comparison(-1, 1, -1),
        "not_equal": _comparison(1, -1, 1),
    }
    options = ("redundancy", "scale")
    left_hat: Tensor
    right_hat: Tensor
    sign: Tensor
    zero: Tensor
    bias: Tensor

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        redundancy: int = 1,
        scale: float = 1.0,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if redundancy < 1 or not scale > 0:
            raise NALMError(f"NSR needs redundancy >= 1 and scale > 0, got {redundancy!r} and {scale!r}.")
        self.redundancy = redundancy
        self.scale = scale
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        rows = self.redundancy * self.out_features
        r = F.glorot(self.in_features, self.out_features)
        return {
            "left_hat": Uniform((rows, self.in_features), -r, r),
            "right_hat": Uniform((rows, self.in_features), -r, r),
            "sign": Uniform((rows,), -1.0, 1.0),
            "zero": Uniform((rows,), -1.0, 1.0),
            "bias": Constant((rows,), 0.0),
        }

    def weights(self) -> Weights:
        chosen = {"left": self.left_hat.softmax(-1), "right": self.right_hat.softmax(-1)}
        return chosen | {"sign": self.sign, "zero": self.zero, "bias": self.bias}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        rest = dict(weights)
        hats = {f"{side}_hat": CERTAIN * rest.pop(side) for side in ("left", "right")}
        return super().assign_(hats | rest)

    def exact_(self) -> Self:
        self.scale = math.inf
        return super().exact_()

    def compute(self, x: Tensor) -> Tensor:
        w = self.weights()
        d = F.linear(x, w["left"]) - F.linear(x, w["right"])
        s = d.sign() if math.isinf(self.scale) else torch.tanh(self.scale * d)
        z = self.sign.unsqueeze(-2) * s + self.zero.unsqueeze(-2) * (1 - 2 * s * s) + self.bias.unsqueeze(-2)
        return z.unflatten(-1, (self.redundancy, self.out_features)).sum(-2).sigmoid()

    @torch.no_grad()
    def rounded(self) -> Weights:
        """Round each selection to its likeliest input, and scale the votes until the output is certain."""
        w = self.weights()
        chosen = {
            side: torch.nn.functional.one_hot(w[side].argmax(-1), self.in_features).to(w[side])
            for side in ("left", "right")
        }
        votes = {name: w[name] for name in ("sign", "zero", "bias")}
        size = torch.stack([v.abs().amax(-1, keepdim=True) for v in votes.values()]).amax(0)
        return chosen | {n: v * (SURE / torch.where(size > 0, size, 1.0)) for n, v in votes.items()}

    def sparsity_error(self) -> Tensor:
        w = self.weights()
        return torch.maximum(F.sparsity(w["left"]), F.sparsity(w["right"]))

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        columns = [w[name] for name in ("left", "right", "sign", "zero", "bias")]
        copies = list(zip(*columns, strict=True))
        return [_verdict(x, copies[o :: self.out_features]) for o in range(self.out_features)]


def _verdict(x: Symbols, copies: list[tuple[Any, ...]]) -> sympy.Expr:
    """Return the expression that is 1 where the copies' votes add up to more than zero, and 0 elsewhere."""
    places = {x_i: i for i, x_i in reversed(list(enumerate(x)))}
    votes: dict[tuple[sympy.Expr, sympy.Expr], tuple[Any, Any]] = {}
    bias: Any = sympy.Integer(0)
    for left, right, sign, zero, own in copies:
        a, b = spelling.dot(left, x), spelling.dot(right, x)
        bias = bias + own
        if a == b:  # always equal: no more than a constant
            bias = bias + zero
            continue
        if places.get(a, 0) > places.get(b, 0):  # the same pair the other way round
            a, b, sign = b, a, -sign
        old = votes.get((a, b), (0, 0))
        votes[a, b] = (old[0] + sign, old[1] + zero)
    if not votes:
        return sympy.Integer(bool(bias > 0))
    ((a, b), (sign, zero)), *others = sorted(votes.items(), key=lambda vote: -_size(vote[1]))
    table = (sign - zero + bias, zero + bias, -sign - zero + bias)  # a > b, a = b, a < b
    if min(map(abs, table)) <= sum(_size(vote) for _, vote in others) and others:
        said = [
            s / SURE * sympy.sign(a - b) + z / SURE * (1 - 2 * sympy.sign(a - b) ** 2)
            for (a, b), (s, z) in votes.items()
        ]
        return sympy.Piecewise((1, sympy.Add(*said, bias / SURE) > 0), (0, True))
    relations = {  # the others never outvote this pair
        (True, False, False): a > b,
        (True, True, False): a >= b,
        (False, False, True): a < b,
        (False, True, True): a <= b,
        (False, True, False): sympy.Eq(a, b),
        (True, False, True): sympy.Ne(a, b),
    }
    truth = tuple(bool(value > 0) for value in table)
    if truth in relations:
        return sympy.Piecewise((1, relations[truth]), (0, True))
    return sympy.Integer(truth[0])


def _size(vote: tuple[Any, Any]) -> Any:
    """Return the largest weight that the vote of a pair can have."""
    return abs(vote[0]) + abs(vote[1])
