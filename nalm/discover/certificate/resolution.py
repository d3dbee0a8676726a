"""Resolution: tests whether the data could have shown another law; on a narrow range many laws fit to rounding."""

import numpy as np

from nalm.discover.certificate.levels import tested_by
from nalm.discover.certificate.lookalikes import has_look_alikes
from nalm.discover.fit.least_squares import tangent
from nalm.discover.fit.snap import gauged, movable
from nalm.discover.law.constants import is_plain, is_usual_power, recognised
from nalm.discover.law.expression import (
    Array,
    Function,
    Mask,
    Node,
    Power,
    Sum,
    bounded,
    evaluate,
    numbers,
    parts,
    renumbered,
    roles,
    used,
)
from nalm.discover.problem import Problem

SLACK = 16.0  # times the first-order bound of the rounding error
# Tolerances that a term missing from the law must reach on the rows to be visible:
VISIBLE = 8.0  # if all numbers of the law may adapt to it
VISIBLE_TO_FITTED = (
    100.0  # if only its fitted numbers may; a number is fitted unless it is plain, such as 2 or 3/4
)
FEW_FITTED = 3  # up to this price of the fitted numbers
DEARER = 10.0  # and so many times as much for each further one, since many numbers fit any smooth curve
DIGITS = 30.0  # tolerances by which the digits of a fitted number after its second must change the rows
FEW_COLUMNS = 4  # columns of a law for which a polynomial is tried in its place
SCALE = 100.0  # a plain number above it, or below one over it, sets a scale: it is treated as a fitted one
# Two fitted numbers this near to numbers of two digits are a plain law, bent by something small that is missing.
NEAR_TWO_DIGITS = 1e-4
# The same holds for one fitted number this near to a plain number, and not equal to it.
NEAR_PLAIN = 1e-6
# (a^p - 1) / p with p near 0 is a logarithm, not a law: its terms are so many times larger than their sum.
CANCELLED = 1e4


def tolerance(node: Node, x: Array, y: Array, roundoff: float) -> Array:
    """Return how far y may be from the law on each row."""
    _, error = bounded(node, x, roundoff)
    return SLACK * (error + roundoff * np.abs(y))


def distinguishable(node: Node, problem: Problem) -> bool:
    """Return whether the data would have shown a law of another kind, or one with plainer numbers."""
    x, y = problem.sample
    fitted = np.array([not is_plain(v) for v in numbers(node)], bool)
    slopes = _slopes(node, x)
    allowed = tolerance(node, x, y, problem.roundoff)
    if _reach(slopes, _modulated(np.ones(len(y)), node, x, y), allowed) < VISIBLE:
        return False
    if has_look_alikes(node, x, lambda known, missing: _reach(known, missing, allowed) >= VISIBLE):
        return False
    if (fitted | _setting_scales(node) | _odd_powers(node)).any() and _may_go_on(node, x, y, allowed):
        return False
    if not fitted.any():
        return True
    if cancels(node, x) or _is_nearly_plain(node, fitted, slopes, allowed):
        return False
    return _shows_missing_terms(node, fitted, x, y, allowed)


def visible(price: int) -> float:
    """Return the tolerances that a missing term must reach for fitted numbers of this price; exponents cost two."""
    return VISIBLE_TO_FITTED * DEARER ** max(0, price - FEW_FITTED)


def _slopes(node: Node, x: Array) -> Array:
    """Return the derivatives of the law by its numbers on the rows."""
    return np.nan_to_num(tangent(node, x)[1], nan=0.0, posinf=0.0, neginf=0.0)


def _may_go_on(node: Node, x: Array, y: Array, allowed: Array) -> bool:
    """Return whether a further number might be hidden, or a series with as many numbers fits as well."""
    if next_effect(node, x, y, allowed) < VISIBLE_TO_FITTED:
        return True
    return _is_a_series(node, _effects(node, x).shape[1], x, y, allowed)


