"""Mathematics without parameters, in which the units are written.

Shapes: inputs ``(*runs, batch, in)``, weights ``(*runs, out, in)``, results ``(*runs, batch, out)``.
Both reductions over the inputs are unrolled while there are few of them, so that a compiler fuses
them into one pass; above that a sum is a matrix product and a product halves pairwise. Neither
calls ``prod``, whose backward pass waits for the device and is wrong in second order at zeros.
"""

import contextlib
import functools
import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

UNROLL = 16  # inputs up to which a reduction is written out term by term
SQUARE = 8  # inputs and outputs from which on a sum is a matrix product all the same
FEW = 4  # outputs up to which a wide sum is not a matrix product
FLOAT32_EPS = torch.finfo(torch.float32).eps
SATURATED = 40.0  # tanh and sigmoid of it are exactly 1 in float64
CLOSED = -1000.0  # sigmoid of it is exactly 0 in float64
TURNS = 3  # parts of a unit that rows of a batch show in turns
TINY = 1e-30  # lower bound of a variance, against division by zero
STEEP = 1e30  # a gate this steep is a step function
NEAR = 1e-3  # a weight this near to -1, 0 or 1 is put there
# Sizes of the exponents of powers of two that are normal numbers, as are their reciprocals.
EXPONENTS = {
    dtype: -math.log2(torch.finfo(dtype).tiny)
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
}


def _terms(term: Callable[..., Tensor], x: Tensor, weights: tuple[Tensor, ...]) -> list[Tensor]:
    """Return term(x_i, w_i, ...) for every input i, each (*runs, batch, out)."""
    columns = zip(x.unbind(-1), *(w.unbind(-1) for w in weights), strict=True)
    return [term(x_i.unsqueeze(-1), *(w_i.unsqueeze(-2) for w_i in w)) for x_i, *w in columns]


def _spread(term: Callable[..., Tensor], x: Tensor, weights: tuple[Tensor, ...]) -> Tensor:
    """Return the same terms as one tensor (*runs, batch, out, in)."""
    return term(x.unsqueeze(-2), *(w.unsqueeze(-3) for w in weights))


def total(term: Callable[..., Tensor], x: Tensor, *weights: Tensor) -> Tensor:
    r"""Sum over the inputs, :math:`\sum_i \mathrm{term}(x_i, w_{oi}, \dots)`."""
    if x.shape[-1] <= UNROLL:
        return functools.reduce(torch.add, _terms(term, x, weights))
    return _spread(term, x, weights).sum(-1)


def product(factor: Callable[..., Tensor], x: Tensor, *weights: Tensor) -> Tensor:
    r"""Multiply over the inputs, :math:`\prod_i \mathrm{factor}(x_i, w_{oi}, \dots)`."""
    if x.shape[-1] <= UNROLL:
        return functools.reduce(torch.mul, _terms(factor, x, weights))
    factors = _spread(factor, x, weights)
    while (n := factors.shape[-1]) > 1:
        half = n // 2
        pairs = factors[..., :half] * factors[..., half : 2 * half]
        factors = torch.cat([pairs, factors[..., 2 * half :]], -1) if n % 2 else pairs
    return factors.squeeze(-1)


def _same(x: Tensor) -> Tensor:
    return x


def linear(x: Tensor, weight: Tensor, *columns: Tensor, of: Callable[..., Tensor] = _same) -> Tensor:
    r"""Compute :math:`\sum_i w_{oi} f(x_i, c_i)`, in full precision also under autocast.

    ``of`` is an elementwise f; columns (*runs, in) are its further arguments. It is applied input by
    input while the sum is unrolled, so that what belongs to an input stays one contiguous plane.
    """
    rows = [c.unsqueeze(-2) for c in columns]
    if x.shape[-1] <= UNROLL and min(weight.shape[-2:]) < SQUARE:
        return total(lambda x_i, w_i, *c_i: w_i * of(x_i, *c_i), x, weight, *rows)
    values = of(x, *rows)
    if weight.shape[-2] <= FEW:  # a matrix this thin is faster as one fused pass per output
        planes = values.mT  # (*runs, in, batch)
        sums = [(planes * w.unsqueeze(-1)).sum(-2) for w in weight.unbind(-2)]
        return torch.stack(sums, -2).mT  # one plane per output, as the gradient reads them
    return matrix(values, weight)


