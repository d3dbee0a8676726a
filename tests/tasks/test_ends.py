"""The ends of ranges: low <= x < high in float32 and never zero, whatever bits are drawn."""

import pytest
import torch
from torch import Tensor

from nalm import draws
from nalm.config import Range, mirrored, points, split, truncated
from nalm.tasks.sampler import Sampler

PLACES = [
    (1.1, 1.2), (-2, 2), (-1, 3), (-3, 1), (-1e-30, 1e-30), (1e6, 1e6 + 1), (-1.2, -1.1), (0, 1), (-1, 0),
    (0, 1e-6), (-1e-6, 0), (-1e-20, 3e-20), (-0.1, 0.7), (-7, 3), (-1e-4, 1e4), (-1e4, 1e-4), (1e-8, 1e-7),
    (-1e30, 3e30), (1, 1 + 2**-22), (-1 - 2**-22, -1), (16777200, 16777216), (0.3, 1 / 3), (-20, -10), (-3.8, -3.5),
]  # fmt: skip
EXTREMES = (0, -1, 1, 2**31 - 1, 2**31 - 2, -(2**31), 1 - 2**31)
places = pytest.mark.parametrize("low, high", PLACES, ids=str)


def patterns(*ranges: tuple[float, float]) -> Tensor:
    """The extreme bits, those about u = -0.5 and about a zero of each range, and ten thousand others."""
    centres = [-(2**30), 2**30]
    centres += [round((low + high) / (low - high) * 2**31) for low, high in ranges if low < 0 < high]
    near = [c + d for c in centres for d in range(-300, 301) if -(2**31) <= c + d < 2**31]
    spread = draws.mix(torch.arange(10_000, dtype=torch.int32))
    return torch.cat([torch.tensor([*EXTREMES, *near], dtype=torch.int32), spread])


def made(monkeypatch: pytest.MonkeyPatch, kind: Range, bits: Tensor, inputs: int = 1) -> Tensor:
    """What a sampler makes of given bits, (inputs, bits)."""
    with monkeypatch.context() as patch:
        patch.setattr(draws, "hashed", lambda *at: bits.expand(1, inputs, -1))
        sampler = Sampler([kind], inputs)
        zero = torch.zeros((), dtype=torch.int32)
        x = sampler(draws.keys([0], "train"), zero, sampler.grid(bits.numel()))
    assert x.dtype == torch.float32
    return x[0]


def within(x: Tensor, low: float, high: float) -> bool:
    ends = torch.tensor([low, high], dtype=torch.float32)
    return bool(((x >= ends[0]) & (x < ends[1]) & (x != 0)).all())


def test_the_bits_of_a_half_are_among_the_patterns():
    u = draws.symmetric(patterns(), torch.float32)
    assert (u == -0.5).sum() > 32
    assert (u == 0.5).sum() > 32


@places
def test_a_uniform_range_keeps_its_ends_and_has_no_zero(monkeypatch, low, high):
    x = made(monkeypatch, Range(low, high), patterns((low, high)))
    assert within(x, low, high)
    assert x.unique().numel() > 1


@places
def test_a_split_range_keeps_the_ends_of_both_its_parts(monkeypatch, low, high):
    for other in ((1.1, 1.2), (-1, 3)):
        bits = patterns((low, high), other)
        x = made(monkeypatch, split(low, high, *other), bits, 5)
        assert within(x[:2], low, high)
        assert within(x[2:], *other)
        x = made(monkeypatch, split(*other, low, high), bits, 2)
        assert within(x[:1], *other)
        assert within(x[1:], low, high)


@places
def test_a_mirrored_range_keeps_the_ends_of_the_part_that_was_chosen(monkeypatch, low, high):
    for parts in ((low, high, 5, 7), (-7, -5, low, high)):
        bits = patterns((low, high))
        x = made(monkeypatch, mirrored(*parts), bits)[0]
        first = bits & 1 == 1
        assert within(x[first], *parts[:2])
        assert within(x[~first], *parts[2:])


