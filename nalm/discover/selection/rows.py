"""Observations that laws are compared on, with the kind of noise on y: additive, relative, both, or given."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nalm.discover.law.expression import Array, Function, Mask, Node, Sum, evaluate, numbers, used
from nalm.discover.problem import Problem

MOST = 3000  # rows on which laws are compared
COMPARED = 20_000  # rows among which copies are looked for
ROUNDING = 1e-12  # of y over its rms: no fit is better than that


class NoiseKind(StrEnum):
    """The kind of noise on y."""

    ADDITIVE = "additive"  # of the same size on every row
    RELATIVE = "relative"  # in proportion to the law: of the same size on log y
    GIVEN = "given"  # of the standard error that every row states
    BOTH = "both"  # additive and relative


@dataclass(frozen=True)
class Observations:
    """Observations of a table and the noise that is assumed on y; ``error`` is its size, given or up to a factor."""

    x: Array
    y: Array
    noise: NoiseKind
    error: Array
    x_error: Array | None = None  # standard errors of the columns, if they are given
    y_error: Array | None = None  # those of y alone, where ``error`` has those of the columns in it
    floor: float = 0.0  # the value at which additive and relative noise are equal, where there are both

    @classmethod
    def of(cls, problem: Problem, most: int = MOST) -> Self:
        """Return the rows of a problem, searched and held out, at most ``most`` of them, evenly spaced."""
        x, y = np.concatenate([problem.x, problem.held_x]), np.concatenate([problem.y, problem.held_y])
        error, kind = np.ones(len(y)), NoiseKind.ADDITIVE
        if problem.error is not None:
            error = problem.error
            kind = NoiseKind.GIVEN if problem.absolute_error else NoiseKind.ADDITIVE
            kind = NoiseKind.BOTH if problem.floor else kind
        step = -(-len(y) // most)
        columns = None if problem.x_error is None else problem.x_error[::step]
        return cls(x[::step], y[::step], kind, error[::step], columns, error[::step], problem.floor)

    def kinds(self) -> Iterator[Self]:
        """Yield these rows under every kind of noise that is possible."""
        yield self
        one_sign = bool((self.y > 0).all() or (self.y < 0).all())
        if self.noise == NoiseKind.ADDITIVE and one_sign and (self.error == self.error[0]).all():
            yield replace(self, noise=NoiseKind.RELATIVE)

    def taken(self, pick: NDArray[np.int_] | Mask) -> Self:
        """Return some of the rows, in the order of ``pick``, which may repeat rows."""
        x_error, y_error = (None if e is None else e[pick] for e in (self.x_error, self.y_error))
        return replace(
            self, x=self.x[pick], y=self.y[pick], error=self.error[pick], x_error=x_error, y_error=y_error
        )

    def effective(self, node: Node) -> Self:
        """Add to the errors of y what a law makes of the errors of the columns (to first order)."""
        if self.x_error is None or self.y_error is None:
            return self
        with np.errstate(all="ignore"):
            added = sum(c**2 for c in carried(node, self.x, self.x_error))
        return replace(self, error=np.sqrt(self.y_error**2 + added))

    def __len__(self) -> int:
        return len(self.y)

    @property
    def target(self) -> Array:
        """The values on which the noise has the stated size: y or the logarithm of its size."""
        return np.log(np.abs(self.y)) if self.noise == NoiseKind.RELATIVE else self.y

    @property
    def deviation(self) -> Array:
        """The target minus its mean, weighted by the errors, over the size of the noise."""
        weight = 1 / self.error**2
        return (self.target - np.average(self.target, weights=weight)) / self.error

    @property
    def stretched(self) -> Array:
        """The factor that makes a residual of each row one of y (the Jacobian)."""
        return np.abs(self.y) if self.noise == NoiseKind.RELATIVE else self.error

    @property
    def offset(self) -> float:
        """Twice the sum of the logarithms of ``stretched``, which makes likelihoods those of y."""
        return 2 * float(np.sum(np.log(self.stretched)))

    def seen(self, node: Node) -> Node:
        """Return the law of ``target``."""
        if self.noise != NoiseKind.RELATIVE:
            return node
        return Function("log", node if self.y[0] > 0 else Sum((node,), (-1.0,)))

    def unseen(self, node: Node) -> Node:
        """Return the law of y from that of ``target``."""
        if self.noise != NoiseKind.RELATIVE:
            return node
        assert isinstance(node, Function)
        inner = node.argument
        return inner if self.y[0] > 0 or not isinstance(inner, Sum) else inner.terms[0]

    def mask(self, free: Mask) -> Mask:
        """Return which numbers of the law of ``target`` are free."""
        signed = self.noise == NoiseKind.RELATIVE and self.y[0] < 0
        return np.concatenate([np.zeros(1, bool), free]) if signed else free

    def residual(self, node: Node) -> Array:
        """Return target minus law, over the size of the noise."""
        with np.errstate(all="ignore"):
            return (self.target - evaluate(self.seen(node), self.x)) / self.error

    def misfit(self, node: Node) -> float:
        """Return -2 log likelihood, up to a number that all laws and kinds share; infinite without a value."""
        if not np.isfinite(numbers(node)).all():
            return np.inf
        return self.misfit_of(self.residual(node))

    def misfit_of(self, r: Array) -> float:
        """Return -2 log likelihood of residuals."""
        with np.errstate(all="ignore"):
            square = float(np.mean(r**2))
        if not np.isfinite(square):
            return np.inf
        n = len(r)
        if self.noise == NoiseKind.GIVEN:
            return n * (square - 1) + self.offset
        scale = (
            1.0 if self.noise == NoiseKind.RELATIVE else float(np.sqrt(np.mean((self.y / self.error) ** 2)))
        )
        return n * float(np.log(square + (ROUNDING * scale) ** 2 + 1e-300)) + self.offset


def carried(node: Node, x: Array, steps: Array) -> Iterator[Array]:
    """Yield for each column of a law how much y changes with a step of it, half of that from below to above."""
    for j in sorted(used(node)):
        if not steps[:, j].any():
            continue
        ends = []
        for sign in (-1.0, 1.0):
            moved = x.copy()
            moved[:, j] += sign * steps[:, j]
            ends.append(evaluate(node, moved))
        yield np.nan_to_num(np.abs(ends[1] - ends[0]) / 2, nan=0.0, posinf=0.0)


def without(problem: Problem, rows: NDArray[np.int_]) -> Problem:
    """Return the problem without some rows, given by their places among the searched and then the held-out ones."""
    keep = np.ones(len(problem.y) + len(problem.held_y), bool)
    keep[rows] = False
    searched, held = keep[: len(problem.y)], keep[len(problem.y) :]
    return replace(
        problem,
        x=problem.x[searched],
        y=problem.y[searched],
        held_x=problem.held_x[held],
        held_y=problem.held_y[held],
        order=problem.order[keep],
        error=None if problem.error is None else problem.error[keep],
        x_error=None if problem.x_error is None else problem.x_error[keep],
    )


def distinct(problem: Problem) -> Problem:
    """Return the problem without copies of rows: a copy is no further measurement.

    Observations with equal columns are measurements if y differs in some of them, and stay as they are.
    """
    x, y = np.concatenate([problem.x, problem.held_x]), np.concatenate([problem.y, problem.held_y])
    if len(y) > COMPARED:
        return problem
    _, first = np.unique(np.column_stack([x, y]), axis=0, return_index=True)
    if len(first) == len(y) or len(np.unique(x, axis=0)) < len(first):
        return problem
    return without(problem, np.setdiff1d(np.arange(len(y)), first))


def in_table_order(problem: Problem) -> Observations:
    """Return all rows of a problem in the order of the table."""
    return Observations.of(problem, len(problem.order)).taken(np.argsort(problem.order))
