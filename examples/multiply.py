"""A population of NMUs learns to multiply on [1, 2], and is right a million times further out.

Runs in seconds: 25 networks are one tensor program. Usage: python examples/multiply.py
"""

from collections import Counter

import torch
from rich.progress import track

import nalm


def main(runs: int = 25, steps: int = 3000) -> None:
    population = nalm.stack([nalm.NMU(2, 1, generator=torch.Generator().manual_seed(s)) for s in range(runs)])
    optimiser = torch.optim.Adam(population.parameters(), lr=1e-2)
    data = torch.Generator().manual_seed(0)
    for step in track(range(steps), description=f"training {runs} NMUs on U[1, 2)"):
        x = 1 + torch.rand(runs, 128, 2, generator=data)
        loss = nalm.loss("mse")(population(x), x.prod(-1, keepdim=True), x)
        pressure = 10 * min(1.0, max(0.0, step / steps - 0.5) * 2) * population.penalties()["weight"]
        optimiser.zero_grad()
        (loss + pressure).sum().backward()
        optimiser.step()
        population.project()

    formulas = Counter(str(nalm.member(population, run).formulas()[0]) for run in range(runs))
    formula, count = formulas.most_common(1)[0]
    far = 10 ** (6 * torch.rand(runs, 10_000, 2, generator=data, dtype=torch.float64))
    with torch.no_grad():
        truth = far.prod(-1, keepdim=True)
        error = ((population.snap_().double()(far) - truth) / truth).abs().amax((-2, -1)).median()
    print(f"formula found: {formula}  ({count} of {runs} runs)")
    print(f"largest relative error on [1, 1e6], trained on [1, 2): {error:.1e}")


if __name__ == "__main__":
    main()
