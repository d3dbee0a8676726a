"""Observations that are far off: found by a robust fit of the best laws, left out of the choice, and named."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from nalm.discover.law.expression import Array, Mask
from nalm.discover.selection.evidence import Fitted, fit, price
from nalm.discover.selection.rows import NoiseKind, Observations

TRIED = 12  # laws that are fitted robustly
ROUNDS = 8
FAR = 7.0  # robust spreads: hardly any row of noise is so far off
MOST = 0.1  # share of rows that may be far off
FEWEST = 15  # rows in which outliers are looked for
ROUNDING = 1e-9  # of y: a spread below is that of a law that holds on most rows


def far_rows(laws: Sequence[Fitted], check: Callable[[], None]) -> Mask:
    """Return which rows are far off from the law that fits most rows best; none if there are too many such rows."""
    best, far = np.inf, np.zeros(len(laws[0].rows) if laws else 0, bool)
    if len(far) < FEWEST or not _has_far(laws[0].rows.residual(laws[0].node), laws[0].rows):
        return far
    for law in sorted(laws, key=_first_look)[:TRIED]:
        check()
        r, spread = _robust(law)
        if not np.isfinite(spread):
            continue
        score = len(r) * 2 * np.log(spread) + law.rows.offset + price(law.node, law.free, law.rows)
        if score < best:
            best, far = score, np.abs(r) > FAR * spread
    return far if far.sum() <= MOST * len(far) else np.zeros(len(far), bool)


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
    return float(len(r) * 2 * np.log(spread) + rows.offset + price(law.node, law.free, rows))


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


def _spread(r: Array, rows: Observations) -> float:
    least = ROUNDING * float(np.median(np.abs(rows.target / rows.error)))
    return max(1.4826 * float(np.median(np.abs(r))), least, 1e-300) if np.isfinite(r).all() else np.inf
