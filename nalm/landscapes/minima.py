"""Minima of a surface that is the length of some residuals: seen on a grid, then polished."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.landscapes.grid import points
from nalm.landscapes.surface import Array, Kind, Minimum, Shape

Residuals = Callable[[Array], Array]  # points (n, 2) -> residuals (n, k)
Known = Mapping[tuple[float, float], Kind]  # weights that a paper names
Mask = npt.NDArray[np.bool_]

ZERO = 1e-8  # heights below it are none
SAME = 1e-6  # minima nearer than this are one
CORNER = 4  # grid points that a sign change at one point may touch; a valley touches more
FINE = 10  # points each way of the patch on which a minimum of the grid is looked at again
TRIES = 8  # points of a valley from which its bottom is sought


def heights(residuals: Residuals, x: Array, y: Array) -> Array:
    """Length of the residuals on a grid, (len(y), len(x))."""
    return np.asarray(np.linalg.norm(_on_grid(residuals, x, y), axis=-1))


def search(residuals: Residuals, x: Array, y: Array, known: Known) -> tuple[Minimum, ...]:
    """Minima in the window the grid spans, bounds included, polished to about 1e-8.

    A single residual is zero along curves, not at points: where it changes sign the grid shows a valley,
    which is represented by its point nearest to known weights. Any other minimum is a grid point, or a
    group of equal ones, that no neighbour undercuts, neither on the grid nor on a finer one around it.
    """
    r = _on_grid(residuals, x, y)
    z = np.where(np.isfinite(r).all(-1), np.linalg.norm(r, axis=-1), np.inf)
    crossed = _sign_changes(r[..., 0]) if r.shape[-1] == 1 else np.zeros(z.shape, bool)
    found: list[Minimum] = []

    def add(point: Array, height: float, shape: Shape) -> None:
        if all(np.hypot(point[0] - m.x, point[1] - m.y) > SAME for m in found):
            kind = _kind(point, height, known, (x[1] - x[0], y[1] - y[0]))
            found.append(Minimum(float(point[0]), float(point[1]), height, kind, shape))

    for nodes in _groups(crossed, x, y):
        for start in _nearest(nodes, known)[:TRIES]:
            point, height = _polished(residuals, start, x, y)
            if height < ZERO:  # otherwise the sign changed at a jump
                add(point, height, "valley" if len(nodes) > CORNER else "point")
                break
    lowest = np.isfinite(z) & (z <= scipy.ndimage.minimum_filter(z, 3, mode="nearest"))
    for nodes in _groups(lowest & ~crossed, x, y):
        seen = _seen_again(residuals, _middle(nodes, known), x, y)
        if seen is None:
            continue
        point, height = _polished(residuals, seen, x, y)
        if height >= ZERO or r.shape[-1] > 1:  # the zeros of a single residual are found above
            add(point, height, "plateau" if len(nodes) > 1 else "point")
    return tuple(sorted(found, key=lambda m: (m.z >= ZERO, m.kind != "solution", -m.x, -m.y)))


def _on_grid(residuals: Residuals, x: Array, y: Array) -> Array:
    return residuals(points(x, y)).reshape(len(y), len(x), -1)


def _sign_changes(r: Array) -> Mask:
    """Grid points beside a sign change of a residual, or on a zero of it."""
    finite, above = np.isfinite(r), r > 0
    near = finite & (np.abs(r) < ZERO)
    for one, other in ((np.s_[:, 1:], np.s_[:, :-1]), (np.s_[1:], np.s_[:-1])):
        change = (above[one] != above[other]) & finite[one] & finite[other]
        near[one] |= change
        near[other] |= change
    return near


def _groups(mask: Mask, x: Array, y: Array) -> Iterator[Array]:
    """Points (n, 2) of each group of neighbours in a mask."""
    labels, _ = scipy.ndimage.label(mask, np.ones((3, 3)))
    for rows, columns in scipy.ndimage.value_indices(labels, ignore_value=0).values():
        yield np.stack([x[columns], y[rows]], -1)


def _distances(nodes: Array, known: Known) -> Array:
    """From every node to every known point, (nodes, known)."""
    return np.asarray(np.linalg.norm(nodes[:, None] - np.array(list(known)), axis=-1))


def _nearest(nodes: Array, known: Known) -> Array:
    """The nodes, those nearest to a known point first; a node that is one to rounding is that point."""
    distances = _distances(nodes, known)
    ordered = nodes[distances.min(1).argsort(kind="stable")]
    if distances.min() < 1e-2:  # known weights need not lie on the grid
        ordered[0] = list(known)[int(distances.min(0).argmin())]
    return ordered


def _middle(nodes: Array, known: Known) -> Array:
    """The node that is a known point, or the one nearest to the middle of them all."""
    distances = _distances(nodes, known)
    if distances.min() < ZERO:
        return nodes[distances.min(1).argmin()]
    return nodes[np.linalg.norm(nodes - nodes.mean(0), axis=-1).argmin()]


def _seen_again(residuals: Residuals, start: Array, x: Array, y: Array) -> Array | None:
    """The lowest point of a fine patch around a grid point, None if the ground falls away beyond it."""
    low = np.maximum(start - (x[1] - x[0], y[1] - y[0]), (x[0], y[0]))
    high = np.minimum(start + (x[1] - x[0], y[1] - y[0]), (x[-1], y[-1]))
    patch = points(*(np.linspace(a, b, 2 * FINE + 1) for a, b in zip(low, high, strict=True)))
    z = np.linalg.norm(residuals(np.concatenate([start[None], patch])), axis=-1)
    z = np.where(np.isfinite(z), z, np.inf)
    if z[0] <= z.min() * (1 + 1e-12):
        return start
    best = patch[z[1:].argmin()]
    beyond = ((best == low) & (low > (x[0], y[0]))) | ((best == high) & (high < (x[-1], y[-1])))
    return None if beyond.any() else best


def _polished(residuals: Residuals, start: Array, x: Array, y: Array) -> tuple[Array, float]:
    """The minimum near a point within the window, and its height."""
    fit = scipy.optimize.least_squares(
        lambda p: residuals(p[None])[0],
        start,
        jac="3-point",
        bounds=((x[0], y[0]), (x[-1], y[-1])),
        method="dogbox",  # holds bounds exactly
        ftol=1e-15,
        xtol=1e-15,
        gtol=1e-15,
    )
    return fit.x, float(np.linalg.norm(fit.fun))


def _kind(point: Array, height: float, known: Known, cell: tuple[float, float]) -> Kind:
    if height >= ZERO:
        return "local"
    for weights, kind in known.items():
        if (np.abs(point - weights) <= cell).all():
            return kind
    return "alternative"