@pytest.mark.parametrize("parts", [(-1, 3, 5, 6), (5, 6, -1, 3)], ids=str)
def test_a_part_of_a_mirrored_range_with_zero_inside_never_draws_it(monkeypatch, parts):
    u = draws.symmetric(patterns(), torch.float32)
    assert (1 + 2 * u == 0).any()  # what it would draw
    assert (made(monkeypatch, mirrored(*parts), patterns()) != 0).all()


@places
@pytest.mark.parametrize("middle", [-0.5, 0, 0.5, 1, 1.5])
@pytest.mark.parametrize("width", [0.2, 1, 30])
def test_a_truncated_range_keeps_its_ends_and_has_no_zero(monkeypatch, low, high, middle, width):
    kind = truncated(low, high, low + middle * (high - low), width * (high - low))
    assert within(made(monkeypatch, kind, patterns((low, high))), low, high)


@pytest.mark.parametrize("low, high", [(6, 7), (-7, -6), (1.1, 1.2), (-1, 3)], ids=str)
def test_a_standard_normal_keeps_the_ends_of_its_tails(monkeypatch, low, high):
    x = made(monkeypatch, truncated(low, high, 0, 1), patterns((low, high)))
    assert within(x, low, high)
    assert x.unique().numel() > 5000


@pytest.mark.parametrize("low, high", [(-1e-30, 1e-30), (9, 10), (-31, -30)], ids=str)
def test_a_truncated_range_far_out_or_very_narrow_has_more_than_one_value(monkeypatch, low, high):
    x = made(monkeypatch, truncated(low, high, 0, 1), patterns((low, high)))
    assert within(x, low, high)
    assert x.unique().numel() > 1


@pytest.mark.parametrize(
    "kind", [Range(0, 0, "normal", mean=1, sd=2), Range(0, 0, "exponential", sd=3)], ids=str
)
def test_kinds_without_an_upper_end_are_finite_and_have_no_zero(monkeypatch, kind):
    x = made(monkeypatch, kind, patterns())
    assert x.isfinite().all()
    assert (x != 0).all()
    assert (x > 0).all() == (kind.kind == "exponential")


@pytest.mark.parametrize("low, high", [(10, 100), (10, 1000), (100, 1000), (10, 10**6)], ids=str)
def test_a_benford_range_of_powers_of_ten_keeps_its_ends(monkeypatch, low, high):
    x = made(monkeypatch, Range(low, high, "benford"), patterns())
    assert within(x, low, high)
    assert torch.equal(x, x.round())


@places
@pytest.mark.parametrize("shift", [0, 2**30 - 1, 2**29, 2**28, -1, -(2**31)])
def test_a_sobol_range_keeps_its_ends_whatever_the_shift(monkeypatch, low, high, shift):
    monkeypatch.setattr(draws, "mix", lambda x: torch.full_like(x, shift))
    sampler = Sampler([Range(low, high, "sobol")], 3)
    zero = torch.zeros((), dtype=torch.int32)
    assert within(sampler(draws.keys([0], "train"), zero, sampler.grid(4096)), low, high)


def test_runs_of_a_population_keep_their_own_ends(monkeypatch):
    ranges = [Range(low, high) for low, high in PLACES]
    bits = patterns(*PLACES)
    monkeypatch.setattr(draws, "hashed", lambda *at: bits.expand(len(ranges), 2, -1))
    sampler = Sampler(ranges, 2)
    zero = torch.zeros((), dtype=torch.int32)
    x = sampler(draws.keys(range(len(ranges)), "train"), zero, sampler.grid(bits.numel()))
    for run, (low, high) in enumerate(PLACES):
        assert within(x[run], low, high)


def test_points_are_always_the_same_numbers(monkeypatch):
    bits = torch.tensor([-(2**31), 0, 2**31 - 1], dtype=torch.int32)
    x = made(monkeypatch, points(-2, -1.8), bits, 5)
    assert x[:2].unique().tolist() == [-2.0] and x[2:].unique().tolist() == [torch.tensor(-1.8).item()]
    assert str(points(-2, -1.8)) == "-2|-1.8"