def _is_nearly_plain(node: Node, fitted: Mask, slopes: Array, allowed: Array) -> bool:
    """Return whether the digits of fitted numbers are not resolved, or too near to those of plain numbers."""
    values = np.array(numbers(node))
    plainer = _two_digits(values)
    if _felt((slopes * (values - plainer))[:, fitted], allowed) < DIGITS:
        return True
    near = np.abs(values - plainer) < NEAR_TWO_DIGITS * np.abs(values)
    return bool(near[fitted].sum() > 1) or any(map(_almost_plain, values[fitted]))


def _shows_missing_terms(node: Node, fitted: Mask, x: Array, y: Array, allowed: Array) -> bool:
    """Return whether a missing term would be visible, also one in proportion to y or to a part of the law."""
    values = np.array(numbers(node))
    price = int(fitted.sum() + (fitted & _bending(node)).sum())
    _, reach = hidden(node, fitted, x, y, allowed)
    if price > FEW_FITTED:  # what is missing may be no larger than what so many digits change in a plain law
        plainer = renumbered(node, np.where(fitted, _two_digits(values), values))
        change = evaluate(plainer, x) - evaluate(node, x)
        reach *= min(1.0, float(np.sqrt(np.nanmean(change**2) / np.mean(y**2))))
    return reach >= visible(price)


def _two_digits(values: Array) -> Array:
    return np.array([float(f"{v:.1e}") for v in values])


def cancels(node: Node, x: Array) -> bool:
    """Return whether a sum in the law is, on most rows, a small difference of large terms."""
    if any(cancels(part, x) for part in parts(node)):
        return True
    if not isinstance(node, Sum):
        return False
    terms = zip(node.terms, node.weights, strict=True)
    size = abs(node.bias) + sum(abs(w) * np.abs(evaluate(t, x)) for t, w in terms)
    with np.errstate(all="ignore"):
        return bool(np.median(size / np.abs(evaluate(node, x))) > CANCELLED)


def _almost_plain(value: float) -> bool:
    near = recognised(value, NEAR_PLAIN * abs(value))
    return near is not None and near != value and is_plain(near)


def _bending(node: Node, inside: bool = False) -> Mask:
    """Return which numbers bend a curve more than a weight does: exponents, and all inside a function."""
    inner = [_bending(part, inside or isinstance(node, Function)) for part in parts(node)]
    own = roles(node)[: len(roles(node)) - sum(map(len, inner))]
    return np.concatenate([np.array([inside or role == "exponent" for role in own], bool), *inner])


def _setting_scales(node: Node) -> Mask:
    """Return which numbers are far from 1, and no exponents: 1e-9 in x + 1e-9 x^3."""
    far = [abs(v) > SCALE or abs(v) < 1 / SCALE for v in numbers(node)]
    return np.array(far, bool) & np.array([role != "exponent" for role in roles(node)], bool)


def _odd_powers(node: Node) -> Mask:
    """Return which numbers are exponents that are no halves, thirds or quarters: 0.005 is plain, and no usual power."""
    pairs = zip(numbers(node), roles(node), strict=True)
    return np.array([role == "exponent" and not is_usual_power(v) for v, role in pairs], bool)


def _effects(node: Node, x: Array) -> Array:
    """Return what each number that a fit may change contributes to the rows, but 1, -1 and usual exponents."""
    node = gauged(node)
    pairs = zip(numbers(node), roles(node), strict=True)
    own = [abs(v) != 1 and (role != "exponent" or not is_usual_power(v)) for v, role in pairs]
    counted = movable(node, x) & np.array(own, bool)
    return np.asarray((_slopes(node, x) * numbers(node))[:, counted])


