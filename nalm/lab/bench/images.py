"""Measure networks that read images against a plain loop of one fold at a time, in the same process.

``nalm bench mnist``: milliseconds per fold-step (one optimiser step of one fold, 128 pairs of images), and the ratio to
eager PyTorch with its own Adam. The plain loop has its images on the device too, more than a loader would give it.
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as T

from nalm.config import Case, Layer
from nalm.engine import device_for
from nalm.engine.images.data import normalised
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.readers import softargmax
from nalm.experiments.mnist.two_digits import pressed, product, reading

TOGETHER = (1, 2, 4, 8)  # folds that share a GPU


@dataclass
class Speed:
    """One line of the benchmark."""

    name: str
    device: str
    folds: int
    batch: int
    ms: float  # per fold-step
    ratio: float  # to the plain loop


class Plain(nn.Module):
    """The same network in plain PyTorch."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3)
        self.fc1, self.fc2 = nn.Linear(9216, 128), nn.Linear(128, 10)
        self.weight = nn.Parameter(torch.rand(2) / 2 + 0.25)

    def forward(self, images: Tensor) -> Tensor:
        """Return the product (batch, 1) of the digits on images (batch, 2, 28, 28), by a NMU."""
        x = images.flatten(0, 1).unsqueeze(1)
        x = T.max_pool2d(T.relu(self.conv2(T.relu(self.conv1(x)))), 2)
        x = T.relu(self.fc1(T.dropout(x.flatten(1), 0.25)))
        digits = softargmax(self.fc2(T.dropout(x, 0.5))).view(-1, 2)
        terms = self.weight * digits + 1 - self.weight
        return terms[:, :1] * terms[:, 1:]


def _timed(step: Callable[[], object], device: torch.device, steps: int) -> float:
    """Return the milliseconds per call, the best of three rounds."""
    best = float("inf")
    for _ in range(3):
        started = time.perf_counter()
        for _ in range(steps):
            step()
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - started) / steps)
    return best * 1e3


def plain(program: ImageProgram, device: torch.device, steps: int) -> float:
    """Return the milliseconds per step of one fold with torch's modules, dropout and Adam, eagerly."""
    case, pictures = program.case, program.pictures
    network = Plain().to(device)
    optimiser = torch.optim.Adam(network.parameters(), lr=case.recipe.lr)

    def step() -> None:
        rows = torch.randint(pictures.trained, (case.recipe.batch, 2), device=device)
        y = pictures.digits[rows].float().prod(-1, keepdim=True)
        loss = (network(normalised(pictures.images[rows])) - y).square().mean()
        penalty = torch.minimum(network.weight.abs(), (1 - network.weight).abs()).mean()
        optimiser.zero_grad()
        (loss + 0.1 * penalty).backward()
        optimiser.step()
        network.weight.data.clamp_(0, 1)

    for _ in range(min(steps, 10)):
        step()
    return _timed(step, device, steps)


def ours(program: ImageProgram, folds: int, steps: int) -> float:
    """Return the milliseconds per step of one fold when several are trained together."""
    members = [Member(program, seed) for seed in range(folds)]
    for member in members:
        member.shuffle(0)
        for _ in range(3):  # compiled by the first, captured by the second, replayed by the third
            member.advance("mse")

    def turn() -> None:
        for member in members:
            member.advance("mse")

    return _timed(turn, program.device, max(1, steps // folds)) / folds


def bench(device: torch.device, quick: bool, data: str, show: Callable[[Speed], None]) -> list[Speed]:
    """Measure the plain loop, then the modes of the engine; ``show`` is called with each."""
    on_gpu = device.type == "cuda"
    case = _case(on_gpu, data)
    steps = 300 if on_gpu else 3
    base = ImageProgram(case, data, device, False)
    slow = plain(base, device, steps)
    rows = [Speed("plain eager loop, one fold", device.type, 1, case.recipe.batch, slow, 1.0)]
    show(rows[-1])

    def add(name: str, program: ImageProgram, folds: int) -> None:
        ms = ours(program, folds, steps)
        rows.append(Speed(name, device.type, folds, case.recipe.batch, ms, slow / ms))
        show(rows[-1])

    if not on_gpu:
        add("eager, draws", base, 1)
        return rows
    if not quick:
        add("captured, float32", ImageProgram(case, data, device, False, torch.float32), 1)
        add("captured, bfloat16", base, 1)
        add("captured, compiled, float32", ImageProgram(case, data, device, True, torch.float32), 1)
    program = ImageProgram(case, data, device, True)
    for folds in TOGETHER:
        add("captured, compiled, bfloat16", program, folds)
    return rows


def _case(full: bool, data: str) -> Case:
    """Return the case: digit product by a NMU; without ``data`` with digits made in code, and small on a CPU."""
    case = pressed(product(Layer("NMU")), 100, "weight")
    if data and full:
        return case
    task = case.task if data else case.task.replace(source="drawn")
    return pressed(reading(Layer("NMU"), task, 128 if full else 4), 100, "weight")


def report(device: str = "auto", *, as_json: bool = False, quick: bool = False, data: str = "") -> None:
    """Measure and print."""
    if as_json:
        rows = bench(device_for(device), quick, data, lambda row: None)
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    print(f"{'':30} device folds batch ms/fold-step    ratio")
    bench(device_for(device), quick, data, _line)


def _line(r: Speed) -> None:
    print(f"{r.name:30} {r.device:6} {r.folds:5} {r.batch:5} {r.ms:12.3f} {r.ratio:7.2f}x", flush=True)
