"""The error of one sample over two weights: of a single NMU, and of a layer of sums before a multiplying layer."""

import dataclasses
import math
from typing import NamedTuple

import numpy as np
import torch

from nalm.landscapes.grid import axis, populate
from nalm.landscapes.minima import Known, Residuals, heights, search
from nalm.landscapes.surface import Array, Surface
from nalm.units import NAC, NAU, NMRU, NMU, NRU, NACMul, RealNPU, Unit

FACTORS = (-2.0, -1.8)
HIGHEST = math.sqrt(500)  # the published plots end at a squared error of 500
SOLVED: Known = {(1.0, 1.0): "solution", (-1.0, 1.0): "solution"}

SQUARED = "The figure shows the absolute error; the caption says RMS, and the published plot squares it."
DIVIDES = (
    "Near w1 = 0 with w2 < 0 the divisor is small and the error explodes; "
    "a valley there has no error but is not a solution."
)
NO_SOLUTION = "The epsilon moves the zeros: at (1, 1) the error is {:.4g}."


class Sample(NamedTuple):
    """Inputs, and which of them each of two sums contains; the target is the product of the sums."""

    x: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]


MADSEN = Sample((1.0, 1.2, 1.8, 2.0), ((1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)))
DRAFT = Sample((1.0, 1.5, 2.0, 2.0), ((1.0, 1.0, 0.0, 0.0), (1.0, 1.0, 1.0, 0.0)))


def single(unit: Unit, factors: tuple[float, float]) -> Residuals:
    """Return the error of a unit with weights (w1, w2) for the product of two factors."""
    x = torch.tensor(factors, dtype=torch.float64)

    @torch.no_grad()
    def residuals(points: Array) -> Array:
        weight = torch.from_numpy(points).unsqueeze(-2)  # (n, 1, 2)
        y = populate(unit, {"weight": weight})(x.expand(len(points), 1, 2))
        return (y.squeeze(-1) - math.prod(factors)).numpy()

    return residuals


def stacked(sums: Unit, product: Unit, sample: Sample) -> Residuals:
    """Return the error of two layers: w1 for every input in a sum, w2 for both sums in the product."""
    x = torch.tensor(sample.x, dtype=torch.float64)
    rows = torch.tensor(sample.rows, dtype=torch.float64)
    target = (rows @ x).prod()

    @torch.no_grad()
    def residuals(points: Array) -> Array:
        n = len(points)
        w1, w2 = (w[:, None, None] for w in torch.from_numpy(points).unbind(-1))
        weights = {"weight": w2.expand(n, 1, 2)}
        if isinstance(product, NMRU):  # sums, then their reciprocals
            weights = {"weight": torch.cat([weights["weight"], torch.zeros(n, 1, 2)], -1)}
        if isinstance(product, RealNPU):
            weights["gate"] = torch.ones(n, 2, dtype=torch.float64)
        z = populate(sums, {"weight": w1 * rows})(x.expand(n, 1, len(x)))
        return (populate(product, weights)(z).squeeze(-1) - target).numpy()

    return residuals


def nmu() -> Surface:
    """Compute the squared error of an NMU that learns -2 times -1.8."""
    w, legal = axis(-1, 1.5, 125), axis(0, 1, 50)
    residuals = single(NMU(2, 1), FACTORS)
    known: Known = {(1.0, 1.0): "solution", (-1 / 6, -1 / 2): "alternative"}
    free = search(residuals, w, w, known)
    clipped = [
        dataclasses.replace(m, kind="clipped")
        for m in search(residuals, legal, legal, known)
        if m.kind == "local"
    ]
    minima = tuple(dataclasses.replace(m, z=m.z**2) for m in (*free, *clipped))
    return Surface(
        "landscapes/nmu",
        "NMU learning -2 × -1.8",
        "w1",
        "w2",
        w,
        w,
        heights(residuals, w, w) ** 2,
        source="Mistry 2023, Figure 4.1; Mistry 2022c, Figure 3",
        note="The two published minima are points of two curves, the branches of the hyperbola "
        "(1 - 3 w1)(1 - 2.8 w2) = 3.6, on which the error is 0 everywhere; only (1, 1) extrapolates. "
        "Weights bounded to [0, 1] stop at (0, 0). The caption of Figure 4.3 says -2.1, the text -2.",
        log=True,
        clip=(1e-3, 1e2),
        minima=minima,
    )


