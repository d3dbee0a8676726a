"""Closed-form fits of the general search: a target that was looked up on a few rows is fitted on all of them."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.fit.snap import residual
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, evaluate
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.general.pool import Pool
from nalm.discover.stages.general.states import Step, reached, returned
from nalm.discover.stages.ratio import null_vector

MEETS = 1e-9  # share of the size of a target that a fit may leave
FAINT = 1e-13  # share of the largest term below which a term is rounding


class Fits:
    """The problem, the pool, and the laws that were fitted already."""

    def __init__(self, problem: Problem, columns: list[int], pool: Pool):
        self.problem, self.columns, self.pool = problem, columns, pool
        self.nodes: dict[int, Node] = {}
        self.tried: set[Node] = set()

    def known(self, places: list[int]) -> dict[int, Node]:
        """Return the expressions at these indices."""
        for p in places:
            if p >= 0 and p not in self.nodes:
                self.nodes[p] = self.pool.node(p)
        return self.nodes

    def target(self, steps: tuple[Step, ...], *more: int) -> tuple[dict[int, Node], Array]:
        """Return the expressions of the steps and the target on all rows."""
        nodes = self.known([*(s.place for s in steps), *more])
        return nodes, reached(steps, self.problem.y, self.problem.x, nodes)

    def inner(self, steps: tuple[Step, ...], law: Node) -> Iterator[Node]:
        """Yield the law of y for a law of the target of some steps, once."""
        found = returned(steps, self.problem.y, self.problem.x, self.nodes, law)
        if found is None or found in self.tried:
            return
        self.tried.add(found)
        if residual(found, self.problem) < self.problem.near:
            yield found

    def summed(self, steps: tuple[Step, ...], *places: int) -> Iterator[Node]:
        """Fit the target of some steps by a sum of the inputs and these expressions, on all rows."""
        used = [p for p in places if p >= 0]
        nodes, t = self.target(steps, *used)
        terms = [*(Input(i) for i in self.columns), *(nodes[p] for p in used)]
        x = self.problem.x
        values = np.column_stack([*(evaluate(n, x) for n in terms), np.ones(len(x))])
        if not (np.isfinite(t).all() and np.isfinite(values).all()):
            return
        weight = 1 / np.sqrt(np.median(np.abs(t)) ** 2 + t**2)
        w = _felt(values, solve(values * weight[:, None], t * weight))
        if _meets((values @ w - t) * weight, t * weight):
            yield from self.inner(steps, Sum(tuple(terms), tuple(w[:-1]), float(w[-1])))

    def multiplied(self, steps: tuple[Step, ...], *places: int) -> Iterator[Node]:
        """Fit the target of some steps by a product of powers of the inputs and these expressions."""
        nodes, t = self.target(steps, *places)
        x = self.problem.x
        factors: list[Node] = [Input(i) for i in self.columns if (x[:, i] != 0).all()]
        factors += [nodes[p] for p in places if p >= 0]
        with np.errstate(all="ignore"):
            values = np.column_stack([*(np.log(np.abs(evaluate(f, x))) for f in factors), np.ones(len(x))])
            logs = np.log(np.abs(t))
        if not (np.isfinite(logs).all() and np.isfinite(values).all()):
            return
        w = solve(values, logs)
        if np.sqrt(np.mean((values @ w - logs) ** 2)) < MEETS:
            halves = np.round(2 * w[:-1]) / 2
            p = np.where(np.abs(halves - w[:-1]) < 1e-6, halves, w[:-1])
            plain = Power(tuple(factors), tuple(p))
            with np.errstate(all="ignore"):
                scale = float(np.median(t / evaluate(plain, x)))
            if np.isfinite(scale):
                yield from self.inner(steps, Power(tuple(factors), tuple(p), scale))

    def divided(
        self, steps: tuple[Step, ...], parts: tuple[list[Node], list[Node]], t: Array
    ) -> Iterator[Node]:
        """Fit a target by a quotient of two sums of these terms."""
        x, ones = self.problem.x, np.ones(len(self.problem.y))
        above, below = (np.column_stack([*(evaluate(n, x) for n in part), ones]) for part in parts)
        weight = 1 / np.sqrt(np.median(np.abs(t)) ** 2 + t**2)
        columns = np.column_stack([above, -t[:, None] * below]) * weight[:, None]
        if not np.isfinite(columns).all():
            return
        z = null_vector(columns)
        sized = columns * z
        if not np.isfinite(z).all() or not _meets(sized.sum(1), sized):
            return
        up, down = _felt(above, z[: above.shape[1]]), _felt(below, z[above.shape[1] :])
        scale = float(np.abs(down).max()) or 1.0
        sums = [
            Sum(tuple(part), tuple(w[:-1] / scale), float(w[-1] / scale))
            for part, w in zip(parts, (up, down), strict=True)
        ]
        yield from self.inner(steps, Power(tuple(sums), (1.0, -1.0)))


def _felt(values: Array, weights: Array) -> Array:
    """Return the weights of a sum of these columns without those of terms that are rounding."""
    size = np.abs(weights) * np.sqrt(np.mean(values**2, 0))
    return np.where(size < FAINT * size.max(), 0.0, weights)


def _meets(r: Array, parts: Array) -> bool:
    """Return whether a residual is no more than rounding of the parts whose difference it is."""
    return bool(np.sqrt(np.mean(r**2)) < MEETS * np.sqrt(np.mean(parts**2)))
