"""Estimate the cost of very large experiments on a cluster by a simulation with measured rates.

python -m benchmarks.scale           prints the table of docs/scale.md
python -m benchmarks.scale measure   measures the rates on this machine (needs two cores and the extra ray)
"""

import heapq
import math
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

RUN_STEPS = 1e12
GPUS = (1, 8, 64)
SHARES = 12  # tasks that share a GPU
COMPILING = 8.0  # seconds before a task begins to train, on a core of its own
LARGEST = 50_000  # runs that fit into a share's memory
WAVES = 4  # tasks per share that populations are cut for


@dataclass(frozen=True)
class Driver:
    """Measured seconds of the one process that hands out tasks and writes results.db."""

    task: float = 0.004  # to submit a task, receive its result and end it
    run: float = 60e-6  # to receive and write a finished run
    bytes: int = 2_100  # of a finished run in results.db


@dataclass(frozen=True)
class Load:
    """Many runs of one kind: their length, and the cost of a run-step on a fully loaded GPU."""

    name: str
    steps: int
    seconds: float  # per run-step
    least: int  # runs that keep one share of a GPU busy at this rate

    @property
    def runs(self) -> int:
        """Return the number of runs that make up all run-steps."""
        return round(RUN_STEPS / self.steps)


LOADS = (
    Load("two-layer 100-2-1, 5,000,000 steps", 5_000_000, 0.2e-6, 15),
    Load("single module, 50,000 steps", 50_000, 3e-9, 656),
    Load("single module, 1,000 steps", 1_000, 3e-9, 656),
)


@dataclass(frozen=True)
class Outcome:
    """The result of a simulation."""

    seconds: float
    tasks: int
    gpu: float  # share of the time that the GPUs computed
    driver: float  # share of the time that the driver was busy
    gigabytes: float

    @property
    def limit(self) -> str:
        """Name the part that limits the throughput."""
        return "the driver" if self.driver > 0.85 else "the GPUs" if self.gpu > 0.85 else "beginning and end"


