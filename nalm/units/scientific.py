"""Scientific encoding: a number as sign, mantissa and exponent (Mistry 2023, section 8.1.3), and a unit with it."""

from typing import NamedTuple

import torch
from torch import Tensor

from nalm import functional as F
from nalm.units import spelling
from nalm.units.base import Formulas, Spelled, Symbols, Unit, Weights
from nalm.units.inac import IMNAC
from nalm.units.start import Start, Uniform

PART = 64  # inputs whose mantissas are multiplied at once: their product is at most 2^64
STEPS = 3  # powers of two that bring the smallest number above the largest one


class Scientific(NamedTuple):
    """Numbers as sign * mantissa * 2^exponent: sign -1, 0 or 1, exponent whole, mantissa 1 for the number 0."""

    sign: Tensor
    mantissa: Tensor
    exponent: Tensor


def encode(x: Tensor) -> Scientific:
    """Write numbers with a mantissa from 1 to 2 (ends included); without any rounding, also of the smallest ones.

    Gradients reach the mantissa alone, since the exponent is whole. In float16 and bfloat16, where logarithms are
    coarse, a mantissa may lie a little below 1; a unit computes in float32 at least.

    >>> encode(torch.tensor([-12.0]))
    Scientific(sign=tensor([-1.]), mantissa=tensor([1.5000]), exponent=tensor([3.]))
    """
    size = torch.where(x == 0, 1.0, x.abs())
    limit = F.EXPONENTS[x.dtype]  # twice this covers infinity and the smallest numbers
    exponent = size.detach().log2().floor().clamp(-2 * limit, 2 * limit)
    return Scientific(x.sign(), _scaled(size, -exponent), exponent)


def decode(number: Scientific) -> Tensor:
    """Return the numbers; the exponents need not be whole and the mantissas may be any positive numbers.

    The result is infinite or 0 only where the number itself is too large or too small.

    >>> decode(encode(torch.tensor([1e30, -3e-30, 0.0])))
    tensor([ 1.0000e+30, -3.0000e-30,  0.0000e+00])
    """
    whole = number.exponent.detach().round()
    part = number.mantissa * torch.exp2(number.exponent - whole)
    return number.sign * _scaled(part, whole)


def _scaled(x: Tensor, whole: Tensor) -> Tensor:
    """Multiply by a power of two, in steps that are each a normal number, so that nothing is rounded on the way."""
    left, limit = whole.to(x.dtype), F.EXPONENTS[x.dtype]
    for _ in range(STEPS):
        step = left.clamp(-limit, limit)
        x, left = x * torch.exp2(step), left - step
    return x


class ScientificNPU(Unit):
    r"""Multiplies and divides with mantissas and exponents apart, over the whole range of floating-point numbers.

    .. math:: y_o = \cos\Bigl(\pi \sum_i W_{oi} [x_i < 0]\Bigr) \prod_i m_i^{W_{oi}} \; 2^{\sum_i W_{oi} e_i},
        \qquad |x_i| = m_i 2^{e_i}, \quad -1 \le W \le 1

    with whole exponents e and mantissas m from 1 to 2. The function is that of the Real NPU without gate. In
    floating-point arithmetic it is exact up to rounding for W in {-1, 0, 1}: no logarithm is taken, no epsilon is
    added, and 1e30 * 1e30 / 1e30 does not overflow. The penalty ``weight`` draws towards {-1, 0, 1}. Not published
    before.

    >>> ScientificNPU.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": (-1.0, 0.0, 1.0)}
    gold = IMNAC.gold
    inverse = "divide"
    weight: Tensor

    def start(self) -> dict[str, Start]:
        r = min(0.5, F.glorot(self.in_features, self.out_features))
        return {"weight": Uniform((self.out_features, self.in_features), -r, r)}

    def compute(self, x: Tensor) -> Tensor:
        sign, mantissa, exponent = encode(x)
        turned = F.linear(x, self.weight, of=F.angle).cos()
        # a mantissa of 1 and an exponent of 0 stand for the number 0, whose powers are set apart
        zeros = F.product(_power_of_zero, 1 - sign.abs(), self.weight.detach())
        product, scale = torch.ones_like(turned), F.linear(exponent, self.weight)
        for m, w in zip(mantissa.split(PART, -1), self.weight.split(PART, -1), strict=True):
            some, product, more = encode(product)  # some is 0 where a factor was, such as 1 / inf, else 1
            product, scale = some * product * F.power_product(m, w), scale + more
        return decode(Scientific(turned, product, scale)) * zeros

    @torch.no_grad()
    def project(self) -> None:
        self.weight.clamp_(-1, 1)

    def penalties(self, x: Tensor | None = None) -> Weights:
        return {"weight": F.mean_matrix(F.to_ternary(self.weight))}

    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        return [spelling.powers(row, x) for row in w["weight"]]


def _power_of_zero(is_zero: Tensor, w: Tensor) -> Tensor:
    """Return 0^w where an input is 0, else 1."""
    return torch.where(is_zero == 1, F.power(torch.zeros_like(is_zero), w), 1.0)
