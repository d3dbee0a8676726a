"""One battery of statistical tests: the real hash passes all of it, weak hashes do not.

Every statistic is a sum over chunks, so that a thousand million draws need no more memory than one chunk.
Pairs and triples overlap, which widens a chi-square by a few per cent: nothing beside the threshold.
"""

import functools
from collections.abc import Callable, Iterator

import pytest
import torch
from scipy import special
from torch import Tensor

from nalm import draws

Hash = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
Key = Callable[[int, str], tuple[int, int]]

THRESHOLD = 1e-6  # of one test; the battery has 220, so a good hash fails it once in 4500
ROWS = 512  # positions of a batch
CHUNK = 2**20
POSITIONS, NEIGHBOURS = (1, 2, 3, 64, 128), (1, 2, 3)
STREAMS = draws.STREAMS
SIZE = 256  # values of the batches that must not overlap
A_FEW = 4  # of them may be shared: chance brings two now and then, and five never


def integers(*values: int) -> Tensor:
    return torch.arange(*values, dtype=torch.int32)


def divisor(bits: Tensor) -> Tensor:
    """U[-2, 2) as the samples make it."""
    return 2 * draws.symmetric(bits, torch.float32)


def keyed(key: Key, pairs: list[tuple[int, str]], *shape: int) -> tuple[Tensor, Tensor]:
    made = torch.tensor([key(*pair) for pair in pairs], dtype=torch.int32).reshape(*shape, 1, 2)
    return made[..., 0], made[..., 1]


