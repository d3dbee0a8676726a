"""Quotients of two digits that a unit learns upside down, and from which starts it does.

    NALM_DATA=FOLDER python examples/quotient_directions.py [READERS [UNIT ...]]

A network reads a number from each of two images, a unit calculates with them, and the target is the quotient of the two
digits. b/a with a network that reads 9/d for every digit d has the same outputs as a/b with one that reads d. Which of
both is learnt follows from the exponents with which the unit starts. Each reader takes ten seconds of one CPU core.
"""

import sys
from collections import Counter

import torch
from mixed_digits import images
from torch import Tensor, nn

import nalm
from nalm.engine.images.readers import softargmax

STEPS, BATCH = 3_000, 128
UNITS = ("NRU", "ModifiedRealNPU", "NMRU")
Divider = nalm.NRU | nalm.ModifiedRealNPU | nalm.NMRU
TOWARDS = (0.75, 0.25, 0.25, 0.75)  # weights of an NMRU for a, b, 1/a and 1/b: a start that is nearer to a/b


def exponents(unit: Divider) -> tuple[float, float]:
    """Return the exponents of both inputs; of an NMRU the weight of an input less that of its reciprocal."""
    weight = unit.weight.detach().flatten()
    first, second = (weight[:2] - weight[2:] if isinstance(unit, nalm.NMRU) else weight).tolist()
    return first, second


def reached(unit: Divider) -> str:
    """Return what the unit computes, if that is a quotient."""
    first, second = exponents(unit)
    return {(1, -1): "a/b", (-1, 1): "b/a"}.get((round(first), round(second)), "neither")


def begun(name: str, seed: int, weights: tuple[float, ...] | None = None) -> Divider:
    """Return a unit with the start of a seed, or with these weights."""
    unit: Divider = getattr(nalm, name)(2, 1, generator=torch.Generator().manual_seed(seed))
    if weights is not None:
        with torch.no_grad():
            unit.weight.copy_(torch.tensor([weights]))
    return unit


def trained(unit: Divider, x: Tensor, y: Tensor, seed: int, steps: int = STEPS) -> nn.Module:
    """Train a unit and the reader before it by quotients; return the reader."""
    torch.manual_seed(seed)
    reader = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 9))
    weights = [*reader.parameters(), *unit.parameters()]
    optimiser = torch.optim.Adam(weights, lr=1e-3)
    chance = torch.Generator().manual_seed(seed)
    for step in range(steps):
        rows = torch.randint(len(x), (BATCH, 2), generator=chance)
        read = softargmax(reader(x[rows.flatten()]), 1).view(-1, 2)
        loss = (unit(read)[:, 0] - y[rows[:, 0]] / y[rows[:, 1]]).square().mean()
        if step > steps // 2:  # draw the unit's weights to whole numbers
            grown = min(1.0, (step - steps // 2) / (0.1 * steps))
            loss = loss + 2 * grown * sum(p.mean() for p in unit.penalties().values())
        optimiser.zero_grad()
        loss.backward()
        if isinstance(unit, nalm.NMRU):
            nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        unit.project()
    return reader.eval()


@torch.no_grad()
def readings(reader: nn.Module, x: Tensor, y: Tensor) -> list[float]:
    """Return the mean of what is read from the images of each digit, 1 to 9."""
    read = softargmax(reader(x), 1).flatten()
    return [float(read[y == digit].mean()) for digit in range(1, 10)]


def main(readers: int = 10, units: tuple[str, ...] = UNITS, steps: int = STEPS, data: str = "") -> Counter:
    """Train readers with each unit; print and count where each start ends."""
    x, y = images(data)
    x, y = x[y > 0], y[y > 0]
    counts: Counter = Counter()
    starts = [(name, None) for name in units] + [("NMRU", TOWARDS)] * ("NMRU" in units)
    for name, weights in starts:
        label = name if weights is None else f"{name} from {weights}"
        for seed in range(readers):
            unit = begun(name, seed, weights)
            first, second = exponents(unit)
            reader = trained(unit, x, y, seed, steps)
            end = reached(unit)
            shown = " ".join(f"{value:.2f}" for value in readings(reader, x[:5_000], y[:5_000]))
            print(f"{label} {seed}: from ({first:+.2f}, {second:+.2f}) to {end}; reads {shown}", flush=True)
            counts[label, f"({'-+'[first > 0]}, {'-+'[second > 0]})", end] += 1
    for (label, start, end), count in sorted(counts.items()):
        print(f"{label} from exponents of signs {start}: {end} {count} times")
    return counts


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, tuple(sys.argv[2:]) or UNITS)
