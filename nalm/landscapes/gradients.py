"""The norm of the gradient of power units whose target is the first of two inputs (Heim 2020, Figure 3)."""

import numpy as np
import torch

from nalm.landscapes.grid import axis, populate
from nalm.landscapes.minima import Known, Residuals, heights, search
from nalm.landscapes.surface import Array, Surface
from nalm.units import NPU, NaiveNPU

SAMPLES = 32
SEED = 2
SOURCE = "Heim 2020, Figure 3; Mistry 2023, Figure 2.14"
SOLVED: Known = {(1.0, 0.0): "solution"}
SETTING = (
    "As in the published code: 32 samples, x1 in (0, 2), x2 in (-0.05, 0.05), mean squared error. The text "
    "has x2 in (0, 0.05) and a sum of absolute errors, whose gradient does not vanish at the solution."
)


def samples() -> torch.Tensor:
    """Draw the batch (32, 2), the same at every call: x1 in (0, 2), x2 in (-0.05, 0.05)."""
    generator = torch.Generator().manual_seed(SEED)
    u = torch.rand(SAMPLES, 2, generator=generator, dtype=torch.float64)
    return u * torch.tensor([2.0, 0.1], dtype=torch.float64) - torch.tensor([0.0, 0.05], dtype=torch.float64)


def gradient(unit: NaiveNPU | NPU, gate: tuple[float, float] | None, *, imaginary: bool = False) -> Residuals:
    """Return the gradient of the mean squared error by the weights (w1, w2), and by imaginary parts, which are 0."""
    x = samples()

    def residuals(points: Array) -> Array:
        n = len(points)
        weights = {"weight": torch.from_numpy(points).unsqueeze(-2)}
        if gate is not None:
            weights["gate"] = torch.tensor(gate, dtype=torch.float64).expand(n, 2)
        population = populate(unit, weights)
        y = population(x.expand(n, *x.shape)).squeeze(-1)  # (n, samples)
        by = [population.weight, *([population.imaginary] if imaginary else [])]
        slopes = torch.autograd.grad((y - x[:, 0]).square().mean(-1).sum(), by)
        return np.asarray(torch.cat(slopes, -1).squeeze(-2).numpy())

    return residuals


def _surface(name: str, title: str, residuals: Residuals, note: str) -> Surface:
    x, y = axis(-1, 2.5, 70), axis(-0.2, 1, 60)
    return Surface(
        f"landscapes/{name}",
        title,
        "w1",
        "w2",
        x,
        y,
        heights(residuals, x, y),
        SOURCE,
        f"{note} {SETTING}",
        clip=(0.0, 2.5),
        minima=search(residuals, x, y, SOLVED),
    )


def naive_npu() -> Surface:
    """Compute the NaiveNPU, which has no gates: a small second input makes the gradient vanish where w2 is large."""
    residuals = gradient(NaiveNPU(2, 1), None)
    note = "The gradient by the real weights alone. It fades for w2 > 0.75, where the output is near 0."
    return _surface("gradient-naivenpu", "Gradient of the NaiveNPU", residuals, note)


def npu() -> Surface:
    """Compute the NPU with its initial gates, which are half open."""
    residuals = gradient(NPU(2, 1), (0.5, 0.5), imaginary=True)
    note = (
        "The gradient by real and imaginary weights, which the other two panels leave out. With half-open "
        "gates (1, 0) is not a stationary point: the gradient is smallest near (2, 0.08)."
    )
    return _surface("gradient-npu", "Gradient of the NPU, gates (0.5, 0.5)", residuals, note)


def npu_gated() -> Surface:
    """Compute the NPU with its gold gates, which remove the second input."""
    residuals = gradient(NPU(2, 1), (1.0, 0.0))
    note = "The gate removes the second input, so nothing depends on w2 and the solution is the line w1 = 1."
    return _surface("gradient-npu-gated", "Gradient of the NPU, gates (1, 0)", residuals, note)
