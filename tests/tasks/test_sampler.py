"""Samples follow the laws they are named after, and a run's depend on nothing but its own seed."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from nalm import draws
from nalm.config import Range, mirrored, parted, split, truncated
from nalm.errors import NALMError
from nalm.tasks.sampler import BENFORD, Sampler, fixed_rows, published

ROWS = 50_000
LEAST = 1e-4  # of a p-value; everything here is seeded
BOUND = 4  # standard errors
KINDS = [
    Range(1.1, 1.2), mirrored(-2, -1, 1, 3), split(0, 1, 5, 7), truncated(-1, 2, 0.5, 1),
    Range(10, 100, "benford"), Range(0, 0, "normal", mean=1, sd=2), Range(0, 0, "exponential", sd=3),
    Range(-1, 3, "sobol"),
]  # fmt: skip
kinds = pytest.mark.parametrize("kind", KINDS, ids=str)


def step(number: int) -> Tensor:
    return torch.tensor(number, dtype=torch.int32)


def drawn(kind: Range, rows: int = ROWS, inputs: int = 2, seed: int = 7, at: int = 3) -> Tensor:
    """One run's sample, (inputs, rows)."""
    sampler = Sampler([kind], inputs)
    return sampler(draws.keys([seed], "train"), step(at), sampler.grid(rows))[0]


def follows(x: Tensor, law) -> bool:
    """By Kolmogorov and Smirnov, and by mean and variance where the law has a fourth moment."""
    x = x.double().flatten().numpy()
    mean, variance, kurtosis = (float(m) for m in law.stats("mvk"))
    errors = math.sqrt(variance / x.size), variance * math.sqrt((kurtosis + 2) / x.size)
    close = abs(x.mean() - mean) < BOUND * errors[0] and abs(x.var() - variance) < BOUND * errors[1]
    return close and stats.kstest(x, law.cdf).pvalue > LEAST


@pytest.mark.parametrize(
    "kind, law",
    [
        (Range(1.1, 1.2), stats.uniform(1.1, 0.1)),
        (Range(-2, 2), stats.uniform(-2, 4)),
        (Range(-1, 3), stats.uniform(-1, 4)),
        (Range(-1e-30, 1e-30), stats.uniform(-1e-30, 2e-30)),
        (Range(-1.2, -1.1), stats.uniform(-1.2, 0.1)),
        (truncated(-1, 2, 0.5, 1), stats.truncnorm(-1.5, 1.5, 0.5, 1)),
        (truncated(4, 5, 0, 1), stats.truncnorm(4, 5)),
        (truncated(-7, -6, 0, 1), stats.truncnorm(-7, -6)),
        (truncated(1, 2, 3, 0.5), stats.truncnorm(-4, -2, 3, 0.5)),
        (Range(0, 0, "normal", mean=1, sd=2), stats.norm(1, 2)),
        (Range(0, 0, "exponential", sd=3), stats.expon(0, 3)),
        (Range(2, 2, "exponential", sd=0.5), stats.expon(2, 0.5)),
        (Range(-1, 3, "sobol"), stats.uniform(-1, 4)),
    ],
    ids=lambda v: str(v) if isinstance(v, Range) else "",
)
def test_a_sample_follows_its_law(kind, law):
    x = drawn(kind)
    assert follows(x, law)
    assert abs(torch.corrcoef(x.double())[0, 1]) < BOUND / math.sqrt(ROWS)
    assert not follows(x * 1.05, law)  # the comparison is able to fail


@pytest.mark.parametrize("low, high", [(8, 9), (-9, -8), (9, 10), (-31, -30)], ids=str)
def test_a_far_tail_follows_the_truncated_normal(low, high):
    assert follows(drawn(truncated(low, high, 0, 1)), stats.truncnorm(low, high))


def test_a_mirrored_range_takes_both_halves_equally_often():
    x = drawn(mirrored(-2, -1, 1, 3))
    above = x > 0
    assert stats.binomtest(int(above.sum()), x.numel(), 0.5).pvalue > LEAST
    assert follows(x[~above], stats.uniform(-2, 1))
    assert follows(x[above], stats.uniform(1, 2))
    both = (above[0] & above[1]).sum()
    assert stats.binomtest(int(both), ROWS, 0.25).pvalue > LEAST


