"""Snapping: from fitted numbers to formulas, with integer weights and half exponents first, then known numbers."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nalm.discover.fit.least_squares import refined, tangent
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import (
    Array,
    Function,
    Input,
    Mask,
    Node,
    Power,
    Sum,
    bounded,
    evaluate,
    numbers,
    parts,
    powered,
    renumbered,
    roles,
    scalar_power,
    used,
    weighted,
    with_parts,
)
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem

SIGMAS = 6.0  # a number within so many standard errors of a simple one may be that one,
LOOSE = 1e-11  # or within this share of itself: rounding in functions is not independent from row to row


def snapped(candidate: Node, problem: Problem) -> Iterator[Node]:
    """Yield laws that a candidate may stand for, the simplest first; the certificate decides."""
    if not np.isfinite(numbers(candidate)).all():
        return
    coarse = rounded(candidate)
    if (used(coarse) or problem.y_is_constant) and np.isfinite(numbers(coarse)).all():
        yield scaled(coarse, problem)
    if residual(candidate, problem) < problem.near:
        yield from _refined(candidate, problem)


def rounded(node: Node) -> Node:
    """Round weights and biases to integers and exponents to halves; set the outermost coefficient to 1."""
    values = []
    for role, v in zip(roles(node), numbers(node), strict=True):
        half = role == "exponent"
        values.append(_known(v) if role == "coefficient" else round(2 * v) / 2 if half else float(round(v)))
    plain = tidied(renumbered(node, values))
    return replace(plain, coefficient=1.0) if isinstance(plain, Power) else plain


def _known(value: float) -> float:
    """Return the simple number next to a coefficient, or the coefficient."""
    near = None if abs(value) == 1 else recognised(value, LOOSE * abs(value))
    return value if near is None else near


def scaled(node: Node, problem: Problem) -> Node:
    """Multiply a law by the number that fits y: 1 or -1 when near, else the recognised number."""
    value = evaluate(node, problem.x[:256])
    with np.errstate(all="ignore"):
        ratio = problem.y[:256] / value
    ratio = ratio[np.isfinite(ratio) & (ratio != 0)]
    if not len(ratio):
        return node
    c = float(np.median(ratio))
    if abs(abs(c) - 1) < 0.01:
        c = float(np.sign(c))
    else:
        spread = float(np.median(np.abs(ratio - c)))
        if spread > 1e-3 * abs(c):
            return node
        near = recognised(c, 4 * spread + 1000 * problem.roundoff * abs(c))
        c = c if near is None or near == 0 else near
    return times(node, c)


def times(node: Node, c: float) -> Node:
    """Multiply an expression by a number."""
    match node:
        case Sum(terms, weights, bias) if abs(c) == 1 or len(terms) < 2:
            return weighted(terms, [c * w for w in weights], c * bias)
        case Power(factors, exponents, coefficient):
            return powered(factors, exponents, c * coefficient)
        case _:
            return (
                node if c == 1 else Power((node,), (1.0,), c) if isinstance(node, Sum) else Sum((node,), (c,))
            )


def residual(node: Node, problem: Problem) -> float:
    """Return the median of |y - law| over the spread of y on the rows searched."""
    with np.errstate(all="ignore"):
        r = np.abs(problem.y - evaluate(node, problem.x))
    spread = float(np.std(problem.y)) or float(np.abs(problem.y).max()) or 1.0
    return float(np.median(r)) / spread if np.isfinite(r).all() else np.inf


def _refined(candidate: Node, problem: Problem) -> Iterator[Node]:
    """Fit the numbers to rounding and drop small ones; yield the law with recognised numbers, then as it is."""
    node = gauged(tidied(candidate))
    for _ in range(4):  # dropping terms sharpens the rest
        node, errors = polished(node, problem)
        values = np.array(numbers(node))
        small = (np.abs(values) <= SIGMAS * errors) | unfelt(node, problem)
        small &= np.array([r != "coefficient" for r in roles(node)], bool)
        if not small.any():
            break
        values[small] = 0.0
        node = gauged(tidied(renumbered(node, values)))
    if not used(node) and not problem.y_is_constant:
        return
    before = None
    for loose in (0.0, LOOSE):
        simple = values.copy()
        known = ~movable(node, problem.x)
        for i in np.flatnonzero(~known):
            near = recognised(values[i], max(SIGMAS * errors[i], loose * abs(values[i])))
            if near is not None and near != 0:
                simple[i], known[i] = near, True
        if known.any() and (before is None or (known != before).any()):
            plain, _ = polished(renumbered(node, simple), problem, ~known)
            yield tidied(whole(plain))
        before = known
    yield node


def unfelt(node: Node, problem: Problem) -> Mask:
    """Return which numbers could be 0 without a change of any row by more than its rounding."""
    _, error = bounded(node, problem.x, problem.roundoff)
    _, slopes = tangent(node, problem.x)
    with np.errstate(all="ignore"):
        moved = np.abs(slopes * numbers(node)) / (error + problem.roundoff * np.abs(problem.y))[:, None]
    return np.nan_to_num(moved, nan=0.0).max(0, initial=0.0) < 1


def polished(node: Node, problem: Problem, free: Mask | None = None) -> tuple[Node, Array]:
    """Fit the free numbers by Gauss-Newton, with rows weighted by their rounding error."""
    _, error = bounded(node, problem.x, problem.roundoff)
    with np.errstate(all="ignore"):
        weight = 1 / (error + problem.roundoff * np.abs(problem.y))
    weight = np.where(np.isfinite(weight), weight, 0.0)
    free = movable(node, problem.x) if free is None else free
    node, errors = refined(node, problem.x, problem.y, weight, free=free, check=problem.check)
    return node, np.maximum(errors, 2 * problem.roundoff * np.abs(numbers(node)) * free)


def gauged(node: Node) -> Node:
    """Scale sums inside products to a leading weight of 1; the coefficient of the product takes the scale.

    The same for logarithms inside sums, where the bias takes it.
    """
    node = with_parts(node, [gauged(p) for p in parts(node)])
    if isinstance(node, Sum):
        return _gauged_logarithms(node)
    if not isinstance(node, Power):
        return node
    inner: list[Node] = []
    coefficient = node.coefficient
    for f, p in zip(node.factors, node.exponents, strict=True):
        if isinstance(f, Sum) and f.weights:
            lead = max(f.weights, key=abs)
            lead = lead if float(p).is_integer() else abs(lead)
            f = Sum(f.terms, tuple(w / lead for w in f.weights), f.bias / lead)
            coefficient *= scalar_power(lead, p)
        inner.append(f)
    return Power(tuple(inner), node.exponents, coefficient)


def _gauged_logarithms(node: Sum) -> Sum:
    terms, bias = list(node.terms), node.bias
    for k, (term, weight) in enumerate(zip(node.terms, node.weights, strict=True)):
        match term:
            case Function("log", Sum(inner, weights, offset)) if weights:
                lead = max(map(abs, weights))
                terms[k] = Function("log", Sum(inner, tuple(w / lead for w in weights), offset / lead))
            case Function("log", Power(factors, exponents, lead)) if lead > 0:
                terms[k] = Function("log", powered(factors, exponents))
            case _:
                continue
        bias += weight * float(np.log(lead))
    return Sum(tuple(terms), node.weights, bias)


def whole(node: Node) -> Node:
    """Scale sums inside products to integer weights, where their smallest weight divides the others."""
    node = with_parts(node, [whole(p) for p in parts(node)])
    if not isinstance(node, Power):
        return node
    inner: list[Node] = []
    coefficient = node.coefficient
    for f, p in zip(node.factors, node.exponents, strict=True):
        if isinstance(f, Sum) and f.weights:
            least = min((abs(v) for v in (*f.weights, f.bias) if v), default=1.0)
            quotients = [v / least for v in (*f.weights, f.bias)]
            if all(abs(q - round(q)) <= 1e-12 * abs(q) for q in quotients):
                f = Sum(f.terms, tuple(map(_rounded, quotients[:-1])), _rounded(quotients[-1]))
                coefficient *= scalar_power(least, p)
        inner.append(f)
    return Power(tuple(inner), node.exponents, coefficient)


def _rounded(value: float) -> float:
    return float(round(value))


def movable(node: Node, x: Array, inside: str = "") -> Mask:
    """Return which numbers a fit may change: no leading weight, inner coefficient, or power of negative numbers.

    The power of an exponential does not move either: its rate does.
    """
    match node:
        case Input():
            return np.empty(0, bool)
        case Sum(terms, weights, bias):
            own = [True] * (len(weights) + bool(bias))
            if inside == "power" and weights:
                own[int(np.argmax(np.abs(weights)))] = False
            return np.concatenate([np.array(own, bool), *(movable(t, x, "sum") for t in terms)])
        case Power(factors):
            own = [not _exponential(f) and bool((evaluate(f, x) > 0).all()) for f in factors]
            own.append(not inside)
            return np.concatenate([np.array(own, bool), *(movable(f, x, "power") for f in factors)])
        case Function(name, argument):  # numbers inside are as free as those of a law, but for a gauge
            return movable(argument, x, "power" if name == "log" and inside == "sum" else "")


def _exponential(node: Node) -> bool:
    return isinstance(node, Function) and node.name == "exp"
