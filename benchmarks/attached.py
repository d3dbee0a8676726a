"""Success of units in plain training loops, with and without ``nalm.attach``, and in ``nalm.fit_units``.

``python -m benchmarks.attached results/beyond/attached`` trains them; the table of docs/training.md shows the totals.
"""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
import torch
from torch import Generator, Tensor, nn

import nalm
from benchmarks import harness
from benchmarks.harness import Row, option
from nalm.formulas.parse import parse
from nalm.lab.fitting.models import layers, recipes
from nalm.stats import wilson
from nalm.units.baselines import Linear

FAR = 10.0  # the test inputs are this much larger
RIGHT = 0.01  # relative error on the test inputs up to which a network is right
WAYS = ("without", "with", "fit")  # a loop without nalm.attach and with it; nalm.fit_units
Rows = tuple[int, int]  # networks, and rows for each
Draw = Callable[[Rows, float, Generator], tuple[Tensor, Tensor]]  # rows, factor -> inputs and targets


@dataclass(frozen=True)
class Problem:
    """A problem: the data, the network that learns it, and the training loop."""

    network: Callable[[], nn.Module]
    draw: Draw
    formula: str  # of the last unit, in the inputs of the units before it
    loss: str = "mse"
    lr: float = 1e-2
    steps: int = 2_000


def _area(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw two sides and a column that does not matter; in training the sides are measured with 5 % of noise."""
    x = factor * (1 + 4 * torch.rand(*rows, 3, generator=g))
    noise = 0.05 * torch.randn(x.shape, generator=g) * (factor == 1)
    return x * (1 + noise), x[..., :1] * x[..., 1:2]


def _hidden(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw eight columns; the target is the product of two weighted sums, which a linear layer has to find."""
    x = factor * torch.rand(*rows, 8, generator=g)
    w = torch.tensor([[1.0, 2, 0, 0, 0.5, 0, 1, 0], [0, 0, 1.5, 1, 0, 2, 0, 0.5]])
    return x, (x @ w.mT).prod(-1, keepdim=True)


def _ratio(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw five columns; the target is the first by the third."""
    x = factor * (1 + 2 * torch.rand(*rows, 5, generator=g))
    return x, x[..., :1] / x[..., 2:3]


def _sums(rows: Rows, factor: float, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw ten columns; the target is the product of two sums of four columns."""
    x = factor * (1 + torch.rand(*rows, 10, generator=g))
    return x, x[..., :4].sum(-1, keepdim=True) * x[..., 4:8].sum(-1, keepdim=True)


def _behind() -> nn.Module:
    """Return nn.Linear, ReLU and an NMU; the linear layer is one that accepts a leading axis, started as nn.Linear."""
    torchs, ours = nn.Linear(8, 2), Linear(8, 2)
    ours.load_state_dict({"weight": torchs.weight, "offset": torchs.bias})
    return nn.Sequential(ours, nn.ReLU(), nalm.NMU(2, 1))


def _two_layers() -> nn.Module:
    return nn.Sequential(nalm.NAU(10, 2), nalm.NMU(2, 1))


SUMS = "(a + b + c + d)*(e + f + g + h)"
PROBLEMS: dict[str, Problem] = {
    "area of noisy sides: NMU": Problem(lambda: nalm.NMU(3, 1), _area, "a*b"),
    "hidden product: Linear-ReLU-NMU": Problem(_behind, _hidden, "a*b", steps=5_000),
    "ratio of two of five: NMRU": Problem(lambda: nalm.NMRU(5, 1), _ratio, "a/c", steps=5_000),
    "ratio of two of five: NRU": Problem(lambda: nalm.NRU(5, 1), _ratio, "a/c"),
    "ratio of two of five: RealNPU": Problem(lambda: nalm.RealNPU(5, 1), _ratio, "a/c"),
    "product of two sums: NAU-NMU, mse": Problem(_two_layers, _sums, SUMS),
    "product of two sums: NAU-NMU, projected": Problem(_two_layers, _sums, SUMS, loss="projected"),
}


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
    recipe, seeds = recipe.replace(loss=problem.loss, lr=problem.lr), range(job.first, job.first + job.seeds)
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
    """Put the ways of training side by side."""
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
    "formula of the rounded weights is right.",
    options=Options,
    trial=Trial,
    jobs=jobs,
    one=one,
    totals=totals,
    expected=lambda job: (job.problem, PROBLEMS[job.problem].steps / 200),
)


if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
