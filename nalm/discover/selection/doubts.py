"""Doubts about a chosen law, in words: too few rows, too much noise, chance, or a residual that is more than noise."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtrc, fdtrc

from nalm.discover.certificate.lack_of_fit import (
    MARGIN,
    SIGNIFICANT,
    complaint,
    f_test,
    fitted_exponents,
    structure,
)
from nalm.discover.certificate.levels import interpolated
from nalm.discover.certificate.resolution import cancels
from nalm.discover.certificate.smoothness import leftover
from nalm.discover.fit.least_squares import refined
from nalm.discover.law.expression import Array, Input, Node, Sum, evaluate, numbers, used
from nalm.discover.problem import Problem
from nalm.discover.redundancy import listed
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rows import NoiseKind, Observations

EFFECT = 0.5  # the least share of the variance that a law must explain
FEWEST = 3  # rows beyond the numbers of the law, at least; and as many as these
CANCELLED = "the law is a small difference of large terms"
CHANCE = 0.01  # the largest probability that chance explains as much as a law
FORMS = 100  # forms that were tried: chance has so many attempts
HIDDEN = 0.02  # of y: the largest effect of unused columns that may be hidden by the noise
SURE = 3.3  # standard errors of an effect that is sure to show
MANY = 3  # fitted numbers of a law of several columns, which need
FOR_EACH = 10  # rows for each of them


def doubt(found: Fitted, problem: Problem) -> str | None:
    """Return the first thing that speaks against the law, as text, or None.

    With enough rows, the law is fitted to the searched rows, or to all if those are the smaller part, and tested on
    the others. With few, all rows are used for both, and the tests count the numbers that were fitted.
    """
    node, rows = found.node, found.rows
    if few := interpolated(node, problem):
        return (
            f"the law has a column of {few[1]} values, which may be codes, at places enough to fit anything"
        )
    if used(node) and rows_to_test(node, problem):
        if cancels(node, rows.x):
            return CANCELLED
        if words := beyond_errors(rows.residual(node), found.count, rows) or beyond_declared(found, problem):
            return words
        seen = as_seen(problem, rows)
        law = rows.seen(node)
        x, y, sizes = seen.x, seen.y, seen.sizes[0]
        if len(seen.held_y) > len(y):  # they would see the errors that the numbers have from fewer rows
            x, y = np.concatenate([x, seen.held_x]), np.concatenate([y, seen.held_y])
            sizes = np.concatenate(seen.sizes)
        law, _ = refined(law, x, y, 1 / sizes, free=rows.mask(found.free))
        words = complaint(law, seen)
        return words and f"{words} on {len(problem.held_y)} held-out rows"
    return beyond_declared(found, problem) or doubt_of_fit(node, found.count, rows, problem)


def rows_to_test(node: Node, problem: Problem) -> int:
    """Return how many held-out rows test a law; 0 if they are too few, and it is tested on the rows of its fit."""
    held = len(problem.held_y)
    return held if held >= 2 * len(numbers(node)) + 10 else 0


def doubt_of_fit(node: Node, k: int, rows: Observations, problem: Problem, forms: int = FORMS) -> str | None:
    """Test a law with k fitted numbers, one of so many forms that were tried, on the rows it was fitted to."""
    n, seen = len(rows), as_seen(problem, rows)
    if not used(node):
        return "no column explains y: a number does as well"
    r = rows.residual(node)
    if not np.isfinite(r).all() or cancels(node, rows.x):
        return CANCELLED
    if n - k < max(FEWEST, k):
        more = k + max(FEWEST, k) - n
        return f"{n} rows are too few for {k} fitted numbers; {more} more would do"
    flat = rows.deviation
    explained = 1 - float(np.sum(r**2)) / max(float(np.sum(flat**2)), 1e-300)
    if explained < EFFECT:
        return f"the noise is larger than the effect: the law explains {100 * max(explained, 0):.0f}% of the variance"
    if words := beyond_errors(r, k, rows):
        return words
    chosen = len(numbers(node)) if forms > 1 else k  # a search chose the settled numbers, too
    p = forms * f_test(flat, r, max(chosen, 1))
    if p > CHANCE:
        tried = ", as many forms were tried" if forms > 1 else ""
        return f"chance explains as much on {n} rows{tried} (p = {min(p, 1.0):.1g})"
    p = pure_error(rows.x, r, k)
    if p < SIGNIFICANT:
        return f"repeated rows differ by less than the law leaves (p = {p:.1g})"
    law = rows.seen(node)
    every = np.concatenate([seen.x, seen.held_x]), np.concatenate([seen.y, seen.held_y])
    whole = replace(seen, held_x=every[0], held_y=every[1])
    r = (whole.held_y - evaluate(law, whole.held_x)) / np.concatenate(seen.sizes)
    p = structure(law, r, whole)
    if p < SIGNIFICANT:
        return f"the residual has structure (p = {p:.1g})"
    p = leftover(law, seen)
    return f"the residual can be predicted from the columns (p = {p:.1g})" if p < SIGNIFICANT else None


def beyond_errors(r: Array, k: int, rows: Observations) -> str | None:
    """Test residuals, over the given errors, of a law with k fitted numbers (chi squared)."""
    if rows.noise != NoiseKind.GIVEN:
        return None
    p = float(chdtrc(len(r) - k, np.sum(r**2)))
    return f"the residual is larger than the given errors (p = {p:.1g})" if p < SIGNIFICANT else None


def beyond_declared(found: Fitted, problem: Problem) -> str | None:
    """Test what a law leaves of y under relative noise, where the size that is declared is one of y itself."""
    if not problem.noise or found.rows.noise != NoiseKind.RELATIVE:
        return None
    return beyond_noise(found.rows.y - found.value, found.count, problem)


def beyond_noise(left: Array, k: int, problem: Problem) -> str | None:
    """Test what a law with k fitted numbers leaves of y against the noise that is declared; 0 admits none."""
    if problem.noise is None:
        return None
    if not problem.noise:
        return "the law is not exact, and no noise is admitted"
    size = MARGIN * problem.noise * float(np.std(np.concatenate([problem.y, problem.held_y])))
    p = float(chdtrc(max(len(left) - k, 1), np.sum((left / size) ** 2)))
    return f"the residual is larger than the declared noise (p = {p:.1g})" if p < SIGNIFICANT else None


def left_open(found: Fitted, problem: Problem, names: Sequence[str]) -> str:
    """Return in a sentence what the rows cannot tell about a law that passes all tests; empty if nothing.

    A fitted exponent in a law of several columns may stand for another form, as may many fitted numbers on few rows,
    and noise may hide an effect of columns that the law leaves out.
    """
    several = len(used(found.node)) > 1
    if several and fitted_exponents(found.node):
        return "An exponent has digits of its own, for which another form may stand."
    k, n = found.count, len(found.rows)
    if several and k >= MANY and FOR_EACH * k > n and not _is_weighted_sum(found.node):
        return f"With {k} fitted numbers on {n} rows it may stand for another form."
    unused = [names[j] for j in problem.columns if j not in used(found.node)]
    rows = found.rows
    level = 1.0 if rows.noise == NoiseKind.RELATIVE else float(np.sqrt(np.mean((rows.y / rows.error) ** 2)))
    effect = SURE * found.scatter / (np.sqrt(len(rows)) * max(level, 1e-300))
    if not unused or effect < HIDDEN:
        return ""
    return f"The noise would hide an effect of {listed(unused)} of up to {100 * effect:.2g}% of y."


def _is_weighted_sum(node: Node) -> bool:
    return isinstance(node, Sum) and all(isinstance(term, Input) for term in node.terms)


def as_seen(problem: Problem, rows: Observations) -> Problem:
    """Return the problem in which the noise has one size: with log y under relative noise."""
    if rows.noise != NoiseKind.RELATIVE:
        return problem
    logs = [np.log(np.abs(y)) for y in (problem.y, problem.held_y)]
    return replace(problem, y=logs[0], held_y=logs[1], noise=None)


def pure_error(x: Array, r: Array, k: int) -> float:
    """Return the p-value that rows with equal columns differ as much as the law leaves; 1 without such rows."""
    _, group, counts = np.unique(x, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    levels, n = len(counts), len(r)
    if n - levels < 2 or levels <= k:
        return 1.0
    means = np.bincount(group, r) / counts
    within = float(np.sum((r - means[group]) ** 2))
    between = float(np.sum(counts * means**2))
    ratio = (between / (levels - k)) / max(within / (n - levels), 1e-300)
    return float(fdtrc(levels - k, n - levels, ratio))
