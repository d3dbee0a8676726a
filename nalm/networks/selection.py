"""Choosing one of several by gradient: straight-through softmax, Gumbel-softmax, and Algorithm 1 of the thesis."""

import torch
from torch import Tensor

TAU = 10.0  # the temperature of thesis 7.2.5: a divisor of the logits
CERTAINTY = -1.0  # the gate's logit at the start: 0.27 of the way from chance to the likeliest


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:
    """The value of one with the gradient of the other (Bengio et al. 2013)."""
    return (hard - soft).detach() + soft


def st_softmax(logits: Tensor, tau: float = 1.0) -> Tensor:
    """One-hot of the largest logit; the gradient is that of the softmax.

    >>> st_softmax(torch.tensor([0.2, 0.5, -0.1]))
    tensor([0., 1., 0.])
    """
    soft = torch.softmax(logits / tau, -1)
    return straight_through(one_hot(logits), soft)


def one_hot(logits: Tensor) -> Tensor:
    """1 at the largest along the last axis (the first of equals), 0 elsewhere."""
    places = torch.arange(logits.shape[-1], device=logits.device)
    return (places == logits.argmax(-1, keepdim=True)).to(logits.dtype)


def gumbel(uniform: Tensor) -> Tensor:
    """Gumbel(0, 1) from uniform numbers in (0, 1)."""
    return -(-uniform.log()).log()


def choose(x: Tensor, w: Tensor, g_ml: Tensor, noise: Tensor, tau: float = TAU) -> Tensor:
    """Algorithm 1: one of the modules' outputs x (*runs, batch, M), by logits w (*runs, M) and a gate g_ml (*runs,).

    The gate says how far to trust the likeliest module; until its probability passes a half, the
    choice is drawn with Gumbel noise (*runs, M). Lines are numbered as printed; line 13 detaches the
    whole difference, as the text around the algorithm does (``choose_as_printed`` is the other).
    """
    soft, hard = _both(x, w, g_ml, noise, tau)
    return straight_through(hard, soft)  # 13


def choose_as_printed(x: Tensor, w: Tensor, g_ml: Tensor, noise: Tensor, tau: float = TAU) -> Tensor:
    """Algorithm 1 with line 13 as it is printed: the same value, but both terms have gradients."""
    soft, hard = _both(x, w, g_ml, noise, tau)
    return hard - soft.detach() + soft  # 13


def _both(x: Tensor, w: Tensor, g_ml: Tensor, noise: Tensor, tau: float) -> tuple[Tensor, Tensor]:
    p_det_soft = torch.sigmoid(g_ml).unsqueeze(-1)  # 1
    p_det_hard = (p_det_soft > 0.5).to(x.dtype)  # 2 to 6
    p_m_det = st_softmax(w, tau)  # 7
    p_m_stoch = st_softmax(w + noise, tau)  # 8
    m_det, m_stoch = mixed(x, p_m_det), mixed(x, p_m_stoch)  # 9, 10
    out_soft = p_det_soft * m_det + (1 - p_det_soft) * m_stoch  # 11
    out_hard = p_det_hard * m_det + (1 - p_det_hard) * m_stoch  # 12
    return out_soft, out_hard


def mixed(x: Tensor, p: Tensor) -> Tensor:
    """The product x @ p over modules, (*runs, batch), plane by plane so that the batch stays innermost."""
    planes = zip(x.unbind(-1), p.unbind(-1), strict=True)
    total = torch.zeros_like(x[..., 0])
    for x_m, p_m in planes:
        total = total + x_m * p_m.unsqueeze(-1)
    return total
