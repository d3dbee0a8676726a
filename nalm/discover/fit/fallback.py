"""The answer where nothing is certified: the candidate that predicts held-out rows best and does not explode."""

from collections.abc import Iterator, Sequence

import numpy as np

from nalm.discover.fit.least_squares import refined
from nalm.discover.fit.snap import movable
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, evaluate, size
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem

SYMBOLS = 60  # the largest candidate that is handed over, or that of a line if it is larger
BEYOND = 1.0  # spans of y that a prediction on shuffled columns may lie outside of y
CANCELLED = 100.0  # times that the terms of a sum may be larger than the sum, on most rows
RIDGES = np.logspace(-8, 2, 21)  # times the number of rows, on columns of spread 1
ROWS = 20_000  # of a last fit


def linear(x: Array, y: Array, columns: Sequence[int]) -> Node:
    """Fit a line by ridge regression; how strong, generalised cross-validation decides."""
    if not len(columns):
        return Sum((), (), float(np.mean(y)))
    middle, spread = x[:, columns].mean(0), x[:, columns].std(0)
    spread = np.where(spread > 0, spread, 1.0)
    left, singular, right = np.linalg.svd((x[:, columns] - middle) / spread, full_matrices=False)
    n, level = len(y), float(np.mean(y))
    onto = left.T @ (y - level)
    rest = max(float(np.sum((y - level) ** 2) - np.sum(onto**2)), 0.0)
    costs, fits = [], []
    for ridge in RIDGES * n:
        kept = singular**2 / (singular**2 + ridge)
        spent = n - 1 - kept.sum()
        costs.append(
            (rest + np.sum(((1 - kept) * onto) ** 2)) / max(spent, 1e-9) ** 2 if spent > 0 else np.inf
        )
        fits.append(right.T @ (singular / (singular**2 + ridge) * onto) / spread)
    w = fits[int(np.argmin(costs))]
    return tidied(Sum(tuple(map(Input, columns)), tuple(w), float(level - middle @ w)))


def log_linear(x: Array, y: Array, columns: Sequence[int]) -> Node | None:
    """Fit a product of powers of the positive columns by least squares between logarithms, if y has one sign."""
    positive = [i for i in columns if (x[:, i] > 0).all()]
    if not positive or not ((y > 0).all() or (y < 0).all()):
        return None
    logs = np.log(x[:, positive])
    line = linear(logs, np.log(np.abs(y)), range(len(positive)))
    assert isinstance(line, Sum)
    places = {t.index: w for t, w in zip(line.terms, line.weights, strict=True) if isinstance(t, Input)}
    factors = tuple(Input(positive[i]) for i in places)
    return Power(
        factors, tuple(places.values()), float(np.sign(y[0]) * np.exp(np.clip(line.bias, -700, 700)))
    )


def simple_fits(x: Array, y: Array, columns: Sequence[int]) -> Iterator[tuple[Node, str]]:
    """Yield the fits that any regression has: a line and, where logarithms exist, a product of powers."""
    yield linear(x, y, columns), "linear"
    found = log_linear(x, y, columns)
    if found is not None:
        yield found, "log-linear"


def steady(node: Node, problem: Problem) -> bool:
    """Return whether a law stays near y on all rows, also with shuffled columns, and no sum in it cancels."""
    rng = np.random.default_rng(0)
    x, y = np.concatenate([problem.x, problem.held_x]), np.concatenate([problem.y, problem.held_y])
    value = evaluate(node, x)
    if not np.isfinite(value).all() or _cancels(node, x):
        return False
    shuffled = np.stack([rng.permutation(column) for column in x.T], 1)
    other = evaluate(node, shuffled)
    span = float(np.ptp(y))
    return bool(
        np.isfinite(other).all()
        and other.max() <= y.max() + BEYOND * span
        and other.min() >= y.min() - BEYOND * span
    )


def _cancels(node: Node, x: Array) -> bool:
    """Return whether a sum in the law is, on most rows, a small difference of large terms."""
    match node:
        case Sum(terms, weights, bias):
            parts = [w * evaluate(t, x) for t, w in zip(terms, weights, strict=True)]
            total = np.abs(bias + sum(parts, np.zeros(len(x))))
            large = np.abs(bias) + sum((np.abs(p) for p in parts), np.zeros(len(x)))
            return bool(np.median(large) > CANCELLED * np.median(total)) or any(_cancels(t, x) for t in terms)
        case Power(factors):
            return any(_cancels(f, x) for f in factors)
    return False


def chosen(candidates: Sequence[tuple[Node, str]], problem: Problem) -> tuple[Node, str]:
    """Return the first candidate that predicts held-out rows as well as the best one, fitted again on all rows.

    As well means within a standard error of the difference. Candidates that are too large, cancel or explode are
    left out; a line and a product of powers stand at the end, so that nothing worse than them is returned.
    """
    simple = list(simple_fits(problem.x, problem.y, problem.columns))
    most = max(SYMBOLS, *(size(n) for n, _ in simple))
    sound = [(n, s) for n, s in candidates if size(n) <= most and steady(n, problem)] + simple
    errors = [(problem.held_y - evaluate(n, problem.held_x)) ** 2 for n, _ in sound]
    means = [float(np.mean(e)) if np.isfinite(e).all() else np.inf for e in errors]
    best = errors[int(np.argmin(means))]
    as_good = (
        candidate
        for candidate, e, mean in zip(sound, errors, means, strict=True)
        if mean < np.inf and np.mean(e - best) <= np.std(e - best) / np.sqrt(len(e))
    )
    constant = Sum((), (), float(np.median(problem.y))), "constant"  # of numbers too large to square
    node, stage = next(as_good, constant)
    if (node, stage) not in simple:
        return _again(node, problem), stage
    again = {name: fit for fit, name in simple_fits(*_all_rows(problem), problem.columns)}
    return again.get(stage, node), stage


def _all_rows(problem: Problem) -> tuple[Array, Array]:
    x, y = np.concatenate([problem.x, problem.held_x]), np.concatenate([problem.y, problem.held_y])
    return x[:ROWS], y[:ROWS]


def _again(node: Node, problem: Problem) -> Node:
    """Fit the numbers again on all rows; keep them if the law would then explode or fit worse."""
    x, y = _all_rows(problem)
    better, _ = refined(node, x, y, np.ones(len(y)), free=movable(node, x), steps=4)
    before, after = (float(np.mean((y - evaluate(n, x)) ** 2)) for n in (node, better))
    return better if after < 0.99 * before and steady(better, problem) else node
