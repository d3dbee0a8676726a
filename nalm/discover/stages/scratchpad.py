"""A search among scratch columns: one Gram matrix gives the error of every column and every pair."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.law.expression import Array, Node, Power, Sum, evaluate
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve
from nalm.discover.stages.columns import Columns
from nalm.discover.stages.weights import weights

WIDEST = 12  # inputs kept for one operation
DEEPEST = 6  # inputs kept for two
ROWS = 240
POWERS = {"y": 1.0, "log": 0.0, "1/y": -1.0, "y^2": 2.0}  # of y; 0 stands for the logarithm
SINGLES, PAIRS, GROWN = 8, 10, 4  # how many of the best are looked at


def scratchpad(problem: Problem) -> Iterator[Node]:
    """Propose sums and products of powers of inputs and scratch columns, one over a sum, and the root of a sum.

    The target (y, 1/y, y squared or log|y|) and all columns lose what the inputs explain. Then one Gram
    matrix gives the error of every column and of every pair in closed form, and the best are fitted.
    """
    return _propose(problem, WIDEST, deep=False)


def deep_scratchpad(problem: Problem) -> Iterator[Node]:
    """Propose the same with a second level of columns: an operation on an input and a scratch column."""
    return _propose(problem, DEEPEST, deep=True)


def _propose(problem: Problem, widest: int, deep: bool) -> Iterator[Node]:
    kept = sorted(relevant(problem)[:widest])
    if not kept or len(problem.y) < len(kept) + 6:
        return
    inputs = Columns.inputs(problem.x[:ROWS], kept)
    pad = inputs.single().joined(inputs.paired())
    problem.check()
    if deep:
        pad = pad.joined(inputs.paired(pad))
    for target in ("y", "log", "1/y", "y^2"):
        problem.check()
        yield from matched(target, inputs, pad, problem)


def matched(target: str, inputs: Columns, pad: Columns, problem: Problem) -> Iterator[Node]:
    """Yield the candidates of one target, nearest first: chosen on some rows, fitted on all."""
    y, logs = problem.y, target == "log"
    if (target in ("log", "1/y") and (y == 0).any()) or (target == "y^2" and (y <= 0).any()):
        return
    t = np.log(np.abs(y)) if logs else y ** POWERS[target]
    if logs:  # columns with a zero have no logarithm
        whole = np.array([evaluate(n, problem.x).all() for n in inputs.nodes], bool)
        inputs = inputs.at(np.flatnonzero(whole).tolist())
        pad = pad.at(np.flatnonzero((pad.values != 0).all(0)).tolist())
    if not pad.nodes:
        return
    base, columns = (np.log(np.abs(c.values)) if logs else c.values for c in (inputs, pad))
    near = 300 * problem.roundoff if problem.noise == 0 else None
    few = slice(len(base))
    for weight in weights(problem, POWERS[target]):
        for places in _best(base, columns, t[few], weight[few], near):
            problem.check()
            nodes = (*inputs.nodes, *(pad.node(i) for i in places))
            yield from _candidates(target, nodes, t * weight, weight, problem)


def _best(base: Array, columns: Array, t: Array, weight: Array, near: float | None) -> list[list[int]]:
    """Return the columns, pairs and larger sets with the smallest residual: at most about ``near``, if given."""
    basis, _ = np.linalg.qr(np.column_stack([np.ones(len(t)), base]) * weight[:, None])
    size = np.sqrt((columns**2).mean(0))
    columns, t = columns / size * weight[:, None], t * weight
    before = np.sqrt((columns**2).sum(0))
    columns, t = columns - basis @ (basis.T @ columns), t - basis @ (basis.T @ t)
    norm = np.sqrt((columns**2).sum(0))
    live = np.flatnonzero(norm > 1e-7 * before)
    total = float(t @ t)
    if not len(live) or not total > 0:
        return []
    columns = columns[:, live] / norm[live]
    gains = (columns.T @ t) ** 2 / total
    singles = np.argsort(-gains)[: max(SINGLES, 300)]
    found = [([int(i)], 1 - gains[i]) for i in singles[:SINGLES]]
    pairs = _pairs(columns[:, singles], t, total)
    found += [([int(singles[i]), int(singles[j])], left) for i, j, left in pairs]
    if min(left for _, left in found) > 1e-9:
        for i, j, _ in pairs[:GROWN]:
            found += _grown([int(singles[i]), int(singles[j])], columns, t, total)
    found.sort(key=lambda f: (f[1] > 1e-9, f[1] if f[1] > 1e-9 else len(f[0])))
    most = 0.3 if near is None else max(1e-12, near**2 * len(t) / total)
    return [[int(live[i]) for i in places] for places, left in found if left < most][: SINGLES + PAIRS]


def _pairs(columns: Array, t: Array, total: float) -> list[tuple[int, int, float]]:
    """Return the pairs with the smallest residual, from the 2 x 2 normal equations of unit columns."""
    gram, against = columns.T @ columns, columns.T @ t
    i, j = np.triu_indices(len(against), 1)
    c = gram[i, j]
    p, q = against[i], against[j]
    with np.errstate(all="ignore"):
        gain = (p * p - 2 * c * p * q + q * q) / np.maximum(1 - c * c, 1e-12) / total
    gain = np.where(1 - c * c > 1e-10, gain, 0.0)
    best = np.argsort(-gain)[:PAIRS]
    return [(int(i[k]), int(j[k]), float(1 - gain[k])) for k in best]


def _grown(start: list[int], columns: Array, t: Array, total: float) -> list[tuple[list[int], float]]:
    """Extend a pair by a third and a fourth column, each the one with the smallest residual."""
    places, found = list(start), []
    for _ in range(2):
        basis, _ = np.linalg.qr(columns[:, places])
        rest = t - basis @ (basis.T @ t)
        others = columns - basis @ (basis.T @ columns)
        norm = np.sqrt((others**2).sum(0))
        gain = np.where(norm > 1e-5, (others.T @ rest) ** 2 / np.maximum(norm, 1e-12) ** 2, 0.0)
        places = [*places, int(np.argmax(gain))]
        found.append((places, float((rest @ rest - gain.max()) / total)))
    return found


def _candidates(
    target: str, nodes: tuple[Node, ...], t: Array, weight: Array, problem: Problem
) -> Iterator[Node]:
    """Solve the last layer on all rows: without a constant, then with one."""
    values = np.stack([evaluate(n, problem.x) for n in nodes], 1)
    values = np.log(np.abs(values)) if target == "log" else values
    if not np.isfinite(values).all():
        return
    for constant in (False, True):
        terms = np.column_stack([values, np.ones(len(t))]) if constant else values
        w = solve(terms * weight[:, None], t)
        weights, last = tuple(w[: len(nodes)]), float(w[-1]) if constant else 0.0
        if target == "log":
            yield Power(nodes, weights, float(np.exp(np.clip(last, -700, 700))))
        else:
            plain = Sum(nodes, weights, last)
            yield plain if target == "y" else Power((plain,), (-1.0 if target == "1/y" else 0.5,))


def relevant(problem: Problem) -> list[int]:
    """Rank the columns by how much y depends on them: by ranks, by size and sign, alone and in pairs."""
    x, y = problem.x[:, problem.columns], problem.y
    n = len(y)
    ranks = np.argsort(np.argsort(y)) / n - 0.5
    sizes = np.argsort(np.argsort(np.abs(y))) / n - 0.5
    targets = np.stack([ranks, sizes, np.sign(y) - np.sign(y).mean()], 1)
    targets = targets / np.maximum(targets.std(0), 1e-12)
    z = (np.argsort(np.argsort(x, 0), 0) / n - 0.5) * np.sqrt(12)
    large = (np.abs(x) > np.median(np.abs(x), 0)) - 0.5
    alone = [np.abs(f.T @ targets).max(1) / np.sqrt(n) for f in (z, large * 2, np.abs(z) - 0.87, np.sign(x))]
    together = [np.abs((z * targets[:, [k]]).T @ z) / np.sqrt(n) for k in range(3)]
    score = np.max([*alone, *(m.max(1) for m in together)], 0) if n else np.zeros(x.shape[1])
    return [problem.columns[i] for i in np.argsort(-score)]
