"""Which numbers a dropout leaves out: decided by hashed words, the same on every device and in every order."""

import torch
from torch import Tensor

from nalm import draws

Draw = tuple[Tensor, Tensor]  # keys (runs, 2) of a dropout, and the step
HALVINGS = 2  # the features of a reader are left out with a chance of 1/4
SCALE = 1 / (1 - 2.0**-HALVINGS)  # of those that are kept


def kept(words: Tensor, halvings: int, count: int) -> Tensor:
    """Return which of so many numbers stay, (*runs, count), by words (*runs, ...): one decides over 32 // halvings."""
    shifts = torch.arange(32 // halvings, dtype=torch.int32, device=words.device) * halvings
    stay = (words.unsqueeze(-1) >> shifts) & (2**halvings - 1) != 0
    return stay.flatten(-2)[..., :count]


def kept_features(draw: Draw, images: int) -> Tensor:
    """Return which features of the images stay, (runs, images, 64 x 144), channel by channel."""
    keys, step = draw
    count = images * 64 * 144
    position = torch.arange(count * HALVINGS // 32, dtype=torch.int32, device=keys.device)
    return kept(draws.bits(keys, step, position), HALVINGS, count).unflatten(-1, (images, -1))
