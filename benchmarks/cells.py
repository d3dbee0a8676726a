"""The cells in which the papers report failures of units trained by gradient descent, as data.

Mistry 2023, sections 3.3.2, 4.4, 5.5 to 5.8 and chapter 7: sums among many inputs, the two-layer product, division
with redundant inputs on every distribution, compositions of two operations, division by small magnitudes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from nalm import draws
from nalm.config import Range, mirrored, split, truncated
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, evaluate
from nalm.experiments.thesis.ch3 import RANGES
from nalm.tasks import Sampler

Truth = Callable[[Sequence[Node]], Node]  # operands -> the law

MIXED_SIGNS = (  # Mistry 2023, Table 5.2
    (split(-2, -0.1, 0.1, 2), split(-6, -2, 2, 6)),
    (split(-2, -1, 1, 2), split(-6, -2, 2, 6)),
    (split(0.1, 2, -2, -0.1), split(2, 6, -6, -2)),
    (split(1, 2, -2, -1), split(2, 6, -6, -2)),
)
DISTRIBUTIONS = (  # Mistry 2023, Table 5.3
    (truncated(-5, 10, -1, 3), truncated(-15, -5, -10, 3)),
    (truncated(-5, 5, 0, 1), truncated(5, 15, 10, 1)),
    (truncated(-10, 5, 1, 3), truncated(5, 15, 10, 3)),
    (Range(10, 100, "benford"), Range(100, 1000, "benford")),
    (Range(-100, 100), mirrored(-200, -100, 100, 200)),
    (Range(-50, 50), mirrored(-100, -50, 50, 100)),
)
# Mistry 2023, section 5.8
SMALL = tuple((Range(0, u), Range(0, u)) for u in (1e-4, 1e-3, 1e-2, 1e-1, 1.0))


def add(a: Node, b: Node) -> Node:
    """Return a + b."""
    return Sum((a, b), (1.0, 1.0))


def subtract(a: Node, b: Node) -> Node:
    """Return a - b."""
    return Sum((a, b), (1.0, -1.0))


def multiply(a: Node, b: Node) -> Node:
    """Return a * b."""
    return Power((a, b), (1.0, 1.0))


def divide(a: Node, b: Node) -> Node:
    """Return a / b."""
    return Power((a, b), (1.0, -1.0))


CUMULATIVE = {  # the operations of Mistry 2023, chapter 7
    "add": add,
    "sub": lambda a, b: Sum((a, b), (-1.0, -1.0)),
    "mul": multiply,
    "div": lambda a, b: Power((a, b), (-1.0, -1.0)),
}


@dataclass(frozen=True)
class Cell:
    """One problem. Each seed draws new rows and new operands, which are neighbouring inputs."""

    name: str
    truth: Truth
    operands: int
    inputs: int
    train: Range
    test: Range
    rows: int = 600
    subset: int = 1  # inputs that an operand sums
    overlap: int = 0
    precision: str = "float64"  # of the targets; inputs are drawn in float32, as published

    def law(self, seed: int) -> Node:
        """Return the law of a seed."""
        stride = self.subset - self.overlap
        span = self.subset + (self.operands - 1) * stride
        first = (draws.key(seed, "positions")[0] & 0x7FFFFFFF) % (self.inputs - span + 1)
        operands: list[Node] = []
        for k in range(self.operands):
            members = [Input(first + k * stride + i) for i in range(self.subset)]
            operands.append(members[0] if self.subset == 1 else Sum(tuple(members), (1.0,) * self.subset))
        return self.truth(operands)

    def sample(self, seed: int, stream: str = "train") -> tuple[Array, Array]:
        """Draw inputs, and targets in the cell's precision, from the training or the test range."""
        sampler = Sampler([self.test if stream == "test" else self.train], self.inputs)
        drawn = sampler(
            draws.keys([seed], stream), torch.tensor(0, dtype=torch.int32), sampler.grid(self.rows)
        )
        x = drawn[0].T.numpy().astype(np.float64)
        y = evaluate(self.law(seed), x)
        return x, y.astype(np.float32) if self.precision == "float32" else y


def _single(
    operation: str, inputs: int, ranges: Sequence[tuple[Range, Range]], rows: int = 600
) -> list[Cell]:
    truths: dict[str, tuple[int, Truth]] = {
        "add": (2, lambda o: add(o[0], o[1])),
        "sub": (2, lambda o: subtract(o[0], o[1])),
        "div": (2, lambda o: divide(o[0], o[1])),
        "reciprocal": (1, lambda o: Power((o[0],), (-1.0,))),
    }
    operands, truth = truths[operation]
    return [
        Cell(f"{operation} {inputs} {train}", truth, operands, inputs, train, test, rows)
        for train, test in ranges
    ]


def _compositions(train: Range, test: Range, inputs: int = 4, rows: int = 600) -> list[Cell]:
    """List all sixteen op2(op1(a, b), c)."""

    def truth(first: str, second: str) -> Truth:
        return lambda o: CUMULATIVE[second](CUMULATIVE[first](o[0], o[1]), o[2])

    return [
        Cell(f"{p}-{q} {inputs} {train}", truth(p, q), 3, inputs, train, test, rows)
        for p in CUMULATIVE
        for q in CUMULATIVE
    ]


PRODUCTS = tuple(
    Cell(f"two-layer product 100 {train}", lambda o: multiply(o[0], o[1]), 2, 100, train, test, 3000, 25, 12)
    for train, test in RANGES
)
CELLS = (
    *_single("div", 10, (*RANGES, *MIXED_SIGNS, *DISTRIBUTIONS)),
    *_single("add", 10, RANGES),
    *_single("sub", 100, RANGES, 3000),
    *_single("div", 2, SMALL),
    *_single("div", 10, SMALL),
    *_single("reciprocal", 1, SMALL),
    *_single("reciprocal", 2, SMALL),
    *_compositions(Range(1, 2), Range(2, 6)),
    *_compositions(Range(1.1, 1.2), Range(1.2, 6)),
    *_compositions(Range(-2, 2), mirrored(-6, -2, 2, 6)),
)
