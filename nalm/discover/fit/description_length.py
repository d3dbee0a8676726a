"""Laws under noise: the shortest description of the data wins, and every number is refitted to y."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.fit.least_squares import refined
from nalm.discover.fit.snap import gauged, movable
from nalm.discover.law.expression import Array, Mask, Node, evaluate, numbers, renumbered, roles, size, used
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem

FLOOR = 1e-26  # share of the variance of y that rounding leaves even of a perfect fit
FREE, NICE, SYMBOL = 1.5, 0.5, 0.3  # the price of a number, of a nice one, and of a symbol, in log n
NICE_NUMBERS = (-3.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 3.0)
CARRIED_OUT = 4  # of the moves whose cost is estimated
REFUSED = 4  # faint terms in a row that are needed: then no further one is tried
CLEARLY = 3.0  # standard errors; a term with fewer is dropped at once


def description_length(node: Node, problem: Problem) -> float:
    """Return the misfit plus the price of the law, in nats; infinite where the law has no value."""
    r = problem.y - evaluate(node, problem.x)
    share = float(np.mean(r**2)) / (float(np.var(problem.y)) or 1.0)
    return length(node, share, len(r)) if np.isfinite(share) else np.inf


def length(node: Node, share: float, n: int) -> float:
    r"""Return the description length of a law that leaves a share of the variance of n rows.

    .. math:: n \log(\mathrm{share}) + \log n \, (1.5\,\mathrm{free} + 0.5\,\mathrm{nice} + 0.3\,\mathrm{symbols})
    """
    pairs = zip(numbers(node), roles(node), strict=True)
    nice = [is_nice(v, role) for v, role in pairs if role != "coefficient" or v != 1]
    price = FREE * nice.count(False) + NICE * nice.count(True) + SYMBOL * size(node)
    return float(n * np.log(share + FLOOR) + np.log(n) * price)


def is_nice(value: float, role: str) -> bool:
    """Return whether a number is a half-integer exponent, or a small integer or half elsewhere."""
    return float(2 * value).is_integer() if role == "exponent" else value in NICE_NUMBERS


def refitted(node: Node, problem: Problem, free: Mask | None = None, steps: int = 8) -> tuple[Node, Array]:
    """Fit the free numbers to y by least squares."""
    free = movable(node, problem.x) if free is None else free
    ones = np.ones(len(problem.y))
    return refined(node, problem.x, problem.y, ones, free=free, steps=steps, check=problem.check)


def simplified(candidate: Node, problem: Problem) -> Node:
    """Delete or round one number after another, the others refitted, while the description gets shorter."""
    node = candidate
    length = description_length(node, problem)
    for _ in range(40):
        problem.check()
        moves = [(description_length(n, problem), n) for n in _moves(node, problem)]
        best = min(moves, key=lambda m: m[0], default=(np.inf, node))
        if not best[0] < length:
            break
        length, node = best
    return node


def pruned(node: Node, problem: Problem) -> Node:
    """Drop the terms that are clearly noise: several at once while there are many, then one by one.

    Half-integer exponents stay. Terms that together are more than noise are not dropped together: many terms that
    are alike have large standard errors, all of them.
    """
    node, errors = refitted(node, problem, _loose(node, problem))
    most, refused = len(errors), set[int]()  # numbers that are faint and still needed
    for _ in range(40):
        problem.check()
        values = np.array(numbers(node))
        faint = np.abs(values) / np.maximum(errors, 1e-300)
        kept = np.array([r == "coefficient" for r in roles(node)], bool) | ~_loose(node, problem)
        faint[kept] = np.inf
        faint[list(refused)] = np.inf
        small = np.argsort(faint)[: int((faint < CLEARLY).sum())]
        count = min(most, 1 if len(small) <= 4 else -(-len(small) // 2))
        if not len(small) or len(refused) == REFUSED:
            break
        values[small[:count]] = 0.0
        fewer = gauged(tidied(renumbered(node, values)))
        if not used(fewer):
            break
        fewer, fewer_errors = refitted(fewer, problem, _loose(fewer, problem))
        if _misfit(fewer, problem) - _misfit(node, problem) > FREE * np.log(len(problem.y)) * count:
            if problem.noise == 0:  # nothing is noise
                break
            most = max(1, count // 2)
            refused |= {int(small[0])} if count == 1 else set()
            continue
        node, errors, refused = fewer, fewer_errors, set()
    return node


def _loose(node: Node, problem: Problem) -> Mask:
    """Return the numbers that may move, but for half-integer exponents."""
    powers = [is_nice(v, k) and k == "exponent" for v, k in zip(numbers(node), roles(node), strict=True)]
    return movable(node, problem.x) & ~np.array(powers, bool)


def _misfit(node: Node, problem: Problem) -> float:
    """Return -2 log likelihood of the rows searched, up to a number; infinite without a value."""
    square = float(np.mean((problem.y - evaluate(node, problem.x)) ** 2))
    return len(problem.y) * float(np.log(square + 1e-300)) if np.isfinite(square) else np.inf


def _moves(node: Node, problem: Problem) -> Iterator[Node]:
    """Yield the law with one number deleted or made nice, or several at once, and the others refitted.

    The cost of a move is estimated from the number's standard error (Wald); the best few are carried out.
    """
    values, kinds = np.array(numbers(node)), roles(node)
    free = _unsettled(node, problem)
    _, errors = refitted(node, problem, free, steps=1)
    step = np.where([k == "exponent" for k in kinds], 2.0, 1.0)
    whole = np.round(step * values) / step
    scale = np.array([k == "coefficient" for k in kinds], bool)  # a product without one is no product
    near = free & ~(scale & (whole == 0)) & (np.abs(whole - values) < CLEARLY * errors)
    if near.sum() > 1:
        yield _settled(node, np.where(near, whole, values), problem)
    foreseen: list[tuple[float, int, float]] = []
    n = len(problem.y)
    for i in np.flatnonzero(free & (errors > 0)):
        for option in {0.0, float(whole[i]), float(np.sign(values[i])) * 0.5}:
            if (option == 0 and not scale[i]) or is_nice(option, kinds[i]):
                saved = FREE if option == 0 else FREE - NICE
                misfit = n * np.log1p(((option - values[i]) / errors[i]) ** 2 / n)
                foreseen.append((misfit - np.log(n) * saved, int(i), option))
    for _, place, option in sorted(foreseen)[:CARRIED_OUT]:
        trial = values.copy()
        trial[place] = option
        yield _settled(node, trial, problem)


def _unsettled(node: Node, problem: Problem) -> Mask:
    """Return the numbers that may move and are not nice yet."""
    nice = [is_nice(v, k) for v, k in zip(numbers(node), roles(node), strict=True)]
    return movable(node, problem.x) & ~np.array(nice, bool)


def _settled(node: Node, values: Array, problem: Problem) -> Node:
    """Set these numbers, drop the zeros, and refit the numbers that are not nice."""
    node = gauged(tidied(renumbered(node, values.tolist())))
    return refitted(node, problem, _unsettled(node, problem))[0]


def shortened(node: Node, problem: Problem) -> Node:
    """Round numbers to a tenth of their standard error: the data do not determine further digits."""
    free = movable(node, problem.x)
    _, errors = refitted(node, problem, free)
    values = numbers(node)
    for i in np.flatnonzero(free & (errors > 0)):
        if values[i] and not is_nice(values[i], "weight"):
            digits = 1 + max(0, int(np.floor(np.log10(abs(values[i]))) - np.floor(np.log10(errors[i] / 10))))
            values[i] = float(f"{values[i]:.{min(digits, 17) - 1}e}")
    return renumbered(node, values)
