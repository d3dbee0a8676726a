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


def feature_words(draw: Draw, images: int) -> Tensor:
    """Return the words that decide over the features of images, (runs, images, 9, 64): each over 16 of a channel."""
    keys, step = draw
    image, channel, group = (torch.arange(n, dtype=torch.int32, device=keys.device) for n in (images, 64, 9))
    position = image.view(-1, 1, 1) * (64 * 9) + channel * 9 + group.unsqueeze(-1)
    return draws.bits(keys, step, position)


def kept_features(draw: Draw, images: int) -> Tensor:
    """Return which features of the images stay, (runs, images, 64 x 144), channel by channel."""
    return kept(feature_words(draw, images).mT.flatten(2), HALVINGS, 64 * 144)
