"""What the tests of landscapes share: the stacks by formulas of our own."""

import functools
import math

import numpy as np

from nalm.landscapes import compute

landscape = functools.cache(compute)
MADSEN, DRAFT = (2.2, 6.0), (2.5, 4.5)  # the two sums of either sample
EPS32 = float(np.finfo(np.float32).eps)


def powers(eps):
    return lambda a, b, w: ((np.abs(a) + eps) * (np.abs(b) + eps)) ** w


def products(a, b, w):
    return (w * a + 1 - w) * (w * b + 1 - w)


def turns(a, b, w):
    return np.cos(math.pi * w * np.stack([a < 0, b < 0]).sum(0))


def real_powers(a, b, w):
    return powers(1e-5)(a, b, w) * turns(a, b, w)


def reciprocals(a, b, w):
    alpha = np.tanh(1000 * w) ** 2
    return math.prod(np.sign(v) * np.abs(v) ** w * alpha + 1 - alpha for v in (a, b))


def with_sign(a, b, w):
    return products(np.abs(a), np.abs(b), w) * turns(a, b, w)


STACKS = {
    "nac-nacmul": (MADSEN, powers(1e-7)),
    "nac-nacmul-eps-0.1": (MADSEN, powers(0.1)),
    "nac-nacmul-eps-1": (MADSEN, powers(1.0)),
    "nac-nacmul-draft": (DRAFT, powers(1e-7)),
    "nac-nmu": (DRAFT, products),
    "nau-nmu": (MADSEN, products),
    "nau-realnpu": (MADSEN, real_powers),
    "nau-nru": (MADSEN, reciprocals),
    "nau-nmru": (MADSEN, with_sign),
}
DIVIDING = ["nac-nacmul", "nac-nacmul-draft", "nau-realnpu", "nau-nru"]


def minima(name, kind):
    return [m for m in landscape(f"landscapes/{name}").minima if m.kind == kind]