def _surface(
    name: str,
    sums: Unit,
    product: Unit,
    y: Array,
    source: str,
    note: str,
    *,
    sample: Sample = MADSEN,
    steps: int = 120,
) -> Surface:
    """Compute the absolute error of two layers over w1 in [-1, 1] and a range of w2."""
    x = axis(-1, 1, steps)
    residuals = stacked(sums, product, sample)
    off = abs(float(residuals(np.ones((1, 2)))[0, 0]))
    epsilon = f", ε = {product.eps:g}" if product.eps >= 1e-6 else ""
    return Surface(
        f"landscapes/{name}",
        f"{_title(sums)} before {_title(product)}{epsilon}",
        "w1",
        "w2",
        x,
        y,
        heights(residuals, x, y),
        source,
        f"{note} {NO_SOLUTION.format(off)}" if off > 1e-3 else note,
        clip=(0.0, HIGHEST),
        minima=search(residuals, x, y, SOLVED),
    )


def _title(unit: Unit) -> str:
    return {"NAC": "NAC+", "NACMul": "NAC•"}.get(type(unit).__name__, type(unit).__name__)


def _nac_product(eps: float) -> NACMul:
    unit = NACMul(2, 1)
    unit.eps = eps  # the constructor refuses 1, which the figure uses
    return unit


def nac_nacmul(eps: float = 1e-7) -> Surface:
    """Compute the stack of the NALU's two paths, with an epsilon of 1e-7, 0.1 or 1."""
    name = "nac-nacmul" if eps == 1e-7 else f"nac-nacmul-eps-{eps:g}"
    source = "Madsen 2020, Figure 2; Mistry 2023, Figure 2.13 (ε = 0.1)"
    note = SQUARED if eps == 1 else f"{SQUARED} {DIVIDES}"
    return _surface(name, NAC(4, 2), _nac_product(eps), axis(-1, 1, 120), source, note)


def nac_nacmul_draft() -> Surface:
    """Compute the same stack for the sample of the draft of Madsen 2020."""
    note = (
        f"x = (1, 1.5, 2, 2), t = 11.25; the draft names no epsilon, 1e-7 is used here. {SQUARED} {DIVIDES}"
    )
    source = "Madsen & Johansen, draft of Madsen 2020, Figure 1"
    y = axis(-1, 1, 120)
    return _surface("nac-nacmul-draft", NAC(4, 2), _nac_product(1e-7), y, source, note, sample=DRAFT)


FLAT = (
    "At w2 = 0 the output is 1 for every w1; where w1 is small or negative, clipping keeps w2 at 0. "
    "At w1 = -1 the two signs cancel: a second solution."
)


def nac_nmu() -> Surface:
    """Compute the stack with the NMU in place of NAC•, for the sample of the draft."""
    note = f"x = (1, 1.5, 2, 2), t = 11.25. {SQUARED} {FLAT}"
    source = "Madsen & Johansen, draft of Madsen 2020, Figure 2"
    return _surface("nac-nmu", NAC(4, 2), NMU(2, 1), axis(0, 1, 120), source, note, sample=DRAFT)


def nau_nmu() -> Surface:
    """Compute the stack of NAU and NMU, which replaced the NALU's paths."""
    source = "Madsen 2020, Figure 2"
    return _surface("nau-nmu", NAU(4, 2), NMU(2, 1), axis(0, 1, 120), source, f"{SQUARED} {FLAT}")


DIVISION = "Mistry 2023, Figure 5.18; Mistry 2021, Figure 7"
HELPER = "The published code replaces every sum z by |z| + 0.1; this figure follows the captions."


def nau_realnpu() -> Surface:
    """Compute the RealNPU with open gates and the caption's epsilon."""
    note = f"{HELPER} {DIVIDES} For w1 < 0 the cosine of 2π w2 bends the surface."
    unit = RealNPU(2, 1, eps=1e-5)
    return _surface("nau-realnpu", NAU(4, 2), unit, axis(-1, 1, 200), DIVISION, note, steps=200)


def nau_nru() -> Surface:
    """Compute the NRU in its training form."""
    note = (
        f"{HELPER} {DIVIDES} At w1 = 0 with w2 < 0 the error is not finite, because the NRU has no epsilon."
    )
    return _surface("nau-nru", NAU(4, 2), NRU(2, 1), axis(-1, 1, 200), DIVISION, note, steps=200)


def nau_nmru() -> Surface:
    """Compute the NMRU with the weights of its reciprocals at 0."""
    note = (
        f"{HELPER} The error does not explode, but the weights of the reciprocals are fixed at 0 here, "
        "so the figure does not show division."
    )
    return _surface("nau-nmru", NAU(4, 2), NMRU(2, 1), axis(0, 1, 100), DIVISION, note, steps=200)