def matrix(x: Tensor, weight: Tensor) -> Tensor:
    """Compute the same sum as a batched matrix product, which is faster for many inputs from an earlier layer."""
    dtype = torch.promote_types(x.dtype, weight.dtype)
    with _full_precision(x.device.type):
        return torch.matmul(x.to(dtype), weight.to(dtype).mT)


def _full_precision(device: str) -> contextlib.AbstractContextManager[None]:
    if device != "meta" and torch.is_autocast_enabled(device):
        return torch.autocast(device, enabled=False)
    return contextlib.nullcontext()


def gated_product(x: Tensor, weight: Tensor) -> Tensor:
    r"""Multiply the inputs that a weight selects, :math:`\prod_i (w_{oi} x_i + 1 - w_{oi})`.

    The identity is added as one term, ``w * x + (1 - w)``, so that w = 1 keeps even a tiny x exactly.
    """
    return product(lambda x_i, w_i: w_i * x_i + (1 - w_i), x, weight)


def power(size: Tensor, weight: Tensor) -> Tensor:
    """Compute size ** weight for size >= 0, with slope zero, not infinity times zero, at a root of 0."""
    steep = (size == 0) & (weight < 1)
    at_zero = torch.where(weight > 0, 0.0, torch.where(weight < 0, math.inf, 1.0)).to(size.dtype)
    return torch.where(steep, at_zero, torch.where(steep, 1.0, size) ** weight)


def power_product(x: Tensor, weight: Tensor, *columns: Tensor, of: Callable[..., Tensor] = _same) -> Tensor:
    r"""Compute the product of powers :math:`\prod_i f(x_i, c_i)^{w_{oi}}`, f >= 0, without logarithms: exact at 0."""
    rows = [c.unsqueeze(-2) for c in columns]
    return product(lambda x_i, w_i, *c_i: power(of(x_i, *c_i), w_i), x, weight, *rows)


def log_product(x: Tensor, weight: Tensor, *columns: Tensor, of: Callable[..., Tensor] = _same) -> Tensor:
    r"""Compute the product of powers as the papers do, :math:`\exp \sum_i w_{oi} \ln f(x_i, c_i)`, for f > 0."""
    return linear(x, weight, *columns, of=lambda x_i, *c_i: of(x_i, *c_i).log()).exp()


def angle(x: Tensor) -> Tensor:
    """Return the argument of a real number: pi below zero, 0 elsewhere."""
    return math.pi * (x < 0).to(x.dtype)


def signed_unit(w_hat: Tensor, m_hat: Tensor) -> Tensor:
    r"""Compute the NAC's weight in (-1, 1), :math:`\tanh(\hat w)\,\sigma(\hat m)`."""
    return torch.tanh(w_hat) * torch.sigmoid(m_hat)