def next_effect(node: Node, x: Array, y: Array, allowed: Array) -> float:
    """Return the effect of one more number, in tolerances, if they fall once more as steeply as at the steepest.

    The effects are y and the singular values of what the numbers contribute to the rows. Those of a series that is cut
    off, or of a quotient that stands for one, fall until the next would drown: nothing shows that the law ends there.
    """
    effects = _effects(node, x)
    if not effects.shape[1]:
        return np.inf
    weight = 1 / np.where(allowed > 0, allowed, np.inf)
    table = effects * weight[:, None]
    whole = float(np.sqrt(np.sum((y * weight) ** 2)))
    if not np.isfinite(table).all() or table.shape[1] > len(y) or not whole > 0:
        return 0.0
    sizes = np.array([whole, *np.linalg.svd(table, compute_uv=False)])
    falls = sizes[1:] / np.maximum(sizes[:-1], 1e-300)
    return float(sizes[-1] * min(1.0, falls.min()) / np.sqrt(len(y)))


def _is_a_series(node: Node, count: int, x: Array, y: Array, allowed: Array) -> bool:
    """Return whether a polynomial of a column with so many numbers fits as well as a law that is none.

    It may stand beside the other columns, or be multiplied or divided by one of them.
    """
    columns = sorted(used(node))
    if _is_polynomial(node) or len(columns) > FEW_COLUMNS:
        return False
    for i in columns:
        z = x[:, i] / np.abs(x[:, i]).max()
        series = z[:, None] ** np.arange(count)
        others = [x[:, j] for j in columns if j != i]
        tables = [
            np.column_stack([series, *others]),
            *(series * v[:, None] ** s for v in others for s in (1, -1)),
        ]
        if any(
            _reach(table, y[:, None], allowed) < VISIBLE_TO_FITTED
            for table in tables
            if np.isfinite(table).all()
        ):
            return True
    return False


def _is_polynomial(node: Node) -> bool:
    """Return whether a law has neither functions nor exponents other than positive whole ones."""
    fine = not isinstance(node, Power) or all(p > 0 and float(p).is_integer() for p in node.exponents)
    return fine and not isinstance(node, Function) and all(map(_is_polynomial, parts(node)))


def _modulated(term: Array, node: Node, x: Array, y: Array) -> Array:
    """Return test terms that no law has: a term as large as y, times the sine of each input scaled to [-1, 1]."""
    columns = tested_by(node, x)
    size = np.sqrt(np.mean(term**2))
    scaled = term * (np.sqrt(np.mean(y**2)) / size if size > 0 else 0.0)
    return np.stack([scaled * c for c in columns], 1) if columns and size > 0 else np.empty((len(y), 0))


def _reach(slopes: Array, missing: Array, allowed: Array) -> float:
    """Return the smallest missing term, in tolerances, after the numbers have absorbed what they can."""
    if slopes.shape[1] >= len(allowed):
        return 0.0
    if not missing.shape[1]:
        return np.inf
    weight = (1 / np.where(allowed > 0, allowed, np.inf))[:, None]
    slopes, missing = slopes * weight, missing * weight
    if not np.isfinite(slopes).all():
        return 0.0
    scale = np.abs(slopes).max(0, initial=0.0)
    left, singular, _ = np.linalg.svd(slopes / np.where(scale > 0, scale, 1.0), full_matrices=False)
    basis = left[:, singular > 1e-12 * singular.max(initial=0.0)]
    missing = missing - basis @ (basis.T @ missing)
    return float(np.sqrt((missing**2).mean(0)).min())


def _felt(moved: Array, allowed: Array) -> float:
    """Return the smallest of these changes, in tolerances, each on the row where it is largest."""
    return float((np.abs(moved) / np.where(allowed > 0, allowed, np.inf)[:, None]).max(0).min())


def hidden(node: Node, fitted: Mask, x: Array, y: Array, allowed: Array) -> tuple[float, float]:
    """Return the smallest missing term, in tolerances, if all numbers adapt to it, and if only the fitted ones do.

    In the first case it stands beside the law; in the second it may as well be in proportion to y, or to what a fitted
    number multiplies.
    """
    slopes = _slopes(node, x)
    beside = _modulated(np.ones(len(y)), node, x, y)
    inside = [_modulated(s, node, x, y) for s in (y, *slopes[:, fitted].T[:8])]
    missing = np.concatenate([beside, *inside], 1)
    return _reach(slopes, beside, allowed), _reach(slopes[:, fitted], missing, allowed)
