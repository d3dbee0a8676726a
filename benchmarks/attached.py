"""Success of units in plain training loops, with and without ``nalm.attach``, and in ``nalm.fit_units``.

``python -m benchmarks.attached results/beyond/attached`` trains them; the table of docs/training.md shows the totals.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
import torch
from torch import Generator, Tensor, nn

import nalm
from benchmarks import harness
from benchmarks.attached_problems import PROBLEMS, Problem
from benchmarks.harness import Row, option
from nalm.formulas.parse import parse
from nalm.lab.fitting.models import layers, recipes
from nalm.stats import wilson

FAR = 10.0  # the test inputs are this much larger
RIGHT = 0.01  # relative error on the test inputs up to which a network is right
WAYS = ("without", "with", "fit")  # a loop without nalm.attach and with it; nalm.fit_units


@dataclass(frozen=True)
class Options:
    """How many networks are trained, and from which seeds."""

    seeds: int = option(20, "seeds of each problem")
    first: int = option(100, "the first of them; the numbers of steps were chosen with 0 to 19")


@dataclass(frozen=True)
class Job:
    """All seeds of one problem, trained in one of the ways; they train side by side as one population."""

    problem: str
    way: str  # without, with, fit
    seeds: int
    first: int


@dataclass(frozen=True)
class Trial:
    """The result of one job: how many networks are right."""

    problem: str
    way: str
    seeds: int
    right: int  # networks with the right formula that are right, as trained, on inputs ten times as large
    found: int  # networks with the right formula
    error: float  # median over the networks as trained on these inputs: rms over the rms of the target
    steps: int
    seconds: float


def jobs(options: Options) -> list[Job]:
    """Return all trainings."""
    return [Job(p, way, options.seeds, options.first) for p in PROBLEMS for way in WAYS]


def one(job: Job) -> Trial:
    """Train the networks as their user would, and compare them with the truth."""
    problem, began = PROBLEMS[job.problem], time.process_time()
    formulas, error = _fitted(problem, job) if job.way == "fit" else _looped(problem, job)
    truth = parse(problem.formula)
    found = [bool(sympy.expand(formula - truth) == 0) for formula in formulas]
    right = sum(f and e < RIGHT for f, e in zip(found, error, strict=True))
    took = round(time.process_time() - began, 1)
    middle = float(f"{sorted(error)[len(error) // 2]:.2g}")
    return Trial(job.problem, job.way, job.seeds, right, sum(found), middle, problem.steps, took)


def _looped(problem: Problem, job: Job) -> tuple[list[Any], list[float]]:
    """Train in a plain loop; return the formulas of the networks, and their errors far outside."""
    members = []
    for seed in range(job.first, job.first + job.seeds):
        torch.manual_seed(seed)
        members.append(problem.network())
    network, loss = nalm.stack(members), nalm.loss(problem.loss)
    optimiser = torch.optim.Adam(network.parameters(), lr=problem.lr)
    if job.way == "with":
        nalm.attach(network, optimiser, steps=problem.steps)
    data = Generator().manual_seed(job.first)
    for _ in range(problem.steps):
        x, y = problem.draw((job.seeds, 128), 1.0, data)
        optimiser.zero_grad()
        loss(network(x), y, x).sum().backward()
        optimiser.step()
    x, y = problem.draw((job.seeds, 512), FAR, data)
    return [_formula(nalm.member(network, k)) for k in range(job.seeds)], _errors(network.eval(), x, y)


def _fitted(problem: Problem, job: Job) -> tuple[list[Any], list[float]]:
    """Train the same networks as starts of ``nalm.fit_units``; return their formulas and their errors far outside."""

    def draw(rows: int, generator: np.random.Generator) -> tuple[Tensor, Tensor]:
        x, y = problem.draw((1, rows), 1.0, Generator().manual_seed(int(generator.integers(2**62))))
        return x[0], y[0]

    far, truth = (t[0] for t in problem.draw((1, 512), FAR, Generator().manual_seed(job.first)))
    model = layers(problem.network(), far.shape[1], 1)
    (recipe,) = recipes(None, model, far.shape[1], problem.steps)
    starts = ((f"{len(model) - 1}.weight", 1.0, 1.0),) if problem.ones else ()
    recipe = recipe.replace(loss=problem.loss, lr=problem.lr, starts=starts)
    seeds = range(job.first, job.first + job.seeds)
    runs = nalm.fit_units(draw, None, problem.network(), seeds=seeds, recipe=recipe, test=(far, truth)).runs
    size = float(truth.square().mean())
    errors = [(float(curve[-1]) / size) ** 0.5 for curve in runs.test]
    return [_formula(_with(problem.network(), w)) for w in runs.weights], [min(e, 1e9) for e in errors]


def _with(network: nn.Module, weights: Mapping[str, np.ndarray]) -> nn.Module:
    """Return a network whose units have these weights, which are named by layer and weight."""
    for k, layer in enumerate(network if isinstance(network, nn.Sequential) else [network]):
        if isinstance(layer, nalm.Unit):
            own = {n.removeprefix(f"{k}."): w for n, w in weights.items() if n.startswith(f"{k}.")}
            layer.assign_({n: torch.from_numpy(w).float() for n, w in own.items()})
    return network


def _formula(network: nn.Module) -> Any:
    """Return the formula of the last unit of a network."""
    return list(nalm.formulas_in(network).values())[-1][0]


@torch.no_grad()
def _errors(network: nn.Module, x: Tensor, y: Tensor) -> list[float]:
    """Return the rms error of each network over the rms of the target; a large number where it is not finite."""
    error = ((network(x) - y).square().mean((-2, -1)) / y.square().mean((-2, -1))).sqrt()
    found: list[float] = error.nan_to_num(1e9, 1e9).clamp_max(1e9).tolist()
    return found


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Return one row per problem, with the results of each way of training side by side."""
    rows: list[Row] = []
    for name in dict.fromkeys(t.problem for t in trials):
        own = {t.way: t for t in trials if t.problem == name}
        row: Row = {"problem": name, "steps": own["with"].steps, "seeds": own["with"].seeds}
        for way, trial in own.items():
            rate = wilson(trial.right, trial.seeds)
            ends = {f"{way}_low": round(rate.low, 3), f"{way}_high": round(rate.high, 3)}
            row |= {f"{way}_right": trial.right, **ends, f"{way}_formula": trial.found}
        rows.append(row)
    return rows


BENCHMARK = harness.Benchmark(
    name="attached",
    note="Networks in plain training loops (Adam, batches of 128 new rows) with and without nalm.attach, and as starts "
    "of nalm.fit_units (fit); those of one problem train side by side as a population. Right: the "
    "formula is right and the network as trained errs by less than 1 % on inputs ten times as large; formula: the "
    "formula of the rounded weights is right. From 1: the weights of the NMU start at 1, so that it multiplies all "
    "inputs.",
    options=Options,
    trial=Trial,
    jobs=jobs,
    one=one,
    totals=totals,
    expected=lambda job: (job.problem, PROBLEMS[job.problem].steps / 200),
)


if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
