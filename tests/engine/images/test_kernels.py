"""The kernels of the convolutions: on a GPU as they are, without one by Triton's interpreter if Triton is installed."""

import importlib.util
import os
import subprocess
import sys

import pytest
import torch

from nalm import draws
from nalm.engine.images import fused, operators
from nalm.engine.images.dropped import feature_words
from nalm.lab.bench.images import difference

INTERPRETED = """
import torch, triton
from nalm import draws
from nalm.engine.images import dropped, fused, kernels, kernels_back, kernels_ink, operators, operators_back

def near(found, wanted):
    return float((found - wanted).norm() / wanted.norm()) < 1e-5

how = {"precision": "ieee"}
chance = torch.Generator().manual_seed(0)
images = torch.full((2, 3, 28, 28), -0.4)
images[0, 0, 9:20, 5:17] = torch.randn(11, 12, generator=chance)
images[0, 2, 20:, 13:] = torch.randn(8, 15, generator=chance)  # ink at the border; the second has none
images[1] = torch.randn(3, 28, 28, generator=chance)
w, b = torch.randn(2, 64, 32, 3, 3, generator=chance) / 17, torch.randn(2, 64, generator=chance) / 17
ten = torch.randn(2, 16, 32, generator=chance) / 3
ten[:, 10:] = 0
still = torch.relu(ten[:, :9].sum(1) * images[:, 0, 0, :1] + ten[:, 9])
flat = (w.sum((3, 4)) * still.unsqueeze(1)).sum(-1) + b
lists = cells, blocks, totals = operators.inked(images)
assert 0 < totals[0, 0] < 288 and totals[1].tolist() == [432, 507]
found = [torch.full_like(places, -1) for places in lists]
kernels_ink.inked(images, *found)
assert all(torch.equal(ours, places) for ours, places in zip(found, lists))
x = operators.first_convolution(images, ten)
for block in (64, 128):
    found = torch.full_like(x, torch.nan)
    kernels._first.fn[(triton.cdiv(2028, block), 2)](images, ten, found, 2028, 2, block=block, **how)
    assert near(found, x)
inked = operators.listed(cells, totals[:, 0], (2, 3, 144, 1))
for draw in (None, (draws.keys([4, 5], "dropout"), torch.tensor(7, dtype=torch.int32))):
    words = None if draw is None else dropped.feature_words(draw, 3)
    y, which = operators.pooled_convolution(x, fused.packed(w), b, flat, cells, totals, words)
    found, source = torch.full_like(y, torch.nan), torch.empty_like(which)
    kernels._forward.fn[(7, 2)](
        x, fused.packed(w), b, flat, cells, totals, words, found, source, 432, 2, block=64, **how
    )
    assert near(found, y) and float((source != which).float().mean()) < 1e-3
g, back = torch.randn(2, 3, 9216, generator=chance), fused.packed_back(w)
u, sums = operators_back.unpooled(g, which, 1)
rows = inked.flatten()
for count in (1, 5, 9):
    found, parts = torch.full_like(u, torch.nan), torch.full((2, count, 2, 64), torch.nan)
    kernels_back._unpool[(count, 2)](g, which, found, parts, 432, triton.cdiv(432, count), block=16)
    assert near(parts.sum(1), sums[:, 0]) and near(found[rows], u[rows]) and bool(found[~rows].isnan().all())
u = found  # where there is no ink, nothing may be read
wanted = operators_back.first_gradient(u.nan_to_num(), back, x, images, blocks, totals, [1], 18)
for block, count in ((64, 1), (64, 5), (128, 3)):  # the last of 5 parts has nothing in the first run
    out = torch.full((2, count, 128, 18), torch.nan)
    kernels_back._inputs.fn[(count, 2)](u, back, x, images, blocks, totals, out, 3, 2, block=block, **how)
    assert near(fused.added(out), wanted[:, 0]) and bool((out[0, -1] == 0).all()) == (count > 1)
wanted = operators_back.weight_gradient(u.nan_to_num(), x, cells, totals, [1])
for count in (1, 3, 13):  # the last of 13 parts has nothing in the first run
    dw = torch.full((2, count, 3, 128, 128), torch.nan)
    kernels_back._weights.fn[(count, 2)](u, x, cells, totals, dw, 3, 2, block=32, **how)
    assert near(fused.added(dw), wanted[:, 0]) and bool((dw[0, -1] == 0).all()) == (count == 13)
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


def passes(device, dtype, features=None):
    """Return what each pass computes from the same numbers on a device, of images with and without ink.

    Pooled pixels and where they come from may be given: they are others where two outputs are equal but for rounding.
    """
    chance = torch.Generator().manual_seed(0)

    def drawn(*shape, size=1.0):
        return (torch.randn(*shape, generator=chance) * size).bfloat16().to(device, dtype)

    x = drawn(2, 40, 28, 28)
    x[..., :7, :] = x[..., 21:, :] = x[..., :7] = x[0, :5] = -0.5
    ten, w, b, g = drawn(2, 16, 32), drawn(2, 64, 32, 3, 3, size=0.06), drawn(2, 64), drawn(2, 40, 9216)
    ten[:, 10:] = 0
    keys, step = draws.keys([4, 5], "dropout").to(device), torch.tensor(7, dtype=torch.int32, device=device)
    words = feature_words((keys, step), 40)
    ink = fused.Ink(*operators.inked(x))
    first = operators.first_convolution(x, ten)
    seen = first.bfloat16().to(dtype)
    blank = (w.float().sum((3, 4)) * fused._without_ink(seen, ink).float().unsqueeze(1)).sum(-1) + b.float()
    y, which = operators.pooled_convolution(seen, fused.packed(w), b, blank, ink.cells, ink.totals, words)
    from_which = which if features is None else features.to(device)
    u, sums = fused.unpooled(g, from_which)
    rows = torch.where((from_which < 8).any(-1).flatten().unsqueeze(-1), u, 0)
    first_sums = fused.first_gradient(u, fused.packed_back(w), seen, x, ink).sum(1)
    second = fused.weight_gradient(u, seen, ink).sum(1)
    found = {"words": words, "first": first, "y": y, "rows": rows, "sums": sums.sum(1)}
    found |= {"first gradient": first_sums, "second gradient": second}
    return {name: t.float().cpu() for name, t in found.items()}, which.cpu(), [part.cpu() for part in ink]


NO_GPU = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="needs a CUDA device, and there is none here"
)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=[pytest.mark.slow, NO_GPU])])
def test_each_pass_computes_in_bfloat16_what_it_computes_in_float32(device):
    wanted, which, ink = passes("cpu", torch.float32)
    found, other, listed = passes(device, torch.bfloat16, features=which)
    assert all(torch.equal(a, b) for a, b in zip(ink, listed, strict=True))
    assert (which == other).float().mean() > 0.99
    for name, values in wanted.items():
        assert (found[name] - values).norm() < 0.01 * values.norm(), name


@pytest.mark.slow
@NO_GPU
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")  # in torch's thread for gradients
@pytest.mark.parametrize("precision", ["tf32", "bfloat16"])
@pytest.mark.parametrize("name", ["fused", "unfolded"])
def test_gradients_are_as_near_to_those_in_float32_as_torchs_convolutions_in_this_precision(name, precision):
    # most of a difference is from pooled pixels whose largest output is another one after rounding
    gpu = torch.device("cuda")
    assert difference(name, precision, gpu) < 2 * difference("each", precision, gpu)


@pytest.mark.slow
@NO_GPU
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")
def test_gradients_of_unfolded_convolutions_are_those_of_torchs():
    assert difference("unfolded", "float32", torch.device("cuda")) < 1e-4