def signed_unit_inverse(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return raw values whose ``signed_unit`` is the weight, exactly for -1, -1/2, 0, 1/2 and 1."""
    w_hat = torch.where(weight < 0, -SATURATED, SATURATED).to(weight.dtype)
    return w_hat, sigmoid_inverse(weight.abs())


def sigmoid_inverse(p: Tensor) -> Tensor:
    """Return raw values whose sigmoid is p, exactly for 0, 1/2 and 1."""
    inside = torch.logit(p.clamp(1e-12, 1 - 1e-12))
    return torch.where(p <= 0, CLOSED, torch.where(p >= 1, SATURATED, inside)).to(p.dtype)


def near_ternary(w: Tensor) -> Tensor:
    """Clamp weights to [-1, 1] and put those that are within ``NEAR`` of -1, 0 or 1 there."""
    inside = w.clamp(-1, 1)
    whole = inside.round()
    return torch.where((w - whole).abs() < NEAR, whole, inside)


def to_ternary(w: Tensor) -> Tensor:
    """Return the distance of each weight to {-1, 0, 1} as the papers measure it: min(|w|, |1 - |w||)."""
    return torch.minimum(w.abs(), (1 - w.abs()).abs())


def to_binary(w: Tensor) -> Tensor:
    """Return the distance of each weight to {0, 1}: min(|w|, |1 - w|)."""
    return torch.minimum(w.abs(), (1 - w).abs())


def mean_matrix(w: Tensor) -> Tensor:
    """Average over (out, in), one value per run."""
    return w.mean((-2, -1))


def sparsity(w: Tensor) -> Tensor:
    """Return the published sparsity error, the largest distance of a weight to {-1, 0, 1}, one value per run."""
    return to_ternary(w).amax((-2, -1))


def nearest(w: Tensor, grid: Sequence[float]) -> Tensor:
    """Replace each weight by the nearest value of the grid; not-a-number stays not-a-number."""
    points = torch.tensor(grid, dtype=w.dtype, device=w.device)
    inside = w.clamp(min(grid), max(grid))  # infinity is as far from every value
    snapped = points[(inside.unsqueeze(-1) - points).abs().argmin(-1)]
    return torch.where(w.isnan(), w, snapped)


def spread(x: Tensor) -> Tensor:
    """Return the unbiased standard deviation over (batch, in), one value per run; 0 for fewer than two numbers."""
    n = x.shape[-1] * x.shape[-2]
    centred = x - x.sum((-2, -1), keepdim=True) / max(n, 1)
    variance = centred.square().sum((-2, -1)) / max(n - 1, 1)
    some = variance > 0  # the root has no slope at zero
    return torch.where(some, torch.where(some, variance, 1.0).sqrt(), 0.0)


def turn(batch: int, device: torch.device | str, along: int | None = None) -> Tensor:
    """Return whose turn each row of a batch is, 0, 1, 2, 0, ...: for units that show their parts in turns.

    In a batch of several axes that were joined, ``along`` is the length of the last one: each begins with 0.
    """
    row = torch.arange(batch, device=device)
    return (row if along is None else row % max(along, 1)) % TURNS


def glorot(in_features: int, out_features: int) -> float:
    """Return the half width of the uniform distribution of Glorot and Bengio 2010 (gain 1)."""
    return math.sqrt(6 / (in_features + out_features))


def scale(v: Tensor, axes: int | tuple[int, ...]) -> Tensor:
    """Return the power of two that brings the largest number along the axes to between 1 and 2; 1 if all are 0.

    Nothing is rounded by it, and squares of the scaled numbers neither overflow nor vanish.
    """
    largest = v.detach().abs().amax(axes, keepdim=True)
    limit = EXPONENTS[v.dtype]
    return torch.where(largest > 0, torch.exp2(-largest.log2().floor().clamp(-limit, limit)), 1.0)


def scaled(v: Tensor, target: Tensor, axes: int | tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Multiply both by the power of two that brings the largest target to between 1 and 2."""
    by = scale(target, axes)
    return v * by, target * by


def residuals(v: Tensor, x: Tensor) -> Tensor:
    """Return the residuals of each column of v after least squares on [1, x], with one step of refinement."""
    x = x * scale(x, -2)
    x = x - x.mean(-2, keepdim=True)
    x = x / x.square().mean(-2, keepdim=True).clamp_min(TINY).sqrt()
    gram = x.mT @ x
    ridge = 1e-6 * x.shape[-2] * torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    factor = torch.linalg.cholesky_ex(gram + ridge).L  # never waits for the device, unlike cholesky
    for _ in range(2):
        v = v - v.mean(-2, keepdim=True)
        half = torch.linalg.solve_triangular(factor, x.mT @ v, upper=False)
        v = v - x @ torch.linalg.solve_triangular(factor.mT, half, upper=True)
    return v
