"""Measure the engine against a plain loop that trains one module at a time, in the same process.

``nalm bench [--json] [--quick]``: microseconds per run-step (one optimiser step of one run), and the
ratio to the plain loop. Absolute times vary with the machine; ratios vary less.
"""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch

from nalm.config import Arithmetic, Case, Growth, Layer, Ramp, Range, Recipe
from nalm.engine import device_for
from nalm.engine.model import Network
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run

SPARSE = (("weight", Ramp(10, 20_000, 35_000)),)
SMALL = {
    "NMU": Recipe(penalties=SPARSE),
    "RealNPU": Recipe(lr=5e-3, l1=Growth(1e-7, 1e-5)),
    "NPU": Recipe(lr=5e-3, l1=Growth(1e-7, 1e-5)),
    "NALU": Recipe(),
    "INALU": Recipe(clip_value=0.1, inalu=True),
}


@dataclass
class Timing:
    """One line of the benchmark."""

    name: str
    device: str
    threads: int
    mode: str
    runs: int
    inputs: int
    batch: int
    us_per_run_step: float
    naive_us_per_run_step: float | None
    ratio: float | None


def small(unit: str, inputs: int = 2, batch: int = 128) -> Case:
    """Return the single-module task of Mistry 2023, chapter 3."""
    recipe = SMALL[unit].replace(batch=batch)
    return Case((Layer(unit),), Arithmetic("multiply", Range(1, 2), Range(2, 6), inputs=inputs), recipe)


def two_layers() -> Case:
    """Return the Arithmetic Dataset Task: 100 inputs, two sums of 25 of them, their product."""
    layers = (Layer("NAU", 2), Layer("NMU"))
    return Case(
        layers,
        Arithmetic("multiply", Range(1, 2), Range(2, 6), inputs=100, subset=25, overlap=12),
        Recipe(penalties=SPARSE),
    )


def measure(case: Case, runs: int, device: torch.device, compiled: bool, seconds: float) -> tuple[float, str]:
    """Return the microseconds per run-step (best of three) and the mode: eager, compiled or captured."""
    program = Program([Run(case, seed, seed) for seed in range(runs)], device, compiled)
    program.advance(204, "mse")  # compiles and captures

    def timed(steps: int) -> float:
        started = time.perf_counter()
        program.advance(steps, "mse")
        if device.type == "cuda":
            torch.cuda.synchronize()
        return (time.perf_counter() - started) / steps

    steps = max(1, int(seconds / 3 / max(timed(100), 1e-6) / 100)) * 100
    return min(timed(steps) for _ in range(3)) / runs * 1e6, program.mode


def naive(case: Case, seconds: float) -> float:
    """Return the microseconds per step of a plain loop: one module, torch.optim.Adam, fresh batches by torch.rand."""
    network = Network(case.model, case.inputs)
    optimiser = torch.optim.Adam(network.parameters(), lr=case.recipe.lr)
    names = [name for name, _ in case.recipe.penalties] + (["weight"] if case.recipe.inalu else [])
    first, second = (
        slice(0, case.task.subset),
        slice(case.task.subset - case.task.overlap, 2 * case.task.subset - case.task.overlap),
    )

    def step() -> None:
        x = 1 + torch.rand(case.recipe.batch, case.inputs)
        y = (x[:, first].sum(-1) * x[:, second].sum(-1)).unsqueeze(-1)
        prediction, terms = network.penalised(x, names)
        loss = (prediction - y).square().mean()
        for term in terms.values():
            loss = loss + 0.1 * term
        if case.recipe.l1 is not None:
            loss = loss + 1e-7 * sum(p.abs().sum() for p in network.parameters())
        optimiser.zero_grad()
        loss.backward()
        if case.recipe.clip_value:
            torch.nn.utils.clip_grad_value_(network.parameters(), case.recipe.clip_value)
        optimiser.step()
        network.project()

    for _ in range(20):
        step()
    best = float("inf")
    for _ in range(3):
        started, count = time.perf_counter(), 0
        while time.perf_counter() - started < seconds / 3:
            step()
            count += 1
        best = min(best, (time.perf_counter() - started) / count)
    return best * 1e6


def bench(
    device: torch.device,
    seconds: float = 1.0,
    quick: bool = False,
    show: Callable[[Timing], None] | None = None,
) -> list[Timing]:
    """Measure everything on one device; ``show`` is called with each measurement."""
    every = torch.get_num_threads()
    threads = [1, every] if device.type == "cpu" and every > 1 else [1]
    modes = [False, True] if device.type == "cpu" and not quick else [True]
    cases = [(f"{unit}", small(unit), 225) for unit in SMALL] + [("100-2-1", two_layers(), 180)]
    rows: list[Timing] = []

    def add(name: str, case: Case, runs: int, count: int, compiled: bool, plain: float | None) -> None:
        us, mode = measure(case, runs, device, compiled, seconds)
        ratio = plain / us if plain else None
        sizes = runs, case.inputs, case.recipe.batch
        rows.append(Timing(name, device.type, count, mode, *sizes, us, plain, ratio))
        if show is not None:
            show(rows[-1])

    try:
        for count in threads:
            torch.set_num_threads(count)
            for name, case, runs in cases:
                plain = naive(case, seconds)
                for compiled in modes:
                    add(name, case, runs, count, compiled, plain)
        torch.set_num_threads(threads[0])
        growth = (25, 225, 1_000, 5_000) if device.type == "cpu" else (25, 225, 1_000, 7_875)
        for runs in () if quick else growth:
            add("NMU by runs", small("NMU"), runs, threads[0], True, None)
        for inputs in (10,) if quick else (2, 10, 30, 100):
            add("NMU by inputs", small("NMU", inputs), 225, threads[0], True, None)
        for batch in () if quick else (32, 128, 512):
            add("NMU by batch", small("NMU", batch=batch), 225, threads[0], True, None)
    finally:
        torch.set_num_threads(every)
    return rows


def report(device: str = "auto", *, as_json: bool = False, quick: bool = False) -> None:
    """Measure and print."""
    if as_json:
        print(json.dumps([asdict(row) for row in bench(device_for(device), quick=quick)], indent=1))
        return
    print(f"{'':14} device threads mode       runs inputs batch us/run-step plain loop   ratio")
    bench(device_for(device), quick=quick, show=_line)


def _line(r: Timing) -> None:
    plain = f"{r.naive_us_per_run_step:10.0f} {r.ratio:6.0f}x" if r.ratio else ""
    place = f"{r.device:6} {r.threads:7} {r.mode:9} {r.runs:5} {r.inputs:6} {r.batch:5}"
    print(f"{r.name:14} {place} {r.us_per_run_step:11.4f} {plain}", flush=True)


if __name__ == "__main__":
    report("auto", as_json="--json" in sys.argv, quick="--quick" in sys.argv)
