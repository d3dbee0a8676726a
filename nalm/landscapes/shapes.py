"""Figures without a loss: penalties over a weight, their ramp, batch noise, and effective weights."""

import math

import numpy as np
import torch

from nalm.config import Ramp
from nalm.landscapes.grid import axis, points, populate_raw
from nalm.landscapes.surface import Array, Curves, Surface
from nalm.units import GNALU, INAC, NAC, NAU, NMU, SNMU, ModifiedNPU, ModifiedRealNPU, StgNMU, Unit
from nalm.units.inac import SATURATION


def _penalty(unit: Unit, parameter: str, values: Array, term: str, rest: dict[str, float]) -> Array:
    """Compute a penalty of a unit with one input and one output over one of its parameters."""
    shapes = {name: first.shape for name, first in unit.start().items()}
    raw = {
        name: torch.full((len(values), *shapes[name]), value, dtype=torch.float64)
        for name, value in rest.items()
    }
    raw[parameter] = torch.from_numpy(values).reshape(-1, *shapes[parameter])
    with torch.no_grad():
        return populate_raw(unit, raw).penalties()[term].numpy()


def regularisers() -> Curves:
    """Compute the penalties of the units on one weight."""
    w = axis(-1.5, 1.5, 300)
    ternary = ModifiedRealNPU(1, 1, towards=(-1.0, 0.0, 1.0))
    rows: dict[str, tuple[Unit, str, str, dict[str, float]]] = {
        "NAU": (NAU(1, 1), "weight", "weight", {}),
        "NMU": (NMU(1, 1), "weight", "weight", {}),
        "NAU, squared": (NAU(1, 1, penalty="squared"), "weight", "weight", {}),
        "NMU, squared": (NMU(1, 1, penalty="squared"), "weight", "weight", {}),
        "NAU, out of bounds": (NAU(1, 1, bounds="penalty"), "weight", "bounds", {}),
        "NMU, out of bounds": (NMU(1, 1, bounds="penalty"), "weight", "bounds", {}),
        "modified RealNPU": (ModifiedRealNPU(1, 1), "weight", "weight", {}),
        "modified RealNPU, {-1, 0, 1}": (ternary, "weight", "weight", {}),
        "modified RealNPU, gate": (ModifiedRealNPU(1, 1), "gate", "gate", {}),
        "modified NPU, imaginary": (ModifiedNPU(1, 1), "imaginary", "weight", {"weight": 1.0}),
        "StgNMU": (StgNMU(1, 1), "mu", "l0", {}),
    }
    return Curves(
        "landscapes/regularisers",
        "Penalties on one weight",
        "weight",
        "penalty",
        w,
        {label: _penalty(unit, name, w, term, rest) for label, (unit, name, term, rest) in rows.items()},
        source="Mistry 2023, Figure 2.11 (left), eq. 2.15 and section 5.4; draft of Madsen 2020, eqs. 3 and 5",
        note="Mistry 2023 prints one formula for both units; the NMU's is min(|w|, |1 - w|), which differs from "
        "the NAU's below 0. The runs used the linear form; the draft prints the squared one.",
    )


def regulariser_inalu() -> Curves:
    """Compute the penalty on one raw parameter of the iNALU, which is 0 when the parameter is saturated."""
    theta = axis(-30, 30, 240)
    penalty = _penalty(INAC(1, 1), "w_hat", theta, "weight", {"m_hat": SATURATION})
    return Curves(
        "landscapes/regulariser-inalu",
        "Penalty on one raw parameter of the iNALU",
        "θ",
        "penalty",
        theta,
        {"iNALU": penalty / SATURATION},
        source="Mistry 2023, Figure 2.11 (right), eq. 2.10",
        note="max(min(-θ, θ) + t, 0) / t with t = 20: the library's penalty times the 0.05 of the published runs.",
    )


def ramp() -> Curves:
    """Compute how a ramp increases a penalty weight."""
    steps = range(11)
    growth = Ramp(1.0, 4, 6)
    return Curves(
        "landscapes/ramp",
        "A penalty sets in",
        "iteration",
        "λ",
        np.array(steps, float),
        {"λ": np.array([growth.at(step) for step in steps])},
        source="Mistry 2023, Figure 2.11 (middle), eq. 2.16",
        note="Full weight 1, from iteration 4 to 6 as in the figure; the published runs of chapter 3 have "
        "10 from 20,000 to 35,000.",
    )


def batch_noise() -> Curves:
    """Compute the largest noise that the sNMU draws for a batch of a given spread."""
    sigma = axis(0.02, 5, 249)
    pairs = torch.from_numpy(sigma)[:, None, None] * torch.tensor([[1.0], [-1.0]]) / math.sqrt(2)
    return Curves(
        "landscapes/batch-noise",
        "Upper end of the batch noise",
        "σ(x)",
        "1 + 1/σ(x)",
        sigma,
        {"1 + 1/σ": SNMU.batch_bound(pairs).flatten().numpy()},
        source="Mistry 2023, Figure 4.9; Mistry 2022c, Figure 6",
        note="The text calls it exponential decay; it is a hyperbola. A batch from U[1.1, 1.2) has σ = 0.029 and "
        "noise up to 36, one from U[-2, 2) σ = 1.15 and up to 1.87.",
    )


def _weight(unit: NAC | GNALU, name: str, title: str, note: str) -> Surface:
    """Compute the effective weight over both raw parameters."""
    x = axis(-10, 10, 120)
    raw = torch.from_numpy(points(x, x))[:, :, None, None]  # (n, 2, out, in)
    with torch.no_grad():
        weight = populate_raw(unit, {"w_hat": raw[:, 0], "m_hat": raw[:, 1]}).weights()["weight"]
    z = weight.numpy().reshape(len(x), len(x))
    source = "Mistry 2023, Figure 2.12, after Rana 2019, Figures 2 and 4"
    return Surface(f"landscapes/{name}", title, "Ŵ", "M̂", x, x, z, source, note, clip=(-1.0, 1.0))


def nac_weight() -> Surface:
    """Compute the weight of NAC and NALU: tanh times sigmoid."""
    note = (
        "The weight only approaches -1, 0 and 1: there is no minimum, and slopes vanish in all three plains."
    )
    return _weight(NAC(1, 1), "nac-weight", "Weight of NAC and NALU, tanh(Ŵ) σ(M̂)", note)


def gnalu_weight() -> Surface:
    """Compute the weight of the G-NALU: the same with the golden ratio as base."""
    note = "The NALU's surface with both axes stretched by 1 / ln φ = 2.08: smoother, and nothing else."
    return _weight(GNALU(1, 1), "gnalu-weight", "Weight of the G-NALU, base φ", note)
