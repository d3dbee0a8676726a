"""Measure what each kernel of a training step takes in a batch of networks that read images.

``nalm bench mnist --kernels``: microseconds per fold-step and calls per step, by torch's profiler. On a GPU it is ten
folds of five units in bfloat16, on a CPU one fold of one unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from nalm.engine import device_for
from nalm.engine.images.convolutions import fastest
from nalm.engine.images.program import ImageProgram, Member
from nalm.engine.images.together import Together
from nalm.lab.bench.images import FOLDS, cases

STEPS = {"cpu": 1, "cuda": 50}  # steps that are profiled
SHOWN = 24  # kernels with a line of their own


@dataclass
class Kernel:
    """What one kernel takes."""

    name: str
    us: float  # per fold-step
    calls: float  # per step of the batch


def profiled(programs: Sequence[ImageProgram], folds: int, precision: str) -> list[Kernel]:
    """Return the kernels of a step of a batch, the longest first."""
    device = programs[0].device
    batch = Together(
        [Member(program, seed) for program in programs for seed in range(folds)],
        fastest(device.type, precision),
        device.type == "cuda",
    )
    for member in batch.members:
        member.shuffle(0)
    for _ in range(3):  # compiled, captured, replayed
        batch.advance("mse")
    steps, on_gpu = STEPS[device.type], device.type == "cuda"
    with profile(activities=[ProfilerActivity.CUDA if on_gpu else ProfilerActivity.CPU]) as found:
        for _ in range(steps):
            batch.advance("mse")
        if on_gpu:
            torch.cuda.synchronize()
    taken = [
        (e.key, e.self_device_time_total if on_gpu else e.self_cpu_time_total, e.count)
        for e in found.key_averages()
    ]
    share = steps * len(batch.members)
    return sorted((Kernel(n, us / share, c / steps) for n, us, c in taken if us), key=lambda k: -k.us)


def report(device: str = "auto", data: str = "") -> None:
    """Measure and print."""
    on = device_for(device)
    several, folds = (cases(data), FOLDS) if on.type == "cuda" else (cases(data)[:1], 1)
    precision = "bfloat16" if on.type == "cuda" else ""
    programs = [ImageProgram(case, data, on, on.type == "cuda", precision) for case in several]
    rows = profiled(programs, folds, precision)
    rest = rows[SHOWN:]
    rows = [*rows[:SHOWN], Kernel(f"{len(rest)} others", sum(k.us for k in rest), sum(k.calls for k in rest))]
    print(f"A step of {len(several) * folds} runs on {on.type}:\n\nus/fold-step  calls  kernel")
    for kernel in rows:
        print(f"{kernel.us:12.2f} {kernel.calls:6.0f}  {kernel.name[:60]}")
    print(f"{sum(k.us for k in rows):12.2f}         in all")
