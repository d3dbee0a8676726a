"""Draws docs/extrapolation.png: an MLP and an NMU learn x*y on [1, 2]^2, then meet larger numbers.

Usage: python examples/extrapolate.py [FILE]
"""

import sys
from pathlib import Path

import torch
from rich.progress import track
from torch import Tensor

import nalm

RUNS = 10


def train(population: nalm.Trainable, steps: int, penalty: float) -> None:
    """Train with Adam on fresh batches from U[1, 2)."""
    optimiser = torch.optim.Adam(population.parameters(), lr=1e-2)
    data = torch.Generator().manual_seed(0)
    for step in track(range(steps), description=type(population).__name__):
        x = 1 + torch.rand(RUNS, 128, 2, generator=data)
        loss = nalm.loss("mse")(population(x), x.prod(-1, keepdim=True), x)
        weight = population.penalties().get("weight", torch.zeros(RUNS))
        optimiser.zero_grad()
        (loss + penalty * max(0.0, step / steps - 0.5) * weight).sum().backward()
        optimiser.step()
        population.project()


@torch.no_grad()
def errors(population: nalm.Trainable, sizes: Tensor) -> Tensor:
    """Return the median relative error of each run, (runs, sizes), on pairs of factors of about that size."""
    data = torch.Generator().manual_seed(1)
    columns = []
    for size in sizes:
        x = size * (1 + torch.rand(RUNS, 500, 2, generator=data))
        truth = x.prod(-1, keepdim=True)
        columns.append(((population(x) - truth) / truth).abs().flatten(1).median(-1).values)
    return torch.stack(columns, 1)


def main(path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    def seeds() -> list[torch.Generator]:
        return [torch.Generator().manual_seed(s) for s in range(RUNS)]

    mlp = nalm.stack([nalm.BASELINES["MLP"](2, 1, generator=g) for g in seeds()])
    nmu = nalm.stack([nalm.NMU(2, 1, generator=g) for g in seeds()])
    sizes = torch.logspace(-2, 5, 57)
    figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    axes.axvspan(1, 2, color="#cfe8e4", label="trained here")
    for name, population, colour in (("MLP, 100 hidden units", mlp, "#bf812d"), ("NMU", nmu, "#01665e")):
        train(population, 4000, 20.0)
        for run, curve in enumerate(errors(population, sizes)):
            label = f"{name} ({RUNS} seeds)" if run == 0 else None
            axes.loglog(sizes, curve.clamp_min(2e-8), color=colour, alpha=0.6, linewidth=1.2, label=label)
    axes.set(xlabel="size of the two factors", ylabel="relative error of x·y", ylim=(1e-8, 1e5))
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=160)
    print(f"drew {path}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1])
        if len(sys.argv) > 1
        else Path(__file__).parent.parent / "docs" / "extrapolation.png"
    )
