"""The convolutions and the first linear layer of many readers at once, in several forms that compute the same.

A form is ``(weights, images, draw) -> (hidden, pull)``: weights of all runs, (runs, ...); images (runs, n, 28, 28);
what the dropout behind the pooling draws from, or None; outputs (runs, n, 128) of the linear layer; and ``pull``, which
turns the gradient of these into those of the weights. To add one: write it, and name it in ``FORMS``.
"""

import importlib.util
from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import vjp
from torch.nn import functional as T

from nalm.engine.images import fused
from nalm.engine.images.dropped import SCALE, Draw, kept_features
from nalm.engine.images.readers import affine
from nalm.errors import unknown

Tensors = dict[str, Tensor]
Pull = Callable[[Tensor], Tensors]
Form = Callable[[Tensors, Tensor, Draw | None], tuple[Tensor, Pull]]
NAMES = ("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias")
LINEAR = ("fc1.weight", "fc1.bias")


def _each(w: Tensors, x: Tensor) -> Tensor:
    """Convolve the images of one run after another."""
    order = torch.contiguous_format if x.dtype == torch.float32 else torch.channels_last
    found = []
    for i in range(len(x)):
        w1, b1, w2, b2 = (w[name][i].to(x.dtype) for name in NAMES)
        one = torch.relu(T.conv2d(x[i].unsqueeze(1), w1.contiguous(memory_format=order), b1))
        one = torch.relu(T.conv2d(one, w2.contiguous(memory_format=order), b2))
        found.append(T.max_pool2d(one, 2).flatten(1))
    return torch.stack(found)


def _grouped(w: Tensors, x: Tensor) -> Tensor:
    """Convolve all runs as groups of channels."""
    runs, order = len(x), torch.contiguous_format if x.dtype == torch.float32 else torch.channels_last
    w1, b1, w2, b2 = (w[name].to(x.dtype).flatten(0, 1) for name in NAMES)
    y = x.transpose(0, 1).contiguous(memory_format=order)
    y = torch.relu(T.conv2d(y, w1.contiguous(memory_format=order), b1, groups=runs))
    y = torch.relu(T.conv2d(y, w2.contiguous(memory_format=order), b2, groups=runs))
    return T.max_pool2d(y, 2).unflatten(1, (runs, -1)).transpose(0, 1).flatten(2)


def patches(x: Tensor) -> Tensor:
    """Return the 3 x 3 patches of images (runs, n, side, side, channels).

    They have the shape (runs, n, side - 2, side - 2, 9 channels).
    """
    side = x.shape[2] - 2
    parts = [x[:, :, i : i + side, j : j + side] for i in range(3) for j in range(3)]
    return torch.cat(parts, -1)


def taps(weight: Tensor) -> Tensor:
    """Reshape kernels (runs, out, in, 3, 3) to matrices (runs, 9 in, out) that multiply patches."""
    return weight.permute(0, 3, 4, 2, 1).flatten(1, 3)


def _unfolded(w: Tensors, x: Tensor) -> Tensor:
    """Convolve by products of patches and matrices."""
    w1, b1, w2, b2 = (w[name].to(x.dtype) for name in NAMES)
    y = x.unsqueeze(-1)
    for weight, bias in ((w1, b1), (w2, b2)):
        seen = patches(y)
        product = torch.baddbmm(bias.unsqueeze(1), seen.flatten(1, 3), taps(weight))
        y = torch.relu(product).unflatten(1, seen.shape[1:4])
    pooled = y.unflatten(3, (-1, 2)).unflatten(2, (-1, 2)).amax((3, 5))
    return pooled.permute(0, 1, 4, 2, 3).flatten(2)


def _pulled(features: Callable[[Tensors, Tensor], Tensor]) -> Form:
    """Make a form of a function whose gradient torch finds."""

    def form(weights: Tensors, images: Tensor, draw: Draw | None) -> tuple[Tensor, Pull]:
        kept = None if draw is None else kept_features(draw, images.shape[1])

        def hidden(w: Tensors) -> Tensor:
            found = features(w, images)
            if kept is not None:
                found = found * kept * SCALE
            return affine(found, *(w[name].to(images.dtype) for name in LINEAR))

        found, back, *_ = vjp(hidden, weights)
        return found, lambda gradient: back(gradient)[0]

    return form


FORMS: dict[str, Form] = {
    "each": _pulled(_each),
    "grouped": _pulled(_grouped),
    "unfolded": _pulled(_unfolded),
    "fused": fused.hidden,
}


# the fastest by `nalm bench mnist` on an H200, by device and precision
FASTEST = {("cuda", "bfloat16"): "fused", ("cuda", "tf32"): "fused"}
HOPPER = 9  # the first number of a compute capability


def fastest(device: str, precision: str) -> str:
    """Return the name of the form to use; without a Hopper GPU or without Triton one of torch's own."""
    wanted = FASTEST.get((device, precision), "each")
    kernels_run = _is_hopper() and importlib.util.find_spec("triton") is not None
    return "each" if wanted == "fused" and not kernels_run else wanted


def _is_hopper() -> bool:
    """Return whether the GPU is of NVIDIA's generation Hopper, for which the sizes of the kernels are chosen.

    Only there were they measured. Compiled for compute capability 8.0, 8.9 or 12.0, the kernel of the weights'
    gradients needs more registers than there are with every setting and keeps kilobytes of each thread in memory; for
    10.0 Triton 3.6.0 compiles it to a program that only stops.
    """
    if torch.version.hip is not None or not torch.cuda.is_available():  # AMD counts its GPUs as 9.x too
        return False
    return torch.cuda.get_device_capability()[0] == HOPPER


def form(name: str) -> Form:
    """Return the form of that name; raise an error that suggests one if there is none."""
    if name not in FORMS:
        raise unknown("form of convolutions", name, FORMS)
    return FORMS[name]
