"""Differentiable choice of one of several: straight-through and Gumbel softmax, Algorithm 1 of Mistry 2023."""

import torch
from torch import Tensor

TAU = 10.0  # temperature (Mistry 2023, section 7.2.5): the logits are divided by it
CERTAINTY = -1.0  # the gate's logit at the start: 0.27 of the way from chance to the likeliest


def straight_through(hard: Tensor, soft: Tensor) -> Tensor:
    """Return the value of ``hard`` with the gradient of ``soft`` (Bengio et al. 2013)."""
    return (hard - soft).detach() + soft


def st_softmax(logits: Tensor, tau: float = 1.0) -> Tensor:
    """Return the one-hot vector of the largest logit, with the gradient of the softmax.

    >>> st_softmax(torch.tensor([0.2, 0.5, -0.1]))
    tensor([0., 1., 0.])
    """
    soft = torch.softmax(logits / tau, -1)
    return straight_through(one_hot(logits), soft)


def one_hot(logits: Tensor) -> Tensor:
    """Return 1 at the largest logit of the last axis (the first of equals), 0 elsewhere."""
    places = torch.arange(logits.shape[-1], device=logits.device)
    return (places == logits.argmax(-1, keepdim=True)).to(logits.dtype)


def gumbel(uniform: Tensor) -> Tensor:
    """Turn uniform numbers in (0, 1) into Gumbel(0, 1) noise."""
    return -(-uniform.log()).log()


def choose(x: Tensor, w: Tensor, g_ml: Tensor, noise: Tensor, tau: float = TAU) -> Tensor:
    """Choose one of the modules' outputs x (*runs, batch, M) by logits w (*runs, M) and a gate g_ml (*runs,).

    This is Algorithm 1 of Mistry 2023, with its line numbers. The gate is the probability of taking the likeliest
    module; up to one half, Gumbel noise (*runs, M) decides. Line 13 detaches the whole difference, as the text around
    the algorithm says; as printed, both of its terms would have gradients.
    """
    p_det_soft = torch.sigmoid(g_ml).unsqueeze(-1)  # 1
    p_det_hard = (p_det_soft > 0.5).to(x.dtype)  # 2 to 6
    p_m_det = st_softmax(w, tau)  # 7
    p_m_stoch = st_softmax(w + noise, tau)  # 8
    m_det, m_stoch = mixed(x, p_m_det), mixed(x, p_m_stoch)  # 9, 10
    out_soft = p_det_soft * m_det + (1 - p_det_soft) * m_stoch  # 11
    out_hard = p_det_hard * m_det + (1 - p_det_hard) * m_stoch  # 12
    return straight_through(out_hard, out_soft)  # 13


def taken(x: Tensor, p: Tensor) -> Tensor:
    """Compute x @ p as ``mixed`` does, but leave out what has a weight of 0 and is infinite or no number."""
    return mixed(torch.where(x.isfinite() | (p.unsqueeze(-2) != 0), x, 0.0), p)


def mixed(x: Tensor, p: Tensor) -> Tensor:
    """Compute x @ p over modules, (*runs, batch), plane by plane so that the batch stays innermost."""
    planes = zip(x.unbind(-1), p.unbind(-1), strict=True)
    total = torch.zeros_like(x[..., 0])
    for x_m, p_m in planes:
        total = total + x_m * p_m.unsqueeze(-1)
    return total
