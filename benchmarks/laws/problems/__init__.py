"""The problems of the contest: rows to fit, and rows far outside of them that only the judge sees."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.cells import CELLS, CUMULATIVE, PRODUCTS, Cell, Truth
from benchmarks.laws.problems.laws import FILES, PhysicalLaw, ends, laws
from nalm.config import Range
from nalm.discover.law.expression import Array, Input, Node, bounded, evaluate, substituted
from nalm.discover.law.names import check_names
from nalm.errors import NALMError

ROWS, REDUNDANT, U = 300, 4, 2.0**-53
SEEDS = {"cells": 1, "compositions": 1, "laws": 1, "outside": 3}
FIRST = 3000  # first seed of a cell; smaller ones were used to build the ladder
VARIANTS = {  # noise (standard deviation over that of y) and shape
    "plain": (0.0, "plain"),
    "noise 1%": (0.01, "plain"),
    "noise 10%": (0.1, "plain"),
    "redundant": (0.0, "redundant"),
    "tight": (0.0, "tight"),
}
NOISE_FREE = [name for name, (noise, _) in VARIANTS.items() if noise == 0]


@dataclass(frozen=True)
class Entry:
    """The name of a problem. All its rows are drawn from it."""

    suite: str
    name: str
    part: str  # of the laws, open or blind; empty elsewhere
    variant: str
    seed: int

    @property
    def rng(self) -> np.random.Generator:
        """Return the random generator of this problem."""
        text = "|".join((self.suite, self.name, self.variant, str(self.seed)))
        return np.random.default_rng(list(hashlib.sha256(text.encode()).digest()))


@dataclass(frozen=True)
class Problem:
    """Rows to fit, rows far outside with their targets, and the true law."""

    suite: str
    name: str
    part: str
    noise: float
    shape: str
    x: Array
    y: Array
    names: tuple[str, ...]
    far_x: Array
    far_y: Array
    truth: Node | None  # None: outside the class

    @property
    def rounding(self) -> Array:
        """Bound the rounding error of the far targets."""
        if self.truth is None:
            return U * np.abs(self.far_y)
        return bounded(self.truth, self.far_x, U)[1]


# -- compositions ---------------------------------------------------------------------------------


def _composed(*operations: str) -> Truth:
    def truth(operands: Sequence[Node]) -> Node:
        node = operands[0]
        for name, operand in zip(operations, operands[1:], strict=True):
            node = CUMULATIVE[name](node, operand)
        return node

    return truth


def _compositions() -> list[Cell]:
    """List all 16 op2(op1(a, b), c) among ten inputs, and all 64 of three operations among five."""
    near, far, names = Range(1, 2), Range(2, 6), list(CUMULATIVE)
    pairs = [(p, q) for p in names for q in names]
    found = [Cell("-".join(o), _composed(*o), 3, 10, near, far, 600) for o in pairs]
    triples = [(*o, r) for o in pairs for r in names]
    return found + [Cell("-".join(o), _composed(*o), 4, 5, near, far, 600) for o in triples]


TABLES: dict[str, dict[str, Cell]] = {
    "cells": {cell.name: cell for cell in (*CELLS, *PRODUCTS)},
    "compositions": {cell.name: cell for cell in _compositions()},
}


# -- outside the class ----------------------------------------------------------------------------

OUTSIDE: dict[str, Callable[[Array, Array, Array], Array]] = {
    "sine": lambda a, b, c: np.sin(3 * a) + b,
    "exponential": lambda a, b, c: np.exp(a / 3) * b,
    "logarithm": lambda a, b, c: np.log(a) * b,
    "tangent": lambda a, b, c: np.tanh(a - 1) * b + c,
    "larger": lambda a, b, c: np.maximum(a, b) * c,
    "floor": lambda a, b, c: np.floor(2 * a) + b,
    "gaussian": lambda a, b, c: np.exp(-(a**2) / 2) / b,
    "angle": lambda a, b, c: np.arctan2(a, b),
    "logistic": lambda a, b, c: a / (1 + np.exp(-b)),
    "power": lambda a, b, c: a**b,
    "planck": lambda a, b, c: a**3 / np.expm1(a / b),
    "cosine law": lambda a, b, c: np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(c)),
    "tilted": lambda a, b, c: a * b + 1e-7 * np.sin(7 * a),
    "chance": lambda a, b, c: np.mod(np.sin(1e5 * a) * 43758.5453, 1) + 0 * b,
}


# -- problems -------------------------------------------------------------------------------------


def entries(part: str = "open", quick: bool = False) -> list[Entry]:
    """List every problem of the contest with the laws of one part or of all; quick means one seed and no noise."""
    parts = list(FILES) if part == "all" else [part]
    kept = NOISE_FREE if quick else list(VARIANTS)
    seeds = {suite: 1 if quick else count for suite, count in SEEDS.items()}
    found = [Entry("laws", name, p, v, 0) for p in parts for v in kept for name in laws(p)]
    for suite, cells in TABLES.items():
        found += [Entry(suite, name, "", "plain", seed) for seed in range(seeds[suite]) for name in cells]
    noisy = [v for v in kept if VARIANTS[v][1] == "plain"]
    return found + [
        Entry("outside", name, "", v, s) for v in noisy for s in range(seeds["outside"]) for name in OUTSIDE
    ]


def problem(entry: Entry) -> Problem:
    """Draw a problem."""
    if entry.suite == "laws":
        return _physical(entry, laws(entry.part)[entry.name])
    if entry.suite == "outside":
        return _outside(entry)
    return _cell(entry, TABLES[entry.suite][entry.name])


def _cell(entry: Entry, cell: Cell) -> Problem:
    seed = FIRST + entry.seed
    (x, y), (far_x, far_y) = cell.sample(seed), cell.sample(seed, "test")
    return _made(entry, x, y, check_names(None, cell.inputs), far_x, far_y, cell.law(seed))


def _outside(entry: Entry) -> Problem:
    rng, noise, target = entry.rng, VARIANTS[entry.variant][0], OUTSIDE[entry.name]
    x, far_x = rng.uniform(0.5, 3, (ROWS, 3)), rng.uniform(3, 9, (ROWS, 3))
    y, far_y = target(*x.T), target(*far_x.T)
    return _made(entry, x, _noisy(y, noise, rng), ("a", "b", "c"), far_x, far_y, None)


def _physical(entry: Entry, law: PhysicalLaw) -> Problem:
    rng, (noise, shape), count = entry.rng, VARIANTS[entry.variant], len(law.inputs)
    # a redundant column has the range of some input of the law and any position among the columns
    source = [*range(count), *(rng.integers(count, size=REDUNDANT) if shape == "redundant" else ())]
    place = rng.permutation(len(source)) if shape == "redundant" else np.arange(count)
    low, high = ends(law, shape == "tight")
    x, y = _rows(law, low, high, source, rng)
    far_x, far_y = _rows(law, np.array(law.far_low), np.array(law.far_high), source, rng)
    named = [*law.inputs, *(f"z{k + 1}" for k in range(len(source) - count))]
    truth = substituted(law.truth, [Input(int(np.flatnonzero(place == i)[0])) for i in range(count)])
    names = check_names([named[i] for i in place], len(source))
    return _made(entry, x[:, place], _noisy(y, noise, rng), names, far_x[:, place], far_y, truth)


def _rows(
    law: PhysicalLaw, low: Array, high: Array, source: list[int], rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw rows on which the law has a finite value."""
    x = rng.uniform(low[source], high[source], (4 * ROWS, len(source)))
    with np.errstate(all="ignore"):
        y = evaluate(law.truth, x)
    fine = np.flatnonzero(np.isfinite(y))[:ROWS]
    if len(fine) < ROWS:
        raise NALMError(
            f"A law has a finite value on only {len(fine)} of {4 * ROWS} rows of its range: change its range."
        )
    return x[fine], y[fine]


def _noisy(y: Array, noise: float, rng: np.random.Generator) -> Array:
    return y + noise * np.std(y) * rng.standard_normal(len(y)) if noise else y


def _made(
    entry: Entry, x: Array, y: Array, names: tuple[str, ...], far_x: Array, far_y: Array, truth: Node | None
) -> Problem:
    noise, shape = VARIANTS[entry.variant]
    return Problem(entry.suite, entry.name, entry.part, noise, shape, x, y, names, far_x, far_y, truth)
