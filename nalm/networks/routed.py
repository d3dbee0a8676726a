"""A selector whose rows take their own ways through it: gradients of lower variance than one draw per step gives."""

from typing import Literal

import torch
from torch import Generator, Tensor

from nalm.errors import unknown
from nalm.networks.selection import gumbel, one_hot, straight_through
from nalm.networks.selector import FrozenSelector, operated
from nalm.units.base import Weights
from nalm.units.start import Normal, Start

FAR = 1e4  # a line further from 0 counts as this in training, and a divisor is at least 1/FAR: no division blows up
DRAWS = 8  # of noise that agrees with a choice, over which its gradient is averaged
GRADIENTS = ("straight", "rao", "soft")


class RoutedSelector(FrozenSelector):
    r"""The frozen selector with choices of its own for every row of a batch, in place of one for all rows.

    A choice is drawn by adding Gumbel noise to its logits. Its gradient is

    - ``straight``: that of the softmax at the noise that was drawn (straight-through);
    - ``rao``: the mean of such gradients over noise that leads to the same choice, which has less variance (Paulus,
      Maddison and Krause 2021, Rao-Blackwellizing the straight-through Gumbel-softmax gradient estimator);
    - ``soft``: nothing is drawn, all modules are mixed by the softmax of their logits.

    The penalty ``entropy`` is the sum of the entropies of all choices; a ramp makes them sure in the end. Logits start
    at small random numbers. In evaluation the likeliest modules write, as in the frozen selector.
    """

    options = ("steps", "gradient")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        steps: int = 2,
        gradient: Literal["straight", "rao", "soft"] = "straight",
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if gradient not in GRADIENTS:
            raise unknown("gradient of a choice", gradient, GRADIENTS)
        self.gradient = gradient
        super().__init__(
            in_features, out_features, steps=steps, generator=generator, device=device, dtype=dtype
        )

    def start(self) -> dict[str, Start]:
        first = super().start()
        return first | {n: Normal(first[n].shape, 0.0, 0.5) for n in ("choice_hat", "mask_hat")}

    def compute(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().compute(x)
        choice, mask = self._routes(self.choice_hat, x), self._routes(self.mask_hat, x)
        seen = list(x.unbind(-1))
        for t in range(self.steps):
            outputs = operated(seen, mask[..., t, :, :], least=1 / FAR).clamp(-FAR, FAR)
            seen.append((outputs * choice[..., t, :]).sum(-1))
        return seen[-1].unsqueeze(-1)

    def _routes(self, logits: Tensor, x: Tensor) -> Tensor:
        """Return the choice of each row, (*runs, batch, ..., modules), for logits (*runs, ..., modules)."""
        runs = len(self.runs)
        w = logits.unsqueeze(runs)
        if self.gradient == "soft":
            return torch.softmax(w, -1)
        shape = (*self.runs, x.shape[-2], *logits.shape[runs:])
        noisy = w + gumbel(self.noise.uniform(shape, x.dtype))
        hard = one_hot(noisy)
        if self.gradient == "straight":
            return straight_through(hard, torch.softmax(noisy, -1))
        uniform = self.noise.uniform((*shape, DRAWS), x.dtype).movedim(-1, 0)
        noise = agreeing(w.detach(), hard, uniform)
        return straight_through(hard, torch.softmax(w + noise, -1).mean(0))

    def penalties(self, x: Tensor | None = None) -> Weights:
        logits = (self.choice_hat.flatten(-2), self.mask_hat.flatten(-3))
        rows = torch.cat([v.unflatten(-1, (-1, 4)) for v in logits], -2)
        return {"entropy": -(torch.softmax(rows, -1) * torch.log_softmax(rows, -1)).sum((-2, -1))}


def agreeing(logits: Tensor, hard: Tensor, uniform: Tensor) -> Tensor:
    """Return Gumbel noise that, added to the logits, makes the chosen module the largest (Paulus 2021, section 3).

    ``hard`` is 1 at the chosen module of the last axis; ``uniform`` are numbers in (0, 1), any number of them.
    """
    logits = logits - logits.amax(-1, keepdim=True)  # exponentials of large ones would all be 0
    waited = -uniform.log()  # exponential
    z = torch.logsumexp(logits, -1, keepdim=True)
    first = (waited * hard).sum(-1, keepdim=True)
    largest = z - first.log()
    other = -(waited * (-logits).exp() + first * (-z).exp()).log()
    return torch.where(hard > 0, largest, other) - logits