@pytest.mark.parametrize("inputs", [2, 5])
def test_a_split_range_draws_its_columns_from_two_ranges(inputs):
    x = drawn(split(0, 1, 5, 7), inputs=inputs)
    assert follows(x[: inputs // 2], stats.uniform(0, 1))
    assert follows(x[inputs // 2 :], stats.uniform(5, 2))


def test_first_digits_follow_the_published_law_and_second_digits_are_never_zero():
    x = drawn(Range(10, 100, "benford")).long().flatten()
    assert x.min() >= 11 and x.max() <= 99
    first, second = x // 10, x % 10
    counts = torch.bincount(first, minlength=10)[1:].numpy()
    assert stats.chisquare(counts, np.array(BENFORD) * x.numel()).pvalue > LEAST
    assert (second != 0).all()
    cells = torch.bincount((first - 1) * 9 + second - 1, minlength=81).double().numpy()
    expected = np.outer(BENFORD, np.full(9, 1 / 9)).flatten() * x.numel()  # the digits are independent
    assert stats.chisquare(cells, expected).pvalue > LEAST


@pytest.mark.parametrize("low, high", [(10, 1000), (100, 1000), (10, 10**5)])
def test_a_wider_benford_range_keeps_its_ends_and_its_first_digits(low, high):
    x = drawn(Range(low, high, "benford")).long().flatten()
    assert low < x.min() and x.max() < high
    first = torch.tensor([int(str(v)[0]) for v in x.tolist()])
    counts = torch.bincount(first, minlength=10)[1:].numpy()
    assert stats.chisquare(counts, np.array(BENFORD) * x.numel()).pvalue > LEAST
    assert len({len(str(v)) for v in x.tolist()}) == math.log10(high / low)


@pytest.mark.parametrize("k", [0, 3, 7, 10])
@pytest.mark.parametrize("at", [0, 1, 5])
def test_each_block_of_sobol_points_has_one_in_each_interval(k, at):
    rows, inputs = 2**10, 6
    x = drawn(Range(0, 1, "sobol"), rows, inputs, at=at).double()
    cells = (x * 2**k).long().reshape(inputs, -1, 2**k).sort().values
    assert torch.equal(cells, torch.arange(2**k).expand_as(cells))


def test_sobol_points_are_those_of_the_engine_but_for_a_shift():
    engine = torch.quasirandom.SobolEngine(3)
    points = (engine.draw(512, dtype=torch.float64) * 2**30).long().T
    ours = torch.cat([drawn(Range(0, 2**20, "sobol"), 128, 3, at=at) for at in range(4)], 1).long()
    shift = ours ^ (points >> 10)  # float32 holds the first 20 of 30 digits
    assert torch.equal(shift, shift[:, :1].expand_as(shift))
    assert shift[:, 0].unique().numel() == 3


def test_sobol_points_are_more_even_than_random_ones():
    even, random = (
        drawn(Range(0, 1, kind), 1024, 2, at=0).T.double().numpy() for kind in ("sobol", "uniform")
    )
    assert stats.qmc.discrepancy(even) < 0.1 * stats.qmc.discrepancy(random)


def test_sobol_points_of_other_seeds_are_shifted_otherwise():
    made = torch.stack([drawn(Range(0, 1, "sobol"), 64, 2, seed) for seed in range(20)])
    assert made[:, :, 0].unique().numel() == 40
    ends = torch.stack([x.sort().values for x in made])
    assert (ends[:, :, 0] < 1 / 64).all() and (ends[:, :, -1] >= 63 / 64).all()


@kinds
def test_a_run_draws_the_same_alone_and_among_others(kind):
    seeds = [3, 1, 4, 15, 92, 65, 35]
    others = [kind.replace(low=kind.low, mean=kind.mean + i) for i in range(len(seeds))]
    sampler = Sampler(others, 4)
    together = sampler(draws.keys(seeds, "train"), step(9), sampler.grid(130))
    assert together.shape == (7, 4, 130)
    for run, seed in enumerate(seeds):
        assert torch.equal(together[run], drawn(others[run], 130, 4, seed, 9))
    assert len({x.numpy().tobytes() for x in together}) == 7


@kinds
def test_batches_differ_between_steps_seeds_and_streams(kind):
    sampler = Sampler([kind], 2)
    batches = {
        sampler(draws.keys([seed], stream), step(at), sampler.grid(128)).numpy().tobytes()
        for seed in range(3)
        for stream in ("train", "validation", "test")
        for at in range(20)
    }
    assert len(batches) == 180


@kinds
def test_a_batch_is_repeated_exactly_and_depends_on_its_positions_alone(kind):
    assert torch.equal(drawn(kind, 128), drawn(kind, 128))
    if kind.kind != "sobol":  # whose steps go on where the last batch ended
        assert torch.equal(drawn(kind, 128)[:, :64], drawn(kind, 64))


def test_a_uniform_range_draws_the_same_beside_mirrored_and_other_uniform_ones():
    ranges = [Range(-1, 3), mirrored(-2, -1, -1, 3), Range(-2, 2), mirrored(5, 6, 7, 8)]
    sampler = Sampler(ranges, 2)
    together = sampler(draws.keys(range(4), "train"), step(1), sampler.grid(1000))
    for run, kind in enumerate(ranges):
        assert torch.equal(together[run], drawn(kind, 1000, 2, run, 1))


def test_one_sampler_refuses_two_kinds():
    with pytest.raises(NALMError, match="one kind of range, got box, sobol"):
        Sampler([Range(0, 1), Range(0, 1, "sobol")], 2)


@kinds
def test_batches_of_a_fixed_sample_have_its_rows_and_all_of_them_in_time(kind):
    sampler, key = Sampler([kind, kind], 3), draws.keys([5, 6], "train")
    sample = sampler(key, step(0), sampler.grid(50))
    taken = [fixed_rows(draws.keys([5, 6], "rows"), step(at), 32, 50, 3) for at in range(40)]
    assert len({rows.numpy().tobytes() for rows in taken}) == 40
    for run in range(2):
        rows = {tuple(row) for row in sample[run].T.tolist()}
        seen = {tuple(r) for at in taken for r in sampler(key, step(0), at)[run].T.tolist()}
        assert seen == rows


def test_rows_of_a_fixed_sample_are_taken_equally_often():
    rows = torch.cat(
        [fixed_rows(draws.keys([5], "rows"), step(at), 1000, 100, 2)[0, 0] // 2 for at in range(100)]
    )
    assert stats.chisquare(torch.bincount(rows, minlength=100).numpy()).pvalue > LEAST


def test_the_published_sets_are_those_of_numpy():
    seed, size = 43953907, (100, 4)

    def numpy() -> np.random.RandomState:
        return np.random.RandomState(seed)

    def same(kind: Range, x: np.ndarray) -> bool:
        return torch.equal(published(kind, *size, seed), torch.tensor(x))

    assert same(Range(2, 6), numpy().uniform(2, 6, size))
    rng = numpy()
    one, other = rng.uniform(-6, -2, size), rng.uniform(2, 6, size)
    assert same(mirrored(-6, -2, 2, 6), np.where(rng.randint(2, size=size) == 1, one, other))
    rng = numpy()
    halves = [rng.uniform(1, 2, (100, 2)), rng.uniform(3, 4, (100, 2))]
    assert same(split(1, 2, 3, 4), np.concatenate(halves, 1))
    law = stats.truncnorm(-1, 2, 0.5, 1)
    assert same(truncated(-0.5, 2.5, 0.5, 1), law.rvs(random_state=numpy(), size=size))


@pytest.mark.parametrize("kind", ["benford", "normal", "exponential", "sobol"])
def test_kinds_that_were_never_published_are_refused(kind):
    with pytest.raises(NALMError, match="published code has no generator"):
        published(Range(10, 100, kind), 3, 2, 0)


def units_apart(x: Tensor, y: Tensor) -> float:
    """The largest distance in units in the last place."""
    unit = torch.nextafter(y.abs(), torch.full_like(y, math.inf)) - y.abs()
    return ((x - y).abs() / unit).max().item()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.system
def test_compiled_draws_are_those_of_eager_ones():
    samplers = {
        kind.kind: Sampler([kind] * 3, 2) for kind in KINDS if kind.kind != "sobol"
    }  # slow to compile

    def everything(key: Tensor, at: Tensor, position: Tensor) -> dict[str, Tensor]:
        bits = draws.bits(key, at, position)
        values = {kind: sampler(key, at, position) for kind, sampler in samplers.items()}
        single = {
            "symmetric": draws.symmetric(bits, torch.float32),
            "noise": draws.normal(bits, torch.float32),
        }
        return {"bits": bits, **single, **values}

    at = draws.keys([3, 4, 5], "train"), step(3), samplers["uniform"].grid(1000)
    compiled, eager = torch.compile(everything, backend="inductor", fullgraph=True)(*at), everything(*at)
    for name in ("bits", "symmetric", "uniform", "mirrored", "split", "benford"):
        assert torch.equal(compiled[name], eager[name]), name
    for name in ("truncated", "normal", "exponential"):
        assert units_apart(compiled[name], eager[name]) <= 2, name
    assert units_apart(compiled["noise"], eager["noise"]) <= 2  # erfinv in single precision, of two libraries


def test_a_parted_range_changes_after_the_first_operand():
    kind = parted(-2, -1, 1, 2)
    sampler = Sampler([kind, kind], 5, parts=[1, 4])
    x = sampler(draws.keys([0, 1], "train"), torch.zeros((), dtype=torch.int32), sampler.grid(20))
    signs = x.sign().mean(-1).tolist()
    assert signs == [[-1, 1, 1, 1, 1], [-1, -1, -1, -1, 1]] and str(kind) == "U[-2,-1)&[1,2)"


def test_a_range_that_begins_at_zero_never_gives_zero():
    sampler = Sampler([Range(0, 1e-4)], 1)
    lowest = torch.full((1, 1, 1), -(2**31), dtype=torch.int32)
    assert 0 < sampler._ends.spread(lowest).item() < 1e-10
