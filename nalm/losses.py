"""Losses with one value per run: ``loss(prediction, target, inputs)``. To add one: write a function, name it below.

Predictions and targets are ``(*runs, batch, out)``; the inputs are there for losses that look at them.

From ``centred`` on, most remove a constant, a scale or a linear trend before they compare. These often are almost all
of a target's variance and hide the structure of a formula from a squared error.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from nalm import functional as F
from nalm.errors import NALMError, unknown
from nalm.functional import FLOAT32_EPS, TINY, TURNS

Loss = Callable[[Tensor, Tensor, Tensor | None], Tensor]
RESOLVED = 1e-4  # relative error of a mixture below which its size counts


def _check(prediction: Tensor, target: Tensor, *, alike: bool = True) -> None:
    for v in (prediction, target):
        if not isinstance(v, Tensor) or not v.is_floating_point():
            kind = v.dtype if isinstance(v, Tensor) else type(v).__name__
            raise NALMError(f"A loss compares real tensors, got {kind}: use torch.as_tensor(v).float().")
    if alike and (prediction.shape != target.shape or prediction.ndim < 2 or 0 in target.shape[-2:]):
        shapes = f"{tuple(prediction.shape)} and {tuple(target.shape)}"
        raise NALMError(f"A loss compares equal shapes (*runs, batch, out), not empty, got {shapes}.")


def mse(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return the mean squared error :math:`\frac1N \sum (\hat y - y)^2`.

    >>> import torch
    >>> mse(torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [1.0]]))
    tensor(2.)
    """
    _check(prediction, target)
    return (prediction - target).square().mean((-2, -1))


