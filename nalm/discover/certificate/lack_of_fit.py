"""Tests under noise: does the residual of a law contain more than noise?"""

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import chdtrc, fdtrc, ndtr

from nalm.discover.certificate.smoothness import leftover
from nalm.discover.fit.least_squares import refined
from nalm.discover.law.constants import is_usual_power
from nalm.discover.law.expression import Array, Node, evaluate, numbers, roles, used
from nalm.discover.problem import Problem

MARGIN = 1.15  # factor of the declared noise, because the spread of y is itself an estimate
SIGNIFICANT = 1e-3  # p-values below this speak against the law
UNEXPLAINED = 0.5  # share of the spread of y; a law with a larger residual is refused


def complaint(node: Node, problem: Problem) -> str | None:
    """Return the first test that speaks against the law on the held-out rows, as text, or None.

    Was an exponent fitted, in a law of several columns? Is the residual larger than the declared noise (chi
    squared), or than on the rows searched (F)? Do free numbers explain more than the law's own (F)? Is there structure
    left: further terms (F), neighbours alike, or anything that a flexible model predicts?
    """
    x, y = problem.held_x, problem.held_y
    k, n = len(numbers(node)), len(y)
    spread = float(np.std(np.concatenate([y, problem.y]))) or 1.0
    r = y - evaluate(node, x)
    if not used(node):
        return "the law is a number and explains nothing"
    if len(used(node)) > 1 and fitted_exponents(node):
        return "an exponent has digits of its own, for which another form may stand,"
    if n < 2 * k + 10:
        return f"{n} rows are too few to test {k} numbers"
    if not np.isfinite(r).all() or np.sqrt(np.mean(r**2)) > UNEXPLAINED * spread:
        return "the law leaves most of the spread of y"
    if problem.noise:
        p = float(chdtrc(n, np.sum(r**2) / (MARGIN * problem.noise * spread) ** 2))
        if p < SIGNIFICANT:
            return f"the residual is larger than the declared noise (p = {p:.1g})"
    searched, held = problem.sizes  # from here on residuals are over the size of the noise on their row
    r = r / held
    before, left = (problem.y - evaluate(node, problem.x)) / searched, max(len(problem.y) - k, 1)
    p = float(fdtrc(n, left, np.mean(r**2) / max(np.sum(before**2) / left, 1e-300)))
    if p < SIGNIFICANT:
        return f"the law fits the rows it was found on better (p = {p:.1g})"
    freed, _ = refined(node, x, y, 1 / held)
    p = f_test(r, (y - evaluate(freed, x)) / held, k)
    if p < SIGNIFICANT:
        return f"free numbers fit better (p = {p:.1g})"
    p = structure(node, r, problem)
    if p < SIGNIFICANT:
        return f"the residual has structure (p = {p:.1g})"
    p = leftover(node, problem)
    return f"the residual can be predicted from the columns (p = {p:.1g})" if p < SIGNIFICANT else None


def fitted_exponents(node: Node) -> list[float]:
    """Return the exponents that are no halves, thirds or quarters: a curve of another form fits like one of them."""
    exponents = [v for v, role in zip(numbers(node), roles(node), strict=True) if role == "exponent"]
    return [p for p in exponents if not is_usual_power(p)]


def f_test(r: Array, better: Array, more: int) -> float:
    """Return the probability that a fit with ``more`` numbers is so much better by chance (F test)."""
    left = len(r) - more
    after = float(np.sum(better**2))
    if left < 1 or not np.isfinite(after):
        return 1.0
    gain = max(float(np.sum(r**2)) - after, 0.0)
    return float(fdtrc(max(more, 1), left, gain / max(more, 1) / max(after / left, 1e-300)))


def structure(node: Node, r: Array, problem: Problem) -> float:
    """Return the smallest p-value over families of further terms and over neighbours, times their number."""
    inside = sorted(used(node))
    outside = [i for i in problem.columns if i not in inside]
    z = _standard(problem.held_x[:, inside[:6]])
    value = _standard(evaluate(node, problem.held_x)[:, None])
    shapes = [z, z**2, z**3, np.sin(2 * z), np.abs(z)]
    i, j = np.triu_indices(z.shape[1], 1)
    families = [*shapes, *(f * value for f in shapes), *(f[:, i] * g[:, j] for f in shapes for g in shapes)]
    families += [_standard(problem.held_x[:, outside])] if outside else []
    families += [np.concatenate(shapes, 1), value**2]
    ps = [_near_alike(z, r)] if 0 < z.shape[1] <= 4 else []
    for terms in families:
        if terms.shape[1] and 4 * terms.shape[1] < len(r):
            terms = np.column_stack([np.ones(len(r)), terms])
            fit = terms @ np.linalg.lstsq(terms, r, rcond=1e-10)[0]
            ps.append(f_test(r, r - fit, terms.shape[1]))
    return min(1.0, len(ps) * min(ps)) if ps else 1.0


def _standard(x: Array) -> Array:
    spread = x.std(0)
    return (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)


def _near_alike(z: Array, r: Array) -> float:
    """Return the one-sided p-value that nearest neighbours have similar residuals."""
    z, r = z[:2000], r[:2000]
    _, near = cKDTree(z).query(z, k=2)
    other = near[:, 1]
    mutual = float(np.mean(other[other] == np.arange(len(other))))
    r = r - r.mean()
    likeness = np.mean(r * r[other]) / max(float(np.mean(r**2)), 1e-300)
    return float(ndtr(-likeness / np.sqrt((1 + mutual) / len(r))))