def simulate(load: Load, gpus: int, driver: Driver, drivers: int = 1) -> Outcome:
    """Simulate tasks in shares of GPUs, and drivers that handle one finished task after another.

    A share computes at its part of a GPU's rate. Some tasks are handed out in advance, one per eight shares; a share
    that has finished a task starts such a task at once. When the driver handles the finished task, it hands out
    another.
    """
    shares = gpus * SHARES
    size = min(max(load.least, math.ceil(load.runs / (WAVES * shares))), LARGEST)
    tasks = math.ceil(load.runs / size)
    computing = size * load.steps * load.seconds * SHARES
    handling = driver.task + size * driver.run
    free = [0.0] * drivers  # when each driver becomes idle
    running = min(shares, tasks)
    ahead = min(shares // 8 + 1, tasks - running)
    left, idle, end = tasks - running - ahead, 0, 0.0
    events = [(COMPILING + computing, 0, k) for k in range(running)]  # time, 0 ended or 1 handled, number
    heapq.heapify(events)
    while events:
        now, handled, number = heapq.heappop(events)
        end = now
        if not handled:
            mine = number % drivers
            free[mine] = max(free[mine], now) + handling
            heapq.heappush(events, (free[mine], 1, number))
            idle += 1
        elif left:
            left, ahead = left - 1, ahead + 1
        while idle and ahead:
            idle, ahead, running = idle - 1, ahead - 1, running + 1
            heapq.heappush(events, (now + COMPILING / SHARES + computing, 0, running - 1))
    busy = RUN_STEPS * load.seconds / (end * gpus)
    return Outcome(end, tasks, busy, tasks * handling / (end * drivers), load.runs * driver.bytes / 1e9)


def table() -> str:
    """Format the simulation as a table in Markdown."""
    lines = ["| load | GPUs | drivers | tasks | time | GPUs busy | driver busy | store | held up by |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for load in LOADS:
        for gpus in GPUS:
            for drivers in (1, 8) if simulate(load, gpus, Driver()).limit == "the driver" else (1,):
                o = simulate(load, gpus, Driver(), drivers)
                lines.append(
                    f"| {load.name} | {gpus} | {drivers} | {o.tasks:,} | {_spoken(o.seconds)} | {o.gpu:.0%} "
                    f"| {o.driver:.0%} | {o.gigabytes:,.1f} GB | {o.limit} |"
                )
    return "\n".join(lines)


def _spoken(seconds: float) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"


def most(load: Load, driver: Driver) -> float:
    """Return how many GPUs one driver can serve: a run's time on a GPU over the driver's time for it."""
    return load.steps * load.seconds / (driver.run + driver.task / max(load.least, 1))


# -- measuring ------------------------------------------------------------------------------------


def measure() -> None:
    """Print the rates of this machine."""
    print(f"store: {write_rate():,.0f} runs/s written")
    from nalm.lab.executors import ray as cluster

    with cluster.connected("ray", "cpu", 2) as ray, tempfile.TemporaryDirectory() as folder:
        print(f"scheduling: {1e3 * scheduling(ray, Path(folder) / 'small'):.1f} ms per population")
        steps = 20_000
        # compiled programs are cached on disk: for both or for none
        trained(None, Path(folder) / "warm", 1_000)
        times = {
            "one process, two threads": trained(None, Path(folder) / "one", steps),
            "two workers on Ray": trained(ray, Path(folder) / "ray", steps),
        }
    for name, seconds in times.items():
        print(f"{name}: {seconds:.1f} s")
    first, second = times.values()
    print(f"ratio: {first / second:.2f}")


def write_rate(count: int = 5_000) -> float:
    """Measure the runs of 51 evaluations that a driver receives and writes per second."""
    import pickle  # as Ray hands them over

    import numpy as np

    from nalm.config import Arithmetic, Case, Layer, Range, Recipe
    from nalm.results.packed import Finished
    from nalm.results.runs import Runs
    from nalm.results.store import Store

    case = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=50_000))
    random = np.random.RandomState(0)
    curve, points = lambda: [random.rand(51) for _ in range(count)], np.arange(51) * 1_000
    runs = Runs(
        cases=[case] * count,
        seeds=list(range(count)),
        steps=[points] * count,
        validation=curve(),
        test=curve(),
        sparsity=curve(),
        weights=[{"0.weight": random.rand(1, 2)} for _ in range(count)],
        trajectories=[{"0.weight": random.rand(51, 1, 2).astype(np.float32)} for _ in range(count)],
        formulas=["a*b"] * count,
        thresholds=[1e-7] * count,
        seconds=[0.1] * count,
        modes=["compiled"] * count,
        resets=[0] * count,
    )
    sent = pickle.dumps(Finished.of(runs))
    with tempfile.TemporaryDirectory() as folder, Store(folder, create=True) as store:
        store.begin("measure", "")
        began = time.perf_counter()
        store.save(pickle.loads(sent))
        return count / (time.perf_counter() - began)


def scheduling(ray: object, folder: Path, count: int = 40) -> float:
    """Measure the seconds that a population costs on a cluster beyond its training, with both workers warm."""
    from nalm.config import Arithmetic, Case, Layer, Range, Recipe
    from nalm.engine import Run
    from nalm.lab.executors.base import Settings, attempt
    from nalm.lab.executors.queue import Job
    from nalm.lab.executors.ray import Cluster

    assert isinstance(ray, Cluster)
    case = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=1, batch=1))
    settings = Settings(folder, "cpu", False)
    jobs = [Job((Run(case, seed, seed),)) for seed in range(count)]
    for _ in ray.execute(iter(jobs[:8]), jobs[:8], settings):
        pass
    list(attempt(jobs[0], settings))
    began = time.perf_counter()
    for job in jobs:
        list(attempt(job, settings))
    alone = (time.perf_counter() - began) / count
    began = time.perf_counter()
    for _ in ray.execute(iter(jobs), jobs, settings):
        pass
    return max(0.0, 2 * (time.perf_counter() - began) / count - alone)  # two workers at once


def trained(ray: object, folder: Path, steps: int) -> float:
    """Measure the seconds of a job of about two core-minutes: six units, nine ranges, 25 seeds, compiled."""
    import torch

    from nalm.experiments import EXPERIMENTS
    from nalm.lab.executors.ray import Cluster
    from nalm.lab.run import run

    assert ray is None or isinstance(ray, Cluster)
    quick = EXPERIMENTS["quick"]
    cases = tuple(c.replace(recipe=c.recipe.replace(steps=steps)) for c in quick.cases)
    asked = quick.replace(cases=cases, seeds=tuple(range(25)))
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    began = time.perf_counter()
    run([asked], folder, device="cpu", workers=1, executor=ray)
    torch.set_num_threads(threads)
    return time.perf_counter() - began


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["measure"] else print(table())
