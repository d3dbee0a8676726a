"""Measure what each kernel of a training step takes in a batch of networks that read images.

``nalm bench mnist --kernels``: microseconds per fold-step and calls per step, by torch's profiler. On a GPU it is ten
folds of five units in bfloat16, on a CPU one fold of one unit.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import torch
from torch.profiler import ProfilerActivity, profile

from nalm.engine import device_for
from nalm.engine.images.convolutions import fastest
from nalm.engine.images.program import ImageProgram
from nalm.lab.bench.images import FOLDS, begun, cases

STEPS = {"cpu": 1, "cuda": 50}  # steps that are profiled
SHOWN = 24  # kernels with a line of their own


@dataclass
class Kernel:
    """One kernel of a training step, and its time."""

    name: str
    us: float  # per fold-step
    calls: float  # per step of the batch


def profiled(programs: Sequence[ImageProgram], folds: int, precision: str) -> list[Kernel]:
    """Return the kernels of a step of a batch, the longest first."""
    device = programs[0].device
    on_gpu, steps = device.type == "cuda", STEPS[device.type]
    batch = begun(programs, folds, fastest(device.type, precision))
    activity = ProfilerActivity.CUDA if on_gpu else ProfilerActivity.CPU
    with profile(activities=[activity], acc_events=True) as found:  # without it some versions of torch warn
        for _ in range(steps):
            batch.advance("mse")
        if on_gpu:
            torch.cuda.synchronize()
    share = steps * len(batch.members)
    kernels = []
    for event in found.key_averages():
        us = event.self_device_time_total if on_gpu else event.self_cpu_time_total
        if us:
            kernels.append(Kernel(event.key, us / share, event.count / steps))
    return sorted(kernels, key=lambda kernel: -kernel.us)


def report(device: str = "auto", *, as_json: bool = False, data: str = "") -> None:
    """Measure and print."""
    on = device_for(device)
    on_gpu = on.type == "cuda"
    several, folds, precision = (cases(data), FOLDS, "bfloat16") if on_gpu else (cases(data)[:1], 1, "")
    programs = [ImageProgram(case, data, on, on_gpu, precision) for case in several]
    kernels = profiled(programs, folds, precision)
    if as_json:
        print(json.dumps([asdict(kernel) for kernel in kernels], indent=1))
        return
    print(f"A step of {len(several) * folds} runs on {on.type}:\n\nus/fold-step  calls  kernel")
    for kernel in kernels[:SHOWN]:
        print(f"{kernel.us:12.2f} {kernel.calls:6.0f}  {kernel.name[:60]}")
    rest = kernels[SHOWN:]
    print(f"{sum(k.us for k in rest):12.2f} {sum(k.calls for k in rest):6.0f}  {len(rest)} others")
    print(f"{sum(k.us for k in kernels):12.2f}         in all")
