"""Observations that are far off: found by a robust fit of the best laws, left out of the choice, and named.

Before a law is known, ``suspicious_rows`` finds them by a robust fit of a quadratic polynomial, so that a search can
do without them.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array, Mask
from nalm.discover.problem import Problem
from nalm.discover.selection.evidence import Fitted, fit, price
from nalm.discover.selection.rows import NoiseKind, Observations

TRIED = 12  # laws that are fitted robustly
ROUNDS = 8
FAR = 7.0  # robust spreads: hardly any row of noise is so far off
MOST = 0.1  # share of rows that may be far off
FEWEST = 15  # rows in which outliers are looked for
ROUNDING = 1e-9  # of y: a spread below is that of a law that holds on most rows
SUSPICIOUS = 0.15  # share of rows that may be far off from a polynomial, which is no law
ABSOLUTE, BOUNDED = 12, 12  # rounds of least absolute residuals, then without those beyond a bound
BOUND = 6.0  # in robust spreads
ROWS_PER_TERM = 3
INNER = 0.1  # quantile of every column beyond which a row is at the edge
COMMON = 0.02  # share of the other rows that is far off where there are outliers
BY_CHANCE = 1e-3  # probability below which rows that are far off are not spread by chance


def far_rows(laws: Sequence[Fitted], check: Callable[[], None]) -> Mask:
    """Return which rows are far off from the law that fits most rows best; none if there are too many such rows."""
    best, far = np.inf, np.zeros(len(laws[0].rows) if laws else 0, bool)
    if len(far) < FEWEST or not _has_far(laws[0].rows.residual(laws[0].node), laws[0].rows):
        return far
    chosen = laws[0]
    for law in sorted(laws, key=_first_look)[:TRIED]:
        check()
        r, spread = _robust(law)
        if not np.isfinite(spread):
            continue
        score = _misfit(r, spread) + law.rows.offset + price(law.node, law.free, law.rows)
        if score < best:
            best, far, chosen = score, np.abs(r) > FAR * spread, law
    if far.sum() > MOST * len(far) or gathered(far, np.column_stack([chosen.rows.x, chosen.value])):
        return np.zeros(len(far), bool)
    return far


def gathered(far: Mask, columns: Array) -> bool:
    """Return whether rows far off lie at one end of a column: then the law is wrong there, not the rows.

    The count of such rows among twice as many at either end is compared with that of rows drawn by chance.
    """
    n, count = len(far), int(far.sum())
    if not count or 2 * count >= n:
        return False
    for column in columns.T:
        order = np.argsort(column, kind="stable")
        for end in (order[: 2 * count], order[-2 * count :]):
            seen = int(far[end].sum())
            ways = sum(
                math.comb(2 * count, k) * math.comb(n - 2 * count, count - k) for k in range(seen, count + 1)
            )
            if ways / math.comb(n, count) < BY_CHANCE:
                return True
    return False


def suspicious_rows(problem: Problem) -> Mask:
    """Return which rows are far off from a polynomial of the columns or of their logarithms, for y or its logarithm.

    Rows of a clean table are far off, too, where the polynomial is wrong; then as many are half as far off.
    """
    rows = Observations.of(problem, len(problem.order))
    best, far = np.inf, np.zeros(len(rows), bool)
    if len(rows) < FEWEST or not problem.columns:
        return far
    for kind, terms in itertools.product(rows.kinds(), _polynomials(rows.x[:, problem.columns])):
        y = kind.target / kind.error
        if not np.isfinite(terms).all() or not np.isfinite(y @ y):
            continue
        r, spread = _robust_polynomial(terms, y)
        score = _misfit(r, spread) + kind.offset + terms.shape[1] * np.log(len(r))
        if score < best:
            half = np.abs(r) > FAR / 2 * spread
            best, far = score, np.abs(r) > FAR * spread
            if half.sum() > 2 * far.sum() or far.mean() > SUSPICIOUS:
                far = np.zeros(len(far), bool)
    x = rows.x[:, problem.columns]
    if gathered(far, x):
        low, high = np.quantile(x, [INNER, 1 - INNER], axis=0)
        inner = ((x >= low) & (x <= high)).all(1)
        if far[inner].sum() < max(2, COMMON * inner.sum()):
            return np.zeros(len(far), bool)
    return far


def _polynomials(x: Array) -> Iterator[Array]:
    """Yield the terms of a polynomial of the columns, and of their logarithms where they are positive."""
    positive = (x > 0).all(0)
    for columns in (x, np.where(positive, np.log(np.where(positive, x, 1.0)), x)):
        z = columns / np.abs(columns).max(0)
        z = (z - z.mean(0)) / z.std(0)
        linear = [np.ones(len(z)), *z.T]
        squares = [a * a for a in z.T]
        products = [a * b for a, b in itertools.combinations(z.T, 2)]
        sizes = ([*linear, *squares, *products], [*linear, *squares], linear)
        yield np.stack(next((t for t in sizes if len(t) * ROWS_PER_TERM <= len(z)), linear), 1)


def _robust_polynomial(terms: Array, y: Array) -> tuple[Array, float]:
    """Fit a polynomial to most rows; return its residuals and their spread."""
    weight, r, spread = np.ones(len(y)), y, np.inf
    for n in range(ABSOLUTE + BOUNDED):
        found = np.linalg.lstsq(terms * weight[:, None], y * weight, rcond=1e-10)[0]
        r = y - terms @ found
        spread = max(1.4826 * float(np.median(np.abs(r))), ROUNDING * float(np.median(np.abs(y))), 1e-300)
        spread *= np.sqrt(len(y) / max(len(y) - terms.shape[1], 1))
        near = np.abs(r) / spread
        weight = (
            1 / np.sqrt(np.maximum(near, 1e-3)) if n < ABSOLUTE else np.maximum(1 - (near / BOUND) ** 2, 0)
        )
    return r, spread


def _has_far(r: Array, rows: Observations) -> bool:
    return bool(np.abs(r).max() > FAR * _spread(r, rows))


def _first_look(law: Fitted) -> float:
    """Return the robust score of a law as it was fitted, up to a factor."""
    rows = law.rows
    with np.errstate(all="ignore"):
        factor = np.median(rows.y / law.value)
        r = (
            np.log(rows.y / (factor * law.value))
            if rows.noise == NoiseKind.RELATIVE
            else rows.y - factor * law.value
        )
    spread = _spread(r / rows.error, rows)
    return _misfit(r / rows.error, spread) + rows.offset + price(law.node, law.free, rows)


def _robust(law: Fitted) -> tuple[Array, float]:
    """Fit a law with weights that fall with the distance of a row; return its residuals and their spread."""
    rows, node = law.rows, law.node
    r = rows.residual(node)
    for _ in range(ROUNDS):
        spread = _spread(r, rows)
        if not np.isfinite(r).all() or not law.count:
            break
        error = rows.error * np.sqrt(1 + (r / (2 * spread)) ** 2)
        node = fit(node, replace(rows, error=error), law.free, law.stage, steps=4).node
        r = rows.residual(node)
    return r, _spread(r, rows)


def _misfit(r: Array, spread: float) -> float:
    """Return -2 log likelihood of residuals; a row that is far off counts as one at the limit."""
    return float(len(r) * 2 * np.log(spread) + np.sum(np.minimum(np.abs(r) / spread, FAR) ** 2))


def _spread(r: Array, rows: Observations) -> float:
    least = ROUNDING * float(np.median(np.abs(rows.target / rows.error)))
    return max(1.4826 * float(np.median(np.abs(r))), least, 1e-300) if np.isfinite(r).all() else np.inf
