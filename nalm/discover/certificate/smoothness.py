"""A flexible model of what a law leaves: if it predicts rows that it has not seen, that is no noise."""

import numpy as np
from scipy.spatial.distance import cdist

from nalm.discover.law.expression import Array, Node, evaluate, used
from nalm.discover.problem import Problem

ROWS = 300  # looked at
WIDEST = 8  # columns that one kernel takes together
LENGTHS, RIDGES = (0.4, 1.2), (1e-3, 0.1, 1.0)  # widths in spreads per root of a column; noise over signal
FLIPS = (99, 1900)  # random signs: first a few, then many if the first few are promising
SMOOTH = 0.5  # correlation of a residual without noise with its prediction
CLIP = 4.0  # robust spreads beyond which a residual is cut, so that no single row decides


def leftover(node: Node, problem: Problem) -> float:
    """Return the p-value that what the law leaves has nothing to do with the columns.

    A kernel regression predicts the residual of every row from the others. The correlation with the residual
    itself, the largest over a few kernels, is compared with that of residuals of random signs: noise that is
    symmetric, whatever its size on each row, gives both the same distribution.
    """
    x, r = _rows(node, problem)
    if len(r) < 20 or not problem.columns:
        return 1.0
    smoothers = _smoothers(x, node, problem)
    seen = float(_likeness(smoothers, r[:, None])[0])
    rng, above, drawn = np.random.default_rng(0), 0, 0
    for flips in FLIPS:
        signs = rng.choice([-1.0, 1.0], (len(r), flips))
        signed = signs * r[:, None]
        above += int(np.sum(_likeness(smoothers, signed - signed.mean(0)) >= seen))
        drawn += flips
        if above > 2:
            break
    return (1 + above) / (1 + drawn)


def mostly_noise(node: Node, problem: Problem) -> bool:
    """Return whether the law's residual on a row can hardly be predicted from those on the other rows."""
    x, r = _rows(node, problem)
    if len(r) < 20 or not problem.columns or not np.isfinite(r).all():
        return True
    return float(_likeness(_smoothers(x, node, problem), r[:, None])[0]) < SMOOTH


def _rows(node: Node, problem: Problem) -> tuple[Array, Array]:
    """Return rows, held-out ones first, and their residuals, over the size of the noise, with outliers cut."""
    x = np.concatenate([problem.held_x, problem.x])[:ROWS]
    y = np.concatenate([problem.held_y, problem.y])[:ROWS]
    searched, held = problem.sizes
    r = (y - evaluate(node, x)) / np.concatenate([held, searched])[:ROWS]
    r = r - np.median(r)
    spread = 1.4826 * float(np.median(np.abs(r))) or float(np.std(r)) or 1.0
    r = np.clip(r, -CLIP * spread, CLIP * spread)
    return x, r - r.mean()


def _smoothers(x: Array, node: Node, problem: Problem) -> list[Array]:
    """Return matrices that predict every row from the others: columns together, one by one, and those of the law."""
    inside = sorted(used(node))
    sets = [problem.columns] if len(problem.columns) <= WIDEST else []
    sets += [inside] if 0 < len(inside) <= WIDEST and inside != sorted(problem.columns) else []
    kernels = [_kernel(x[:, columns], width) for columns in sets for width in LENGTHS]
    one_by_one = [_kernel(x[:, [i]], LENGTHS[0]) for i in problem.columns]
    kernels.append(np.asarray(np.mean(one_by_one, axis=0)))
    return [_left_out(k, ridge) for k in kernels for ridge in RIDGES]


def _kernel(x: Array, width: float) -> Array:
    spread = x.std(0)
    z = (x - x.mean(0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.exp(-cdist(z, z, "sqeuclidean") / (2 * x.shape[1] * width**2)))


def _left_out(kernel: Array, ridge: float) -> Array:
    """Return the matrix that predicts every row by a kernel regression on the others (closed form)."""
    inverse = np.linalg.inv(kernel + ridge * np.eye(len(kernel)))
    scaled = inverse / np.diag(inverse)[:, None]
    return np.asarray(np.eye(len(kernel)) - scaled)


def _likeness(smoothers: list[Array], r: Array) -> Array:
    """Return for every column of r the largest correlation with its own prediction."""
    best = np.full(r.shape[1], -1.0)
    for s in smoothers:
        predicted = s @ r
        size = np.sqrt((predicted**2).sum(0) * (r**2).sum(0))
        best = np.maximum(best, (predicted * r).sum(0) / np.maximum(size, 1e-300))
    return best
