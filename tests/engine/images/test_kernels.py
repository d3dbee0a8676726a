"""The kernels of the convolutions: on a GPU as they are, without one by Triton's interpreter if Triton is installed."""

import importlib.util
import os
import subprocess
import sys

import pytest
import torch

from nalm.lab.bench.images import difference

BOUNDS = {"float32": 1e-4, "tf32": 5e-3, "bfloat16": 3e-2}
INTERPRETED = """
import torch, triton
from triton.tools.tensor_descriptor import TensorDescriptor as Box
from nalm import draws
from nalm.engine.images import fused, kernels, kernels_back

def near(found, wanted):
    return float((found - wanted).norm() / wanted.norm()) < 1e-5

chance = torch.Generator().manual_seed(0)
images, w = torch.randn(2, 2, 28, 28, generator=chance), torch.randn(2, 64, 32, 3, 3, generator=chance) / 17
ten, b = torch.randn(2, 16, 32, generator=chance) / 3, torch.randn(2, 64, generator=chance) / 17
ten[:, 10:] = 0
x = fused.first_convolution(images, ten)
for block in (64, 128):
    found = torch.full_like(x, torch.nan)
    kernels._first.fn[(triton.cdiv(1352, block), 2)](images, ten, found, 1352, 2, block=block, precision="ieee")
    assert near(found, x)
for draw in ((None, None), (draws.keys([4, 5], "dropout"), torch.tensor(7, dtype=torch.int32))):
    y, which = fused.pooled_convolution(x, fused.packed(w), b, *draw)
    found, source = torch.full_like(y, torch.nan), torch.empty_like(which)
    kernels._forward.fn[(5, 2)](x, fused.packed(w), b, *draw, found, source, 288, 2, block=64, precision="ieee")
    assert near(found, y) and float((source != which).float().mean()) < 1e-3
h, back = torch.randn(2, 2, 128, generator=chance), fused.packed_back(w)
fc = torch.randn(2, 128, 9216, generator=chance)
u, sums = fused.unpooled(h, fc, which)
found, parts = torch.full_like(u, torch.nan), torch.full((2, 169, 64), torch.nan)
kernels_back._unpool[(169, 1, 2)](h, fc, which, found, parts, 2, block=16, precision="ieee")
assert near(found, u) and near(parts.sum(1), sums[:, 0]) and torch.equal(found == 0, u == 0)
out = torch.full((2, 3, 128, 17), torch.nan)
for block in (64, 128):
    boxed = Box.from_tensor(u, [block, 32]), Box.from_tensor(back.view(-1, 64), [32, 64])
    kernels_back._inputs.fn[(3, 2)](*boxed, x, images, out, 338, 2, 113, block=block, deep=32, precision="ieee")
    assert near(out.sum(1), fused.first_gradient(u, back, x, images).sum(1))
dw = torch.full((2, 3, 3, 128, 128), torch.nan)
kernels_back._weights.fn[(3, 2)](u, x, dw, 288, 2, 100, block=32, precision="ieee")
assert near(dw.sum(1), fused.weight_gradient(u, x).sum(1))
# parts that do not divide the rows: the last of 5 is short, the last of 13 x 12 rows of one image is empty
many, x, u, images = 169, x[:, :1].contiguous(), u.view(2, 2, -1, 256)[:, 0].flatten(0, 1), images[:, :1].contiguous()
for count in (5, 50):
    out, size = torch.full((2, count, 128, 17), torch.nan), triton.cdiv(many, count)
    assert many % size and count * size > many
    boxed = Box.from_tensor(u, [64, 32]), Box.from_tensor(back.view(-1, 64), [32, 64])
    kernels_back._inputs.fn[(count, 2)](*boxed, x, images, out, many, 2, size, block=64, deep=32, precision="ieee")
    assert near(fused.added(out), fused.first_gradient(u, back, x, images)[:, 0])
for count in (5, 13):
    dw, size = torch.full((2, count, 3, 128, 128), torch.nan), triton.cdiv(144, count)
    kernels_back._weights.fn[(count, 2)](u, x, dw, 144, 2, size, block=32, precision="ieee")
    assert near(fused.added(dw), fused.weight_gradient(u, x)[:, 0]) and bool((dw[:, -1] == 0).all()) == (count == 13)
print("all near")
"""


@pytest.mark.system
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU runs the kernels themselves")
def test_the_interpreted_kernels_compute_what_torch_computes():
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED],
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and "all near" in done.stdout, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and there is none here")
@pytest.mark.parametrize(
    ("name", "precision"),
    [
        *(("fused", precision) for precision in ("tf32", "bfloat16")),
        *(("unfolded", precision) for precision in BOUNDS),
    ],
)
def test_the_gradients_of_every_form_are_those_of_torchs_convolutions(name, precision):
    assert difference(name, precision, torch.device("cuda")) < BOUNDS[precision]