def layouts(hash_function: Hash, key: Key, n: int) -> Iterator[tuple[str, Tensor, dict[int, tuple]]]:
    """Bits in chunks: the name, the bits, and which lags matter along which dimension."""
    for chunk in range(-(-n // CHUNK)):
        size, done = min(CHUNK, n - chunk * CHUNK), chunk * CHUNK // ROWS  # steps, seeds: none twice
        many, few = -(-size // ROWS), -(-size // ROWS // len(STREAMS))
        one, start = keyed(key, [(chunk, "train")], 1), torch.zeros(1, 1, dtype=torch.int32)
        yield "positions", hash_function(*one, start + chunk, integers(size)), {1: POSITIONS}
        one, steps = keyed(key, [(5, "train")], 1), integers(done, done + many)[:, None]
        yield "steps", hash_function(*one, steps, integers(ROWS)), {1: POSITIONS, 0: NEIGHBOURS}
        seeds = keyed(key, [(seed, "train") for seed in range(done, done + many)], many)
        yield "seeds", hash_function(*seeds, start + 7, integers(ROWS)), {0: NEIGHBOURS}
        pairs = [(seed, stream) for seed in range(done, done + few) for stream in STREAMS]
        streams = keyed(key, pairs, few, len(STREAMS))
        yield "streams", hash_function(*streams, start + 11, integers(ROWS)), {1: NEIGHBOURS}


def statistics(name: str, bits: Tensor, lags: dict[int, tuple]) -> Iterator[tuple[str, Tensor]]:
    """Counts of cells, and sums of products, of one chunk."""

    def cells(size: int, *words: Tensor) -> Tensor:
        index = words[0]
        for word in words[1:]:
            index = index * size + word
        return torch.bincount(index.flatten(), minlength=size ** len(words))

    top, low, fine = (bits >> 24) & 255, bits & 255, (bits >> 27) & 31
    u = draws.symmetric(bits, torch.float64)
    for byte in range(4):
        yield f"{name}: byte {byte}", cells(256, (bits >> (8 * byte)) & 255)
    for dim, many in lags.items():
        for lag in many:
            length, where = bits.shape[dim], f"{name}: lag {lag} along {dim}"
            if length <= 2 * lag:
                continue

            def at(x: Tensor, shift: int, count: int, dim=dim, lag=lag, length=length) -> Tensor:
                return x.narrow(dim, shift * lag, length - (count - 1) * lag)

            yield f"{where}, pairs of high bits", cells(256, at(top, 0, 2), at(top, 1, 2))
            yield f"{where}, pairs of low bits", cells(256, at(low, 0, 2), at(low, 1, 2))
            yield f"{where}, triples", cells(32, *(at(fine, i, 3) for i in range(3)))
            products = at(u, 0, 2) * at(u, 1, 2)
            yield f"{where}, correlation", torch.stack([products.sum(), torch.tensor(products.numel())])


def chi_square(counts: Tensor) -> float:
    """The p-value, small where the counts are too uneven and where they are too even."""
    expected = counts.sum().item() / counts.numel()
    statistic = ((counts.double() - expected) ** 2).sum().item() / expected
    freedom = counts.numel() - 1
    return 2 * min(special.chdtrc(freedom, statistic), special.chdtr(freedom, statistic))


def p_values(name: str, total: Tensor) -> Iterator[tuple[str, float]]:
    if name.endswith("correlation"):
        products, count = total.tolist()
        yield name, 2 * special.ndtr(-abs(products) * 3 / count**0.5)  # the variance of u v is 1/9
        return
    yield name, chi_square(total)
    if "byte" in name:
        for bit in range(8):
            ones = total[(integers(256) >> bit) & 1 == 1].sum().item()
            z = (2 * ones - total.sum().item()) / total.sum().item() ** 0.5
            yield f"{name}, balance of bit {bit}", 2 * special.ndtr(-abs(z))


def shared(hash_function: Hash, pairs: list[tuple[int, str]], steps: int, key: Key) -> tuple[Tensor, float]:
    """How many values two batches share, for those that share any, wherever in them; and the mean by chance."""
    first, second = keyed(key, pairs, len(pairs), 1)
    bits = hash_function(first, second, integers(steps)[:, None], integers(SIZE))
    batches = len(pairs) * steps
    values, place = bits.flatten().sort()
    found = []
    for reach in range(1, 16):  # equal values lie next to one another
        same = values[reach:] == values[:-reach]
        ends = torch.stack([place[reach:][same], place[:-reach][same]]).div(SIZE, rounding_mode="floor")
        found.append(ends.amin(0) * batches + ends.amax(0))
    return torch.cat(found).unique(return_counts=True)[1], SIZE**2 / 2**32 * batches * (batches - 1) / 2


def at_least(count: int, mean: float) -> float:
    """The probability of a count, or a larger one, by Poisson's law."""
    return special.gammainc(count, mean)


def overlaps(hash_function: Hash, key: Key, batches: int) -> Iterator[tuple[str, float]]:
    """Equal batches, and shifted ones: among seeds, streams and steps, and among the steps of one seed."""
    three = STREAMS[2:5]
    groups = [(seed, stream) for seed in range(batches // 64 // len(three)) for stream in three]
    for name, pairs, steps in (("overlaps", groups, 64), ("overlaps of steps", [(3, "train")], batches)):
        counts, mean = shared(hash_function, pairs, steps, key)
        most, all_of_them = max(counts.tolist(), default=0), counts.sum().item()
        yield f"{name}: {all_of_them} values, not {mean:.0f}", at_least(all_of_them, mean)
        yield f"{name}: {most} values of two batches", float(most <= A_FEW)


@functools.cache
def zeros_of_the_lattice(made: Callable[[Tensor], Tensor]) -> int:
    lattice = integers(-(2**23), 2**23) << 8  # whatever 24 bits can say
    return sum((made(part) == 0).sum().item() for part in lattice.split(2**16))


def failures(
    hash_function: Hash, n: int, key: Key = draws.key, made: Callable[[Tensor], Tensor] = divisor
) -> list[str]:
    """The tests that a hash fails, of ``n`` draws in each of four layouts, and what it did there."""
    totals: dict[str, Tensor] = {}
    zeros = zeros_of_the_lattice(made)
    for name, bits, lags in layouts(hash_function, key, n):
        zeros += (made(bits) == 0).sum().item()
        for test, counts in statistics(name, bits, lags):
            totals[test] = totals[test] + counts if test in totals else counts
    found = [pair for name, total in totals.items() for pair in p_values(name, total)]
    found += overlaps(hash_function, key, min(2**16, n // 64))
    failed = [f"{name} (p = {p:.1g})" for name, p in found if p < THRESHOLD]
    return failed + ([f"no divisor is zero ({zeros} are)"] if zeros else [])


def added(first: Tensor, second: Tensor, step: Tensor, position: Tensor) -> Tensor:
    """The obvious hash: whatever tells two draws apart is added."""
    return draws.mix(position + draws.mix(first + second + step * -2048144789))


def numbered(seed: int, stream: str) -> tuple[int, int]:
    """The obvious key: the stream's number is added to the seed."""
    return seed + STREAMS.index(stream), 0


def of_24_bits(bits: Tensor) -> Tensor:
    """The obvious U[-2, 2): as many bits as a float32 holds, and among them a zero."""
    return (bits >> 8).float() * 2.0**-22


def block(lag: int) -> Hash:
    """Each stretch of positions is followed by its copy."""
    return lambda f, s, t, p: draws.hashed(f, s, t, p - (p // lag % 2) * lag)


def copying(f: Tensor, s: Tensor, t: Tensor, p: Tensor) -> Tensor:
    """One number in 32 is the one before it."""
    bits = draws.hashed(f, s, t, p)
    return torch.where(draws.mix(bits) & 31 == 0, draws.hashed(f, s, t, p - 1), bits)


def summing(f: Tensor, s: Tensor, t: Tensor, p: Tensor) -> Tensor:
    """Every third number is made of the two before it; any two are independent."""
    before = draws.hashed(f, s, t, p - 1) ^ draws.hashed(f, s, t, p - 2)
    return torch.where(p % 3 == 2, before, draws.hashed(f, s, t, p))


def test_the_hash_fails_no_test_of_a_million_draws():
    assert failures(draws.hashed, 10**6) == []


def test_a_hash_of_sums_is_rejected_for_batches_that_overlap():
    failed = failures(added, 10**6)
    assert any("values of two batches" in name for name in failed)
    assert any("values, not" in name for name in failed)


def test_a_stream_added_to_the_seed_is_rejected_for_batches_that_are_equal():
    assert any("256 values of two batches" in name for name in failures(added, 10**6, numbered))
    assert any("256 values of two batches" in name for name in failures(draws.hashed, 10**5, numbered))


def test_uniforms_of_24_bits_are_rejected_for_a_divisor_of_zero():
    (name,) = failures(draws.hashed, 10**5, made=of_24_bits)
    assert name.startswith("no divisor is zero")


@pytest.mark.parametrize(
    "weak, name",
    [
        (lambda *at: draws.hashed(*at) & -2, "positions: byte 0, balance of bit 0"),
        (lambda *at: draws.hashed(*at).clamp_min(2**25 - 2**31), "seeds: byte 3"),
        (lambda *at: (draws.hashed(*at) & 0xFFFFFF) | (at[3] << 24), "steps: byte 3"),  # too even
        *((block(lag), f"positions: lag {lag} along 1, pairs of high bits") for lag in POSITIONS[:2]),
        *((block(lag), f"steps: lag {lag} along 1, pairs of low bits") for lag in POSITIONS[2:]),
        (copying, "positions: lag 1 along 1, correlation"),
        (summing, "positions: lag 1 along 1, triples"),
        (lambda f, s, t, p: draws.hashed(f, s, t - t % 2, p), "steps: lag 1 along 0, correlation"),
        (lambda f, s, t, p: draws.hashed(f, s, t * 0, p + 100 * t), "overlaps of steps: 156 values of two"),
    ],
)
def test_each_test_of_the_battery_rejects_a_hash_made_to_fail_it(weak, name):
    assert any(failed.startswith(name) for failed in failures(weak, 10**5))


@pytest.mark.parametrize(
    "key, name",
    [
        (lambda seed, stream: draws.key(seed // 2, stream), "seeds: lag 1 along 0, pairs of high bits"),
        (lambda seed, stream: draws.key(seed, "train"), "streams: lag 1 along 1, pairs of low bits"),
        (
            lambda seed, stream: draws.key(seed + STREAMS.index(stream), "train"),
            "overlaps: 256 values of two",
        ),
    ],
)
def test_each_test_of_the_battery_rejects_a_key_made_to_fail_it(key, name):
    assert any(failed.startswith(name) for failed in failures(draws.hashed, 10**5, key))


def test_only_triples_reject_a_hash_whose_pairs_are_independent():
    failed = [name for name in failures(summing, 10**5) if "lag 1 along 1" in name]
    assert failed and all("triples" in name for name in failed)


def test_two_batches_of_a_run_share_no_more_values_than_by_chance():
    counts, mean = shared(draws.hashed, [(0, "train")], 2**14, draws.key)
    by_chance = mean * SIZE**2 / 2**32 / 2  # pairs of batches with two values in common
    assert at_least((counts > 1).sum().item(), by_chance) > THRESHOLD


@pytest.mark.slow
def test_the_hash_fails_no_test_of_400_million_draws():
    assert failures(draws.hashed, 4 * 10**8) == []


@pytest.mark.slow
def test_no_divisor_of_200_million_drawn_is_zero_while_24_bits_make_some():
    zeros = torch.zeros(2, dtype=torch.int64)
    for seed in range(200):
        first, second = draws.keys([seed], "test")[0]
        bits = draws.hashed(first, second, torch.tensor(0, dtype=torch.int32), integers(10**6))
        zeros += torch.stack([(make(bits) == 0).sum() for make in (divisor, of_24_bits)])
    assert zeros[0] == 0
    assert zeros[1] > 0
