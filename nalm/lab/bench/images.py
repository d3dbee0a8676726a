"""Measure networks that read images against a plain loop of one fold at a time, in the same process.

``nalm bench mnist``: milliseconds per fold-step (one optimiser step of one fold, 128 pairs of images), and the ratio to
eager PyTorch with its own Adam. The plain loop has its images on the device too, more than a loader would give it. On a
GPU a form of the convolutions is measured with the relative difference of its gradients from those of torch's: the
fastest one, and with ``--forms`` every form in every precision, which takes minutes.
"""

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as T

from nalm.config import Case
from nalm.engine import device_for
from nalm.engine.device import PRECISIONS, products_in
from nalm.engine.images.convolutions import FORMS, fastest, form
from nalm.engine.images.data import normalised
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.readers import softargmax
from nalm.engine.images.together import Together
from nalm.experiments.mnist.two_digits import FC, MUL, NMU, SNMU, SNMU_BATCH

FOLDS, SEVERAL = 10, 8  # folds of a batch; folds with a graph each
STEPS = {"cpu": 2, "cuda": 300}  # steps that are measured, three times
SLOW = "fused", "float32"  # is not measured: without tensor cores its kernels take minutes to compile


@dataclass
class Speed:
    """One line of the benchmark."""

    name: str
    device: str
    folds: int
    batch: int
    ms: float  # per fold-step
    ratio: float  # to the plain loop
    off: float = 0.0  # the relative difference of the gradients from those of torch's convolutions


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


def apart(program: ImageProgram, folds: int, steps: int) -> float:
    """Return the milliseconds per step of one fold when each of several has graphs of its own."""
    members = [Member(program, seed) for seed in range(folds)]
    for member in members:
        member.shuffle(0)
        for _ in range(3):  # compiled by the first, captured by the second, replayed by the third
            member.advance("mse")

    def turn() -> None:
        for member in members:
            member.advance("mse")

    return _timed(turn, program.device, max(1, steps // folds)) / folds


def begun(programs: Sequence[ImageProgram], folds: int, convolutions: str) -> Together:
    """Return folds of several cases as one batch whose step is compiled and captured."""
    members = [Member(program, seed) for program in programs for seed in range(folds)]
    batch = Together(members, convolutions, programs[0].device.type == "cuda")
    batch.shuffle(0)
    for _ in range(3):  # compiled by the first, captured by the second, replayed by the third
        batch.advance("mse")
    return batch


def together(programs: Sequence[ImageProgram], folds: int, convolutions: str, steps: int) -> float:
    """Return the milliseconds per step of one fold when those of several cases are one batch."""
    batch = begun(programs, folds, convolutions)
    runs = len(batch.members)
    return _timed(lambda: batch.advance("mse"), batch.device, max(2, steps // runs)) / runs


def difference(convolutions: str, precision: str, device: torch.device, images: int = 256) -> float:
    """Return how far the gradients of a form are from torch's convolutions in float32, relative to their size."""
    chance = torch.Generator().manual_seed(0)

    def drawn(*shape: int, size: float = 1.0) -> Tensor:
        return (torch.randn(*shape, generator=chance) * size).to(device)

    shapes = {"conv1": (2, 32, 1, 3, 3), "conv2": (2, 64, 32, 3, 3)}
    weights = {f"{n}.weight": drawn(*shape, size=0.2) for n, shape in shapes.items()}
    weights |= {f"{n}.bias": drawn(*shape[:2], size=0.2) for n, shape in shapes.items()}
    weights |= {"fc1.weight": drawn(2, 128, 9216, size=0.01), "fc1.bias": drawn(2, 128, size=0.01)}
    x, pushed = drawn(2, images, 28, 28), drawn(2, images, 128)
    x[..., :7, :] = x[..., 21:, :] = x[..., :7] = x[..., 21:] = -0.4  # a background, as digits have
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    with products_in("float32"):
        _, pull = form("each")(weights, x, None)
        wanted = pull(pushed)
    with products_in(precision):
        _, pull = form(convolutions)(weights, x.to(kind), None)
        found = pull(pushed.to(kind))
    return max(float((found[n] - w).norm() / w.norm()) for n, w in wanted.items())


def batches(device: str, forms: bool, units: int) -> list[tuple[str, str, int, int]]:
    """Return the batches that are measured on a device: form of the convolutions, precision, units and folds.

    ``forms`` adds every other form in every precision on a GPU.
    """
    if device != "cuda":
        return [(fastest(device, ""), "", 1, 1)]
    used = fastest("cuda", "bfloat16")
    found = [(used, "bfloat16", count, folds) for count, folds in ((1, 1), (1, FOLDS), (units, FOLDS))]
    others = [(other, precision) for precision in PRECISIONS[::-1] for other in FORMS] if forms else []
    return found + [(*pair, 1, FOLDS) for pair in others if pair not in ((used, "bfloat16"), SLOW)]


def bench(device: torch.device, forms: bool, data: str, show: Callable[[Speed], None]) -> list[Speed]:
    """Measure the plain loop, then batches of folds and units; ``show`` is called with each."""
    on_gpu = device.type == "cuda"
    several, steps = cases(data), STEPS[device.type]
    batch = several[0].recipe.batch
    slow = plain(ImageProgram(several[0], data, device, False), device, steps)
    rows = [Speed("plain eager loop", device.type, 1, batch, slow, 1.0)]
    show(rows[-1])

    def add(name: str, folds: int, ms: float, off: float = 0.0) -> None:
        rows.append(Speed(name, device.type, folds, batch, ms, slow / ms, off))
        show(rows[-1])

    def batched(used: str, precision: str, count: int, folds: int) -> None:
        programs = [ImageProgram(case, data, device, on_gpu, precision) for case in several[:count]]
        words = " ".join(part for part in (used, precision, f"{count} units" if count > 1 else "") if part)
        try:
            off = difference(used, precision, device) if on_gpu else 0.0
            ms = together(programs, folds, used, steps)
        except Exception as error:
            if not on_gpu:
                raise
            warnings.warn(f"{words} does not run here: {type(error).__name__}: {error}", stacklevel=2)
            torch.cuda.empty_cache()
            return
        add(words, count * folds, ms, off)

    for used, precision, count, folds in batches(device.type, forms, len(several)):
        batched(used, precision, count, folds)
    if on_gpu:
        own = ImageProgram(several[0], data, device, True)
        add("a graph per fold, bfloat16", SEVERAL, apart(own, SEVERAL, steps))
    return rows


def cases(data: str) -> list[Case]:
    """Return the cases of the digit product, a NMU first; without ``data`` with digits made in code."""
    found = [NMU, MUL, FC, SNMU, SNMU_BATCH]
    return found if data else [case.replace(task=case.task.replace(source="drawn")) for case in found]


def report(device: str = "auto", *, as_json: bool = False, forms: bool = False, data: str = "") -> None:
    """Measure and print."""
    if as_json:
        rows = bench(device_for(device), forms, data, lambda row: None)
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    print(f"{'':30} device  runs batch ms/fold-step    ratio   gradients off by")
    bench(device_for(device), forms, data, _line)


def _line(r: Speed) -> None:
    print(
        f"{r.name:30} {r.device:6} {r.folds:5} {r.batch:5} {r.ms:12.3f} {r.ratio:7.2f}x  {r.off:.1e}",
        flush=True,
    )
