"""The rounds of the general search, each wider than the one before."""

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Input, Node, Power
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.stages.general.fits import Fits
from nalm.discover.stages.general.lookup import Index, explained, paired
from nalm.discover.stages.general.pool import ROOT, Places, Pool
from nalm.discover.stages.general.states import (
    OPERATIONS,
    SHAPES,
    STARTS,
    Remainder,
    Step,
    applied,
)
from nalm.discover.stages.scratchpad import relevant
from nalm.discover.stages.separable import divided_out, factors

WIDEST = 6  # inputs
ROWS, CHECKED = 28, 240  # rows on which targets are looked up; rows on which hits are checked
POOL = 60_000  # expressions
DEEPEST = 6  # operations of an expression, at most
PAIRED = 700  # of which all pairs are tried for powers of y
BLOCK = 8_192  # targets at once
HITS = 12  # laws to rounding; if none of so many is certified, the data cannot tell


def general(problem: Problem) -> Iterator[Node]:
    """Propose nested laws, simple ones first; without a time limit only what takes about a second.

    Columns that only multiply y are divided out first, and half of the time is spent on what is left.
    """
    if len(problem.y) < ROWS + 8 or problem.y_is_constant:
        return
    divided = divided_out(problem, factors(problem))
    if divided is not None:
        inner, monomial = divided
        half = replace(inner, deadline=(problem.clock() + problem.deadline) / 2)
        with contextlib.suppress(TimeUpError):
            for node in _met(half):
                yield Power((node, monomial), (1.0, 1.0))
    yield from _met(problem)


def _met(problem: Problem) -> Iterator[Node]:
    kept = sorted(relevant(problem)[:WIDEST])
    if kept:
        yield from itertools.islice(Meeting(problem, kept).rounds(), HITS)


class Meeting(Fits):
    """The rounds of the search, with the indices of the pool."""

    def __init__(self, problem: Problem, columns: list[int]):
        rows = _spread_out(problem)
        self.x, self.y = problem.x[rows], problem.y[rows]
        self.few = self.x[:, columns]
        super().__init__(problem, columns, Pool(self.x, columns))

    def rounds(self) -> Iterator[Node]:
        """Yield candidates, round after round."""
        check, tell, patient = self.problem.check, self.problem.tell, np.isfinite(self.problem.deadline)
        self.pool.grow(POOL, check)
        self.pool.grow(POOL, check)
        starts = self.starts()
        self.index()
        self.simple = self.plain(self.pool.ends[2])
        for state in starts:
            yield from self.explain(state, self.pool.ends[2])
            yield from self.pairs(state, np.arange(min(PAIRED, len(self.pool))))
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
        tell("general: a root undone")
        for state in self.roots(starts[0]):
            yield from self.pairs(state, self.simple)
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

    def closed(self, states: list[Remainder], undone: str) -> Iterator[Node]:
        """Look for quotients of sums, and for sums and products of two expressions, in every state."""
        self.problem.tell(f"general: {undone} undone, {len(states):,} forms")
        for state in states:
            yield from self.explain(state, self.pool.ends[2])
            yield from self.pairs(state, self.simple)

    def plain(self, count: int) -> Places:
        """Return which of the first expressions have one operation or are roots or products of powers of inputs."""
        products = [p for p in range(count) if _is_product(self.pool.node(p))]
        roots = np.flatnonzero(self.pool.joins[:count] == ROOT)
        return np.unique(np.concatenate([np.arange(self.pool.ends[1]), np.array(products, np.intp), roots]))

    def index(self) -> None:
        """Sort the pool by its ratios: beside a sum of inputs, and between logarithms beside a product of powers."""
        ones = np.ones((len(self.y), 1))
        self.sums = Index.of(self.pool.values, np.column_stack([ones, self.few]))
        self.bent = np.sort(self.sums.places)  # the expressions that are no sums of inputs
        with np.errstate(all="ignore"):
            self.logs = np.log(np.abs(self.pool.values))
            whole = (self.problem.x[:, self.columns] != 0).all(0)
            self.log_few = np.log(np.abs(self.few[:, whole]))
        self.products = Index.of(self.logs, np.column_stack([ones, self.log_few]))

    def starts(self) -> list[Remainder]:
        """Return the powers of y that exist."""
        y = self.problem.y
        powers = [p for p in STARTS if (y > 0).all() or ((y != 0).all() and p != 0.5) or p in (1.0, 2.0)]
        return [Remainder(self.y**p, (Step("", -1, p),)) for p in powers]

    def states(self, before: list[Remainder], operations: int) -> list[Remainder]:
        """Return the states one step further, with expressions of up to so many operations, each target once."""
        found: list[Remainder] = []
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

    def roots(self, state: Remainder) -> Iterator[Remainder]:
        """Yield a state over and times every root in the pool of an expression with up to three operations."""
        last = self.pool.ends[min(4, len(self.pool.ends) - 1)]
        for place in np.flatnonzero(self.pool.joins[:last] == ROOT).tolist():
            for operation in ("divide", "multiply"):
                with np.errstate(all="ignore"):
                    t = applied(operation, state.target, self.pool.values[place])
                if np.isfinite(t).all():
                    yield state.after(Step(operation, place, 1.0), t)

    def meet(self, states: list[Remainder], operations: int) -> Iterator[Node]:
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

    def explain(self, state: Remainder, count: int) -> Iterator[Node]:
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

    def pairs(self, state: Remainder, places: Places) -> Iterator[Node]:
        """Look for a sum of the inputs and two of these expressions, and for a product of powers of them."""
        self.problem.check()
        for one, two in paired(state.target, self.few, self.pool.values[places]):
            yield from self.summed(state.steps, int(places[one]), int(places[two]))
        with np.errstate(all="ignore"):
            logs = np.log(np.abs(state.target))
        if np.isfinite(logs).all():
            for one, two in paired(logs, self.log_few, self.logs[places]):
                yield from self.multiplied(state.steps, int(places[one]), int(places[two]))


def _is_product(node: Node) -> bool:
    """Return whether an expression is a product of powers of inputs."""
    return isinstance(node, Power) and all(isinstance(f, Input) for f in node.factors)


def _spread_out(problem: Problem) -> np.ndarray:
    """Return rows for look-ups: evenly over the order of y, without its extremes."""
    order = np.argsort(problem.y)
    inner = order[len(order) // 50 : len(order) - len(order) // 50]
    return np.sort(inner[np.linspace(0, len(inner) - 1, ROWS).astype(int)])
