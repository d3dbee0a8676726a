"""The rounds of the general search, each wider than the one before."""

import itertools
from collections.abc import Iterator

import numpy as np

from nalm.discover.fit.snap import residual
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, evaluate
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.general.lookup import Index, explained, paired
from nalm.discover.stages.general.pool import Pool
from nalm.discover.stages.general.states import (
    OPERATIONS,
    SHAPES,
    STARTS,
    State,
    Step,
    applied,
    reached,
    returned,
)
from nalm.discover.stages.ratio import null_vector
from nalm.discover.stages.scratchpad import relevant

WIDEST = 6  # inputs
ROWS, CHECKED = 28, 240  # rows on which targets are looked up; rows on which hits are checked
POOL = 60_000  # expressions
DEEPEST = 6  # operations of an expression, at most
PAIRED, FEW = 700, 200  # of which all pairs are tried: for a few targets, for many
BLOCK = 8_192  # targets at once
HITS = 40  # laws to rounding; if none of so many is certified, the data cannot tell
MEETS = 1e-9  # share of the size of a target that a hit may leave


def general(problem: Problem) -> Iterator[Node]:
    """Propose nested laws, simple ones first; without a time limit only what takes about a second."""
    kept = sorted(relevant(problem)[:WIDEST])
    if not kept or len(problem.y) < ROWS + 8 or problem.y_is_constant:
        return
    yield from itertools.islice(Meeting(problem, kept).rounds(), HITS)


