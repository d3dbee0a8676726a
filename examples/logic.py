"""Learns a rule of truth values and the minimum of three numbers; prints both, and takes the minimum of a long list.

Runs in seconds. Usage: python examples/logic.py
"""

import sympy
import torch

import nalm
from nalm.formulas.symbolic import rule
from nalm.networks import Smallest

RUNS = 3


def starts() -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in range(RUNS)]


def learn_a_rule(steps: int = 800) -> sympy.Basic:
    """Learn exclusive or from its truth table by two layers of logic rules; return the best run's rule."""
    x = torch.cartesian_prod(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0])).expand(RUNS, 4, 2)
    y = (x[..., :1] != x[..., 1:]).float()
    first = nalm.stack([nalm.NLRL(2, 4, generator=g) for g in starts()])
    last = nalm.stack([nalm.NLRL(4, 1, generator=g) for g in starts()])
    optimiser = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-2)
    for _ in range(steps):
        loss = nalm.loss("mse")(last(first(x)), y, x)
        optimiser.zero_grad()
        loss.sum().backward()
        optimiser.step()
        first.project()
        last.project()
    best = int(loss.argmin())
    names = sympy.symbols("a b")
    formula = nalm.member(last, best).formulas(nalm.member(first, best).formulas(names))[0]
    return rule(formula, names)


def learn_a_minimum(steps: int = 400) -> Smallest:
    """Learn the minimum of three whole numbers from -10 to 9 by a status register in a loop.

    Return the best run, snapped and in its exact form.
    """
    runs = nalm.stack([Smallest(3, 1, redundancy=10, generator=g) for g in starts()])
    optimiser = torch.optim.Adam(runs.parameters(), lr=5e-2)
    data = torch.Generator().manual_seed(0)
    for step in range(steps):
        x = torch.randint(-10, 10, (RUNS, 64, 3), generator=data).float()
        loss = nalm.loss("mse")(runs(x), x.amin(-1, keepdim=True), x)
        optimiser.zero_grad()
        (loss + (step > steps // 2) * runs.penalties()["weight"]).sum().backward()
        optimiser.step()
        runs.project()
    return nalm.member(runs, int(loss.argmin())).snap_().exact_()


def main() -> None:
    print("a rule learnt from four rows:", learn_a_rule())
    network = learn_a_minimum()
    print("a step learnt from three numbers: h =", network.formulas()[0])
    numbers = torch.randint(-(10**6), 10**6, (100, 1000), generator=torch.Generator().manual_seed(1)).float()
    with torch.no_grad():
        right = (network(numbers) == numbers.amin(-1, keepdim=True)).sum()
    print(f"minimum of 1000 numbers up to a million: {right} of 100 lists right")


if __name__ == "__main__":
    main()