def bce(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return the binary cross-entropy :math:`-\frac1N \sum y \ln \hat y + (1 - y) \ln(1 - \hat y)`.

    For truth values; predictions are clamped to one rounding from 0 and 1, and the distance beyond is added.

    >>> import torch
    >>> bce(torch.tensor([[0.5], [0.5]]), torch.tensor([[1.0], [0.0]]))
    tensor(0.6931)
    """
    _check(prediction, target)
    p = prediction.clamp(FLOAT32_EPS, 1 - FLOAT32_EPS)
    surprise = -target * p.log() - (1 - target) * (1 - p).log()
    return (surprise + (prediction - p).abs()).mean((-2, -1))


def pcc(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return one minus Pearson's correlation (Mistry 2023, eqs. 6.3 and 6.4).

    A shift or a positive scale changes nothing. Variances are at least float32's epsilon, which is added to
    the deviations too. Several outputs are correlated one by one and averaged; the published code mixes them.
    """
    _check(prediction, target)
    x, y = _standardised(prediction), _standardised(target)
    return 1 - (x * y).mean((-2, -1))


def _standardised(v: Tensor) -> Tensor:
    centred = v - v.mean(-2, keepdim=True)
    deviation = centred.square().mean(-2, keepdim=True).clamp_min(FLOAT32_EPS).sqrt()
    return centred / (deviation + FLOAT32_EPS)


def pcc_sequential(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return one minus Pearson's correlation as the sequential MNIST scripts compute it.

    .. math:: 1 - \frac{\sum v_x v_y}{\sqrt{\sum v_x^2} \sqrt{\sum v_y^2} + \epsilon}
    """
    _check(prediction, target)
    x, y = (v - v.mean((-2, -1), keepdim=True) for v in (prediction, target))
    norms = _norm(x) * _norm(y)
    return 1 - (x * y).sum((-2, -1)) / (norms + FLOAT32_EPS)


def _norm(v: Tensor) -> Tensor:
    """Return the length over (batch, out), with a slope of zero where it is zero."""
    return v.square().sum((-2, -1)).clamp_min(1e-30).sqrt()


def mape(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return the mean absolute error relative to the target, :math:`\frac1N \sum |(y - \hat y) / y|`.

    Mistry 2023 prints a division by the signed target, which would reward errors below zero; its code does not.
    """
    _check(prediction, target)
    return ((target - prediction) / target).abs().mean((-2, -1))


def centred(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return the squared error after subtracting the means, over the target's variance; for narrow ranges.

    .. math:: \sum ((\hat y - \bar{\hat y}) - (y - \bar y))^2 / \sum (y - \bar y)^2

    A shift changes nothing, nor do units of measurement: it suits sums by models that have no shift to learn.

    >>> import torch
    >>> y = torch.tensor([[1.0], [3.0]])
    >>> centred(y + 7, y), centred(2 * y, y)
    (tensor(0.), tensor(1.))
    """
    _check(prediction, target)
    prediction, target = F.scaled(prediction, target, (-2, -1))
    error = prediction - target
    error = error - error.mean(-2, keepdim=True)
    spread = (target - target.mean(-2, keepdim=True)).square().mean((-2, -1))
    return error.square().mean((-2, -1)) / spread.clamp_min(TINY)


def log(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Compute the centred loss of :math:`\log|\hat y|` and :math:`\log|y|`: for products and quotients.

    A power unit is linear in this loss when it is shown magnitudes: hand the network :math:`|x|` (``SEES`` says so to
    the engine). Signs follow from the parity of the rounded exponents and need no training. A factor changes nothing.

    >>> import torch
    >>> y = torch.tensor([[2.0], [-4.0]])
    >>> log(-3 * y, y), log(y * y, y)
    (tensor(0.), tensor(1.))
    """
    _check(prediction, target)
    return centred(*(v.abs().clamp_min(TINY).log() for v in (prediction, target)))


def projected(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Return the squared error beyond any linear model of the inputs, relative to that part of the target.

    .. math:: \|(I - QQ^T)(\hat y - y)\|^2 / \|(I - QQ^T) y\|^2, \qquad Q = \text{basis of } [1, X]

    The linear model is fitted to the batch by least squares (Cholesky's, on standardised columns); it needs
    two rows more than columns. The loss is for products of sums, whose factors show in the second order only.

    >>> import torch
    >>> x = torch.tensor([[1.0], [2.0], [3.0], [5.0]])
    >>> bool(projected(x * x + 3 * x - 1, x * x, x) < 1e-9), round(projected(0 * x, x * x, x).item(), 3)
    (True, 1.0)
    """
    _check(prediction, target)
    shape = tuple(inputs.shape) if inputs is not None else ()
    if inputs is None or shape[-2:-1] != target.shape[-2:-1] or shape[-2] <= shape[-1] + 1:
        raise NALMError(
            f"The projected loss needs the inputs of all rows, more rows than columns + 1; got {shape or None}."
        )
    prediction, target = F.scaled(prediction, target, (-2, -1))
    error, rest = F.residuals(torch.cat([prediction - target, target], -1), inputs).chunk(2, -1)
    return error.square().mean((-2, -1)) / rest.square().mean((-2, -1)).clamp_min(TINY)


def paths(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Add the errors of the parts that a unit shows in turns: a sum, the magnitude of a product, a mixture of both.

    Rows 0, 3, 6, ... are compared as ``centred`` does and rows 1, 4, ... as ``log`` does, which makes each convex in
    the weights of its part. Of the others the error is

    .. math:: \frac1N \sum \ln (1 + (e / \delta)^2), \qquad e = \sinh^{-1} (\hat y / c) - \sinh^{-1} (y / c)

    with c the mean of \|y\| and delta 1e-4. Its slope does not depend on the size of the error, so that a gate which
    mixes two parts moves as fast when one of them is a little wrong as when it is far off. For the NSPU, which shows
    its parts so; the batch needs six rows.

    >>> import torch
    >>> y = torch.tensor([[1.0], [2.0], [3.0], [4.0], [8.0], [6.0]])
    >>> paths(y + torch.tensor([[7.0], [0.0], [0.0]]).repeat(2, 1), y)  # the sum is shifted
    tensor(0.)
    """
    _check(prediction, target)
    if target.shape[-2] < 2 * TURNS:
        raise NALMError(f"The loss 'paths' needs a batch of {2 * TURNS} rows, got {target.shape[-2]}.")
    (s, m, mixed), (y, z, whole) = ([v[..., k::TURNS, :] for k in range(TURNS)] for v in (prediction, target))
    return centred(s, y) + log(m, z) + asinh(mixed, whole)


def asinh(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    """Return the error on a scale that neither outliers nor units disturb: the last term of ``paths``."""
    _check(prediction, target)
    prediction, target = F.scaled(prediction, target, -2)
    unit = target.abs().mean(-2, keepdim=True).clamp_min(TINY)
    error = torch.asinh(prediction / unit) - torch.asinh(target / unit)
    return (error / RESOLVED).square().log1p().mean((-2, -1))


def experts(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Add the errors of experts, and the error that is expected if each is right with its share.

    The columns of the prediction are the values of the experts for one number, then their shares; a prediction of the
    target's shape is that of one expert. The error of an expert is :math:`\ln (1 + c / \delta^2)` with its loss
    ``centred`` c and delta 1e-4: it stays as steep when an expert that is almost right has to become exact. Experts do
    not learn from the shares.

    >>> import torch
    >>> y = torch.tensor([[1.0], [3.0]])
    >>> experts(torch.cat([y + 7, torch.ones(2, 1)], -1), y)
    tensor(0.)
    """
    _check(prediction, target, alike=False)
    if prediction.shape == target.shape:
        return (centred(prediction, target) / RESOLVED**2).log1p()
    if target.shape[-1] != 1 or prediction.shape[:-1] != target.shape[:-1] or prediction.shape[-1] % 2:
        raise NALMError(
            f"The loss 'experts' takes values and shares of experts for one number, got {tuple(prediction.shape)} "
            f"for {tuple(target.shape)}: use it with an ExpertSelector."
        )
    values, shares = prediction.chunk(2, -1)
    columns = values.mT.unsqueeze(-1), target.expand_as(values).mT.unsqueeze(-1)  # (*runs, experts, batch, 1)
    each = (centred(*columns) / RESOLVED**2).log1p()
    return (each + shares.mean(-2) * each.detach()).sum(-1)


def valid(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    """Return the mean squared error of rows with finite targets; the others, such as a / 0, are left out.

    A network learns from it only if its own output for the others is finite: zero times infinity is not a number.

    >>> import torch
    >>> valid(torch.tensor([[2.0], [5.0], [3.0]]), torch.tensor([[1.0], [float("inf")], [3.0]]))
    tensor(0.5000)
    """
    _check(prediction, target)
    known = target.isfinite()
    error = torch.where(known, prediction - torch.where(known, target, 0.0), 0.0)
    return error.square().sum((-2, -1)) / known.sum((-2, -1)).clamp_min(1)


LOSSES: dict[str, Loss] = {
    loss.__name__: loss
    for loss in (mse, bce, pcc, pcc_sequential, mape, centred, log, projected, paths, asinh, experts, valid)
}
# A loss that needs the network to see a function of x instead of x.
SEES: dict[str, Callable[[Tensor], Tensor]] = {"log": torch.abs}


def loss(name: str) -> Loss:
    """Return the loss of that name; the error for an unknown name suggests the nearest one.

    >>> loss("mse").__name__
    'mse'
    """
    if not isinstance(name, str) or name not in LOSSES:
        raise unknown("loss", name, LOSSES)
    return LOSSES[name]