class Meeting:
    """The pool, its indices, and the problem that they serve."""

    def __init__(self, problem: Problem, columns: list[int]):
        self.problem, self.columns = problem, columns
        self.rows = _spread_out(problem)
        self.x, self.y = problem.x[self.rows], problem.y[self.rows]
        self.few = self.x[:, columns]
        self.pool = Pool(self.x, columns)
        self.nodes: dict[int, Node] = {}
        self.tried: set[Node] = set()

    def rounds(self) -> Iterator[Node]:
        """Yield candidates, round after round."""
        check, tell, patient = self.problem.check, self.problem.tell, np.isfinite(self.problem.deadline)
        self.pool.grow(POOL, check)
        self.pool.grow(POOL, check)
        starts = self.starts()
        self.index()
        for state in starts:
            yield from self.explain(state, self.pool.ends[2])
            yield from self.pairs(state, PAIRED)
        yield from self.meet(starts, 2)
        if not patient:
            return
        one = self.states(starts, 1)
        yield from self.closed(one, "one operation")
        while len(self.pool.ends) <= DEEPEST and self.pool.grow(POOL, check):
            continue
        self.index()
        tell(f"general: {len(self.pool):,} expressions of up to {len(self.pool.ends) - 1} operations")
        yield from self.meet(starts, DEEPEST)
        tell(f"general: one operation undone, {len(one):,} forms")
        yield from self.meet(one, 2)
        yield from self.closed(self.states(self.states(starts, 0), 0), "two operations")
        tell(f"general: one operation undone, {len(one):,} forms, and larger expressions")
        yield from self.meet(one, 3)
        yield from self.closed(self.states(self.states(starts, 0), 1), "two operations")
        yield from self.closed(self.states(starts, 2), "one larger operation")
        tell(f"general: quotients with {len(self.pool):,} expressions in {len(one):,} forms")
        for state in one:
            yield from self.explain(state, len(self.pool))

    def closed(self, states: list[State], undone: str) -> Iterator[Node]:
        """Look for quotients of sums, and for sums and products of two expressions, in every state."""
        self.problem.tell(f"general: {undone} undone, {len(states):,} forms")
        for state in states:
            yield from self.explain(state, self.pool.ends[2])
            yield from self.pairs(state, FEW)

    def index(self) -> None:
        """Sort the pool by its ratios: beside a sum of inputs, and between logarithms beside a product of powers."""
        ones = np.ones((len(self.rows), 1))
        self.sums = Index.of(self.pool.values, np.column_stack([ones, self.few]))
        self.bent = np.sort(self.sums.places)  # the expressions that are no sums of inputs
        with np.errstate(all="ignore"):
            self.logs = np.log(np.abs(self.pool.values))
            whole = (self.problem.x[:, self.columns] != 0).all(0)
            self.log_few = np.log(np.abs(self.few[:, whole]))
        self.products = Index.of(self.logs, np.column_stack([ones, self.log_few]))

    def starts(self) -> list[State]:
        """Return the powers of y that exist."""
        y = self.problem.y
        powers = [p for p in STARTS if (y > 0).all() or ((y != 0).all() and p != 0.5) or p in (1.0, 2.0)]
        return [State(self.y**p, (Step("", -1, p),)) for p in powers]

    def states(self, before: list[State], operations: int) -> list[State]:
        """Return the states one step further, with expressions of up to so many operations, each target once."""
        found: list[State] = []
        seen: set[int] = set()
        places = range(self.pool.ends[operations])
        for state in before:
            for operation in OPERATIONS:
                self.problem.check()
                with np.errstate(all="ignore"):
                    plain = applied(operation, state.target, self.pool.values[places])
                    for power in SHAPES:
                        targets = plain**power
                        size = np.abs(targets)
                        fine = np.isfinite(targets).all(1) & (np.ptp(targets, 1) > 1e-9 * size.max(1))
                        marks = self.pool.hashed(targets)
                        for i in np.flatnonzero(fine):
                            if int(marks[i]) not in seen:
                                seen.add(int(marks[i]))
                                found.append(state.after(Step(operation, int(i), power), targets[i]))
        return found

    def meet(self, states: list[State], operations: int) -> Iterator[Node]:
        """Look up every state after one step more with every expression of up to so many operations."""
        last = self.pool.ends[min(operations, len(self.pool.ends) - 1)]
        for state in states:
            for start in range(0, last, BLOCK):
                self.problem.check()
                block = self.pool.values[start : min(start + BLOCK, last)]
                for operation in OPERATIONS:
                    with np.errstate(all="ignore"):
                        t = applied(operation, state.target, block)
                        for power in SHAPES:
                            for i, place in self.sums.find(t**power):
                                step = Step(operation, start + i, power)
                                yield from self.summed((*state.steps, step), place)
                        if operation in ("subtract", "add"):
                            for i, place in self.products.find(np.log(np.abs(t))):
                                step = Step(operation, start + i, 1.0)
                                yield from self.multiplied((*state.steps, step), place)

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
        w = solve(values * weight[:, None], t * weight)
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

    def explain(self, state: State, count: int) -> Iterator[Node]:
        """Look for quotients of sums, above or below with one of the first expressions of the pool."""
        self.problem.check()
        bent = self.bent[: np.searchsorted(self.bent, count)]
        for i, below in explained(state.target, self.few, self.pool.values[bent]):
            place = int(bent[i]) if i >= 0 else -1
            nodes, t = self.target(state.steps, place)
            inputs: list[Node] = [Input(i) for i in self.columns]
            more = [nodes[place]] if place >= 0 else []
            parts = (inputs if below else inputs + more), (inputs + more if below else inputs)
            yield from self.divided(state.steps, parts, t)

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
        n = above.shape[1]
        scale = float(np.abs(z[n:]).max()) or 1.0
        sums = [
            Sum(tuple(part), tuple(w[:-1] / scale), float(w[-1] / scale))
            for part, w in zip(parts, (z[:n], z[n:]), strict=True)
        ]
        yield from self.inner(steps, Power(tuple(sums), (1.0, -1.0)))

    def pairs(self, state: State, count: int) -> Iterator[Node]:
        """Look for a sum of the inputs and two of the first expressions, and for a product of powers of them."""
        self.problem.check()
        for one, two in paired(state.target, self.few, self.pool.values[:count]):
            yield from self.summed(state.steps, one, two)
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(state.target))
        if np.isfinite(logs).all():
            for one, two in paired(logs, self.log_few, self.logs[:count]):
                yield from self.multiplied(state.steps, one, two)


def _meets(r: Array, parts: Array) -> bool:
    """Tell whether a residual is rounding beside what it is the rest of."""
    return bool(np.sqrt(np.mean(r**2)) < MEETS * np.sqrt(np.mean(parts**2)))


def _spread_out(problem: Problem) -> np.ndarray:
    """Return rows for look-ups: evenly over the order of y, without its extremes."""
    order = np.argsort(problem.y)
    inner = order[len(order) // 50 : len(order) - len(order) // 50]
    return np.sort(inner[np.linspace(0, len(inner) - 1, ROWS).astype(int)])
