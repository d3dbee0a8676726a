"""Networks that compute: graphs and digits far beyond the training, by units and by plain networks beside them.

``python -m benchmarks.computing results/beyond/computing`` trains them; the table of docs/training.md shows the totals.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor, nn

import nalm
from benchmarks import harness
from benchmarks.harness import Row, option
from benchmarks.plain import PlainReader, PlainRoutes
from nalm.config import Ramp, Recipe
from nalm.networks import NumberReader, Routes
from nalm.stats import wilson
from nalm.tasks.lists import of_list

EXACT = 0.99  # share of right answers from which on a seed counts
TESTS = 500
NODES, FAR_NODES, LARGER = 4, 20, 100
DIGITS, FAR_DIGITS = 4, (8, 8)
FAR_FACTORS = (8, 7)  # digits of factors whose product a float64 holds exactly
PLUS = 10  # the number of the symbol +, after the ten digits; - and x follow
STARTS = 4  # that a seed trains; it keeps the one with the smallest error on rows like those of the training
NETWORKS = ("units", "untrained", "plain")  # untrained: units whose initial weights are rounded
Rows = tuple[int, int]  # networks, and rows for each


@dataclass(frozen=True)
class Problem:
    """A problem: batches at a share of the training, rows for the test, and the two networks that learn it."""

    units: Callable[[int], nn.Module]  # of a seed
    plain: Callable[[int], nn.Module]
    batch: Callable[
        [Rows, float, Generator], tuple[Tensor, Tensor, float]
    ]  # and the size of an error that counts
    test: Callable[[Rows, Generator], tuple[Tensor, Tensor]]
    steps: int
    lr: float
    gate: float  # weight of the units' penalty on gates; that on weights is 10
    ramp: tuple[float, float]  # shares of the training between which both grow


def seeded(seed: int) -> Generator:
    """Return the generator of a seed."""
    return Generator().manual_seed(seed)


def graphs(rows: Rows, nodes: int, lengths: tuple[int, int], g: Generator) -> tuple[Tensor, Tensor]:
    """Draw complete graphs with whole lengths, and the shortest way from the first node to the last."""
    x = torch.randint(*lengths, (*rows, nodes * nodes), generator=g).double()
    return x, of_list("shortest_path", x).unsqueeze(-1)


def calculations(rows: Rows, digits: tuple[int, int], operators: int, g: Generator) -> tuple[Tensor, Tensor]:
    """Draw two numbers of so many digits with one of the first operators between them, as symbols, and the result."""
    parts = [torch.randint(0, 10, (*rows, n), generator=g).double() for n in digits]
    first, second = (
        (part * 10.0 ** torch.arange(part.shape[-1] - 1, -1, -1).double()).sum(-1) for part in parts
    )
    operator = torch.randint(PLUS, PLUS + operators, (*rows, 1), generator=g)
    results = torch.stack([first + second, first - second, first * second], -1)
    return torch.cat([parts[0], operator.double(), parts[1]], -1), results.gather(-1, operator - PLUS)


def some_graphs(rows: Rows, share: float, g: Generator) -> tuple[Tensor, Tensor, float]:
    """Draw a batch of small graphs with short edges."""
    return (*graphs(rows, NODES, (1, 10), g), 1.0)


def some_calculations(rows: Rows, share: float, operators: int, g: Generator) -> tuple[Tensor, Tensor, float]:
    """Draw a batch of numbers of up to four digits; training begins with short ones."""
    most = min(DIGITS, 1 + int((DIGITS + 1) * share))
    first, second = torch.randint(1, most + 1, (2,), generator=g).tolist()
    return (*calculations(rows, (first, second), operators, g), 10.0 ** (max(first, second) - 1))


def in_digits(operators: int, far: tuple[int, int]) -> Problem:
    """Return the problem of reading numbers in digits and calculating with the first operators."""
    return Problem(
        units=lambda seed: NumberReader(PLUS + operators, 1, generator=seeded(seed)),
        plain=lambda seed: PlainReader(PLUS + operators, seeded(seed)),
        batch=lambda rows, share, g: some_calculations(rows, share, operators, g),
        test=lambda rows, g: calculations(rows, far, operators, g),
        steps=1_400,
        lr=0.07,
        gate=3,
        ramp=(0.3, 0.5),
    )


PROBLEMS = {
    "shortest paths": Problem(
        units=lambda seed: Routes(NODES**2, 1, generator=seeded(seed)),
        plain=lambda seed: PlainRoutes(seeded(seed)),
        batch=some_graphs,
        test=lambda rows, g: graphs(rows, FAR_NODES, (LARGER, 10 * LARGER), g),
        steps=800,
        lr=0.05,
        gate=1,
        ramp=(0.4, 0.7),  # as published
    ),
    "sums in digits": in_digits(2, FAR_DIGITS),
    "sums and products in digits": in_digits(3, FAR_FACTORS),
}


@dataclass(frozen=True)
class Options:
    """How many networks are trained, and from which seeds."""

    seeds: int = option(10, "seeds of each network")
    first: int = option(100, "the first of them; the settings were chosen with 0 to 9")


@dataclass(frozen=True)
class Job:
    """All seeds of one problem and one kind of network; they train side by side as one population."""

    problem: str
    network: str  # one of NETWORKS
    seeds: int
    first: int


@dataclass(frozen=True)
class Trial:
    """The result of one job: how many networks are exact far beyond the training."""

    problem: str
    network: str
    seeds: int
    exact: int  # seeds with at least 99 % right answers
    alone: float  # share of single starts with as many
    right: float  # share of right answers, median over the seeds
    parameters: int
    steps: int
    seconds: float


def jobs(options: Options) -> list[Job]:
    """Return all trainings."""
    return [Job(p, network, options.seeds, options.first) for p in PROBLEMS for network in NETWORKS]


def one(job: Job) -> Trial:
    """Train the networks of a job, round the units, and count right answers on the test."""
    problem, began = PROBLEMS[job.problem], time.process_time()
    make = problem.plain if job.network == "plain" else problem.units
    first, count = job.first * STARTS, job.seeds * STARTS
    network = nalm.stack([make(start) for start in range(first, first + count)])
    if job.network != "untrained":
        train(network, problem, count, seeded(first))
    members = [nalm.member(network, k).double().eval() for k in range(count)]
    for member in members:
        if isinstance(member, nalm.Unit):
            member.snap_()
    seen_x, seen_y, _ = problem.batch((1, TESTS), 1.0, seeded(first + 2))
    x, y = problem.test((1, TESTS), seeded(first + 1))
    with torch.no_grad():
        errors = [float((m(seen_x[0]) - seen_y[0]).abs().mean().nan_to_num(1e30)) for m in members]
        every = [float((m(x[0]).round() == y[0]).double().mean()) for m in members]
    best = [min(range(k, k + STARTS), key=errors.__getitem__) for k in range(0, count, STARTS)]
    shares = [every[k] for k in best]
    return Trial(
        job.problem,
        job.network,
        job.seeds,
        exact=sum(share >= EXACT for share in shares),
        alone=round(sum(share >= EXACT for share in every) / count, 3),
        right=round(sorted(shares)[len(shares) // 2], 3),
        parameters=sum(p.numel() for p in network.parameters()) // count,
        steps=0 if job.network == "untrained" else problem.steps,
        seconds=round(time.process_time() - began, 1),
    )


def train(network: nn.Module, problem: Problem, count: int, g: Generator) -> None:
    """Train a population with Adam on the difference of inverse hyperbolic sines, which large results do not rule."""
    optimiser = torch.optim.Adam(network.parameters(), lr=problem.lr, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, 2 - 2 * step / problem.steps)
    )
    if nalm.penalties(network):
        ends = [share * problem.steps for share in problem.ramp]
        ramps = (("weight", Ramp(10, *ends)), ("gate", Ramp(problem.gate, *ends)))
        nalm.attach(network, optimiser, recipe=Recipe(steps=problem.steps, penalties=ramps))
    for step in range(problem.steps):
        x, y, size = problem.batch((count, 64), step / problem.steps, g)
        optimiser.zero_grad()
        off = (network(x.float()) / size).asinh() - (y.float() / size).asinh()
        off.square().mean((-2, -1)).sum().backward()
        for p in network.parameters():  # of each tensor of each network, to at most 1
            assert p.grad is not None
            norm = p.grad.flatten(1).norm(dim=1).clamp_min(1.0)
            p.grad.div_(norm.reshape(-1, *[1] * (p.ndim - 1)))
        optimiser.step()
        schedule.step()


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Return a row for each problem and network, with the interval of the share of exact networks."""
    rows: list[Row] = []
    for t in trials:
        rate = wilson(t.exact, t.seeds)
        ends = {"low": round(rate.low, 3), "high": round(rate.high, 3)}
        row: Row = {"problem": t.problem, "network": t.network, "parameters": t.parameters, "seeds": t.seeds}
        rows.append({**row, "exact": t.exact, **ends, "alone": t.alone, "right": t.right, "steps": t.steps})
    return rows


BENCHMARK = harness.Benchmark(
    name="computing",
    note="Shortest paths: trained on graphs of 4 nodes with lengths 1 to 9, tested on 20 nodes and lengths 100 to 999. "
    "Sums in digits: trained on sums and differences of numbers of at most 4 digits, tested on 8 digits; with products "
    "tested on 8 and 7 digits, whose product a float64 holds. A seed trains "
    "four starts and keeps the one with the smallest error on rows like those of the training. "
    "Exact: at least 99 % of 500 answers are right, the units rounded to their grid; alone: the share of single starts "
    "that are exact; right: the median share of right answers. Untrained: units whose initial weights are rounded.",
    options=Options,
    trial=Trial,
    jobs=jobs,
    one=one,
    totals=totals,
    expected=lambda job: (job.problem, PROBLEMS[job.problem].steps / 100),
)


if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
