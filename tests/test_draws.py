"""The numbers themselves: the hash, and the distributions made of it (bounds are four standard errors)."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm import draws
from nalm.units.noise import Noise
from nalm.units.start import FromGenerator

N = 100_000
BOUND = 4 / math.sqrt(N)
MASK = 2**32 - 1
int32 = st.integers(-(2**31), 2**31 - 1)
EXTREMES = torch.tensor([-(2**31), -(2**31) + 1, -1, 0, 1, 2, 2**31 - 2, 2**31 - 1], dtype=torch.int32)
both_precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def noise(seed: int = 0) -> Noise:
    made = Noise()
    made.reset(FromGenerator.of(torch.Generator().manual_seed(seed)))
    return made


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    return torch.corrcoef(torch.stack([a.flatten(), b.flatten()]).double())[0, 1].item()


def mix(x: int) -> int:
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & MASK
    return x ^ (x >> 16)


def in_integers(key: list[int], step: int, position: int) -> int:
    """The hash in Python's integers, brought back to a signed 32-bit number."""
    inner = mix((step * 0x85EBCA6B + key[0]) & MASK)
    factor = mix((inner ^ key[1]) & MASK) | 1
    bits = mix(((((position ^ (key[1] & MASK)) * 0x9E3779B1) & MASK ^ inner) * factor + key[1]) & MASK)
    return bits - 2**32 if bits >= 2**31 else bits


@given(
    st.lists(int32, min_size=2, max_size=2),
    int32,
    st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=8),
)
@settings(deadline=None)
def test_the_hash_is_the_one_that_python_integers_compute(key, step, positions):
    tensors = (torch.tensor(v, dtype=torch.int32) for v in (key, step, positions))
    assert draws.bits(*tensors).tolist() == [in_integers(key, step, p) for p in positions]


def test_steps_and_positions_may_be_wider_integers():
    key, step, position = draws.keys([3], "train")[0], torch.tensor(2**20 + 5), torch.arange(8)
    found = draws.bits(key, step, position)
    assert found.dtype == torch.int32
    assert found.tolist() == [in_integers(key.tolist(), 2**20 + 5, p) for p in range(8)]


def test_the_bits_of_a_population_are_those_of_its_runs():
    key = torch.tensor([[1, 2], [3, 4], [1, 2]], dtype=torch.int32)
    step, position = torch.tensor([5, 5, 6], dtype=torch.int32), torch.arange(4, dtype=torch.int32)
    together = draws.bits(key, step, position)
    assert together.shape == (3, 4)
    assert torch.equal(
        together, torch.stack([draws.bits(k, s, position) for k, s in zip(key, step, strict=True)])
    )
    assert together.unique().numel() == 12


def test_no_two_positions_of_a_pass_share_their_bits():
    key, step = torch.tensor([7, 8], dtype=torch.int32), torch.tensor(3, dtype=torch.int32)
    assert draws.bits(key, step, torch.arange(N, dtype=torch.int32)).unique().numel() == N


@both_precisions
def test_uniform_numbers_are_uniform_and_never_at_an_end(dtype):
    u = noise().uniform((N,), dtype)
    assert u.dtype == dtype
    assert ((u > 0) & (u < 1)).all()
    u = u.double()
    assert abs(u.mean() - 0.5) < BOUND * math.sqrt(1 / 12)
    assert abs(u.var() - 1 / 12) < BOUND * math.sqrt(1 / 180)
    steps = (torch.arange(N, dtype=torch.float64) + 0.5) / N
    assert (u.sort().values - steps).abs().max() < 1.95 / math.sqrt(N)  # Kolmogorov-Smirnov at 0.1 %


@both_precisions
def test_even_the_extreme_bits_stay_inside(dtype):
    s = draws.symmetric(EXTREMES, dtype)
    assert ((s > -1) & (s < 1) & (s != 0)).all()
    u = s * 0.5 + 0.5
    assert ((u > 0) & (u < 1)).all()
    assert draws.normal(EXTREMES, dtype).isfinite().all()


@both_precisions
def test_normal_numbers_are_normal(dtype):
    z = noise().normal((N,), dtype)
    assert z.dtype == dtype
    z = z.double()
    assert abs(z.mean()) < BOUND
    assert abs(z.var() - 1) < BOUND * math.sqrt(2)
    standard = (z - z.mean()) / z.std()
    assert abs(standard.pow(3).mean()) < BOUND * math.sqrt(6)
    assert abs(standard.pow(4).mean() - 3) < BOUND * math.sqrt(24)
    assert z.abs().max() > 3.5


@pytest.mark.parametrize("draw", ["uniform", "normal"])
def test_neighbours_are_uncorrelated_in_position_counter_and_key(draw):
    source = noise()
    first, second = (getattr(source, draw)((N,), torch.float64) for _ in range(2))
    other = getattr(noise(1), draw)((N,), torch.float64)
    assert abs(correlation(first[1:], first[:-1])) < BOUND
    assert abs(correlation(first, second)) < BOUND
    assert abs(correlation(first[1:], second[:-1])) < BOUND
    assert abs(correlation(first, other)) < BOUND


def test_one_position_is_uncorrelated_from_pass_to_pass():
    step = torch.arange(N, dtype=torch.int32)
    bits = draws.bits(noise().key.expand(N, 2), step, torch.zeros(1, dtype=torch.int32))
    u = draws.symmetric(bits, torch.float64).squeeze(-1)
    assert abs(correlation(u[1:], u[:-1])) < BOUND
    assert abs(u.mean()) < BOUND * math.sqrt(1 / 3)


def test_neighbouring_keys_make_unrelated_numbers():
    position = torch.arange(N, dtype=torch.int32)
    step = torch.tensor(0, dtype=torch.int32)
    keys = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=torch.int32)
    made = torch.stack([draws.symmetric(draws.bits(k, step, position), torch.float64) for k in keys])
    off_diagonal = torch.corrcoef(made) - torch.eye(4, dtype=torch.float64)
    assert off_diagonal.abs().max() < BOUND


def test_an_empty_batch_draws_nothing_but_counts():
    source = noise()
    assert source.uniform((0, 3), torch.float32).shape == (0, 3)
    assert source.counter.item() == 1


def test_the_counter_starts_again_after_the_last_number():
    source = noise()
    source.counter.fill_(2**31 - 1)
    source.uniform((1,), torch.float32)
    assert source.counter.item() == -(2**31)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_still_has_many_different_numbers(dtype):
    bits = draws.bits(noise().key, noise().counter, torch.arange(1000, dtype=torch.int32))
    s = draws.symmetric(bits, dtype)
    assert s.unique().numel() > 50
    torch.testing.assert_close(s.double(), draws.symmetric(bits, torch.float64), rtol=0.01, atol=0.01)
