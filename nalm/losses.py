"""Losses with one value per run: ``loss(prediction, target, inputs)``. To add one: write a function, name it below.

Predictions and targets are (*runs, batch, out); the inputs are there for losses that look at them.
"""

from collections.abc import Callable

from torch import Tensor

from nalm.errors import NALMError, unknown
from nalm.functional import FLOAT32_EPS

Loss = Callable[[Tensor, Tensor, Tensor | None], Tensor]


def _check(prediction: Tensor, target: Tensor) -> None:
    if prediction.shape != target.shape or prediction.ndim < 2:
        raise NALMError(
            f"A loss compares equal shapes (*runs, batch, out), got {tuple(prediction.shape)} "
            f"and {tuple(target.shape)}."
        )


def mse(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Mean squared error :math:`\frac1N \sum (\hat y - y)^2`.

    >>> import torch
    >>> mse(torch.tensor([[1.0], [3.0]]), torch.tensor([[1.0], [1.0]]))
    tensor(2.)
    """
    _check(prediction, target)
    return (prediction - target).square().mean((-2, -1))


def pcc(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""One minus Pearson's correlation (thesis eqs. 6.3, 6.4); blind to shift and positive scale.

    Variances are clamped at float32's epsilon, which is added to the deviations as well. Several outputs
    are correlated one by one and averaged, where the published code mixes them.
    """
    _check(prediction, target)
    x, y = _standardised(prediction), _standardised(target)
    return 1 - (x * y).mean((-2, -1))


def _standardised(v: Tensor) -> Tensor:
    centred = v - v.mean(-2, keepdim=True)
    deviation = centred.square().mean(-2, keepdim=True).clamp_min(FLOAT32_EPS).sqrt()
    return centred / (deviation + FLOAT32_EPS)


def pcc_sequential(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""One minus Pearson's correlation as the sequential MNIST scripts compute it.

    .. math:: 1 - \frac{\sum v_x v_y}{\sqrt{\sum v_x^2} \sqrt{\sum v_y^2} + \epsilon}
    """
    _check(prediction, target)
    x = prediction - prediction.mean((-2, -1), keepdim=True)
    y = target - target.mean((-2, -1), keepdim=True)
    norms = _norm(x) * _norm(y)
    return 1 - (x * y).sum((-2, -1)) / (norms + FLOAT32_EPS)


def _norm(v: Tensor) -> Tensor:
    """Length over (batch, out), with a slope of zero where it is zero."""
    return v.square().sum((-2, -1)).clamp_min(1e-30).sqrt()


def mape(prediction: Tensor, target: Tensor, inputs: Tensor | None = None) -> Tensor:
    r"""Mean absolute error relative to the target, :math:`\frac1N \sum |(y - \hat y) / y|`.

    The thesis divides by the signed target, which would reward errors below zero; its code does not.
    """
    _check(prediction, target)
    return ((target - prediction) / target).abs().mean((-2, -1))


LOSSES: dict[str, Loss] = {loss.__name__: loss for loss in (mse, pcc, pcc_sequential, mape)}


def loss(name: str) -> Loss:
    """The loss of that name, or an error that suggests one.

    >>> loss("mse").__name__
    'mse'
    """
    if name not in LOSSES:
        raise unknown("loss", name, LOSSES)
    return LOSSES[name]
