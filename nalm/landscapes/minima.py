"""Minima of the norm of residuals over two weights: found on a grid, then refined."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy  # its parts load when first used

from nalm.landscapes.grid import points
from nalm.landscapes.surface import Array, Kind, Minimum, Shape

Residuals = Callable[[Array], Array]  # points (n, 2) -> residuals (n, k)
Known = Mapping[tuple[float, float], Kind]  # weights that a paper names
Mask = npt.NDArray[np.bool_]

ZERO = 1e-8  # heights below it count as 0
SAME = 1e-6  # minima nearer than this are the same
NEAR = 1e-3  # distance to known weights, which an epsilon may have moved
CORNER = 4  # grid points that a sign change at one point may touch; a valley touches more
FINE = 10  # points in each direction of the finer grid around a minimum of the grid
TRIES = 8  # points of a valley near which its bottom is searched
SHIFT = 1e-6  # of the central differences of a descent
STEP = 1e-4  # of the fourth-order differences of a slope
LOOSE, TIGHT = 1e-10, 1e-15  # tolerances of a descent, and of the refinement, which is limited by float64


@dataclass(frozen=True, eq=False)
class Window:
    """A grid over two weights; its ends are the bounds of both."""

    x: Array
    y: Array

    @property
    def low(self) -> Array:
        return np.array([self.x[0], self.y[0]])

    @property
    def high(self) -> Array:
        return np.array([self.x[-1], self.y[-1]])

    @property
    def cell(self) -> Array:
        return np.array([self.x[1] - self.x[0], self.y[1] - self.y[0]])

    def on_grid(self, residuals: Residuals) -> Array:
        """Return the residuals at every point, (len(y), len(x), k)."""
        return residuals(points(self.x, self.y)).reshape(len(self.y), len(self.x), -1)

    def around(self, point: Array) -> "Window":
        """Return a fine grid over the cells that meet at a point."""
        low, high = np.maximum(point - self.cell, self.low), np.minimum(point + self.cell, self.high)
        return Window(*(np.linspace(a, b, 2 * FINE + 1) for a, b in zip(low, high, strict=True)))

    def groups(self, mask: Mask) -> Iterator[Array]:
        """Yield the points (n, 2) of each group of neighbours in a mask."""
        labels, _ = scipy.ndimage.label(mask, np.ones((3, 3)))
        for rows, columns in scipy.ndimage.value_indices(labels, ignore_value=0).values():
            yield np.stack([self.x[columns], self.y[rows]], -1)


def heights(residuals: Residuals, x: Array, y: Array) -> Array:
    """Return the norm of the residuals on a grid, (len(y), len(x))."""
    return np.asarray(np.linalg.norm(Window(x, y).on_grid(residuals), axis=-1))


def search(residuals: Residuals, x: Array, y: Array, known: Known) -> tuple[Minimum, ...]:
    """Find the minima in the window of the grid, bounds included, refined to 1e-8.

    A single residual is zero along curves, not at points: where it changes sign the grid has a valley, which is
    represented by known weights on it, or by a point near them. Any other minimum is a grid point, or a group of
    equal ones, with no lower neighbour on the grid or on a finer grid around it.
    """
    window = Window(x, y)
    r = window.on_grid(residuals)
    single = r.shape[-1] == 1
    z = np.where(np.isfinite(r).all(-1), np.linalg.norm(r, axis=-1), np.inf)
    crossed = _sign_changes(r[..., 0]) if single else np.zeros(z.shape, bool)
    found: list[Minimum] = []

    def add(point: Array, height: float, shape: Shape) -> None:
        if all(np.hypot(point[0] - m.x, point[1] - m.y) > SAME for m in found):
            kind = _kind(point, height, known)
            found.append(Minimum(float(point[0]), float(point[1]), height, kind, shape))

    for nodes in window.groups(crossed):
        bottom = _bottom(residuals, nodes, known, window)
        if bottom is not None:  # otherwise the sign changed at a jump
            add(*bottom, "valley" if len(nodes) > CORNER else "point")
    lowest = np.isfinite(z) & (z <= scipy.ndimage.minimum_filter(z, 3, mode="nearest"))
    for nodes in window.groups(lowest & ~crossed):
        seen = _seen_again(residuals, _middle(nodes, known), window)
        if seen is None:
            continue
        # Far from zero the descent of a single residual can jump, so it is bounded to the finer grid.
        point, height = _descended(residuals, seen, window.around(seen) if single else window)
        if height >= ZERO:
            point, height = _settled(residuals, point, window)
        elif single:
            continue  # its zeros are found above
        add(point, height, "plateau" if len(nodes) > 1 else "point")
    return tuple(sorted(found, key=lambda m: (m.z >= ZERO, m.kind != "solution", -m.x, -m.y)))


def _sign_changes(r: Array) -> Mask:
    """Return the grid points next to a sign change of a residual, or on a zero of it."""
    finite, above = np.isfinite(r), r > 0
    near = finite & (np.abs(r) < ZERO)
    for one, other in ((np.s_[:, 1:], np.s_[:, :-1]), (np.s_[1:], np.s_[:-1])):
        change = (above[one] != above[other]) & finite[one] & finite[other]
        near[one] |= change
        near[other] |= change
    return near


def _length(residuals: Residuals, at: Array) -> Array:
    """Return the heights at points (n, 2); infinite where they are not finite."""
    z = np.linalg.norm(residuals(at), axis=-1)
    return np.where(np.isfinite(z), z, np.inf)


def _bottom(residuals: Residuals, nodes: Array, known: Known, window: Window) -> tuple[Array, float] | None:
    """Find a zero in a group of grid points next to sign changes: known weights, or a point near them."""
    named = np.array(list(known))
    distance = np.linalg.norm(nodes[:, None] - named, axis=-1)  # (nodes, known)
    exact = (_length(residuals, named) < ZERO) & (distance.min(0) <= np.linalg.norm(window.cell))
    for point in (*named[exact], *nodes[distance.min(1).argsort(kind="stable")][:TRIES]):
        for end in _opposite(residuals, point, window):
            zero = point + _crossing(residuals, point, end) * (end - point)
            height = float(_length(residuals, zero[None])[0])
            if height < ZERO:
                return zero, height
    return None


def _opposite(residuals: Residuals, point: Array, window: Window) -> Array:
    """Return the neighbours (n, 2) of a point where the residual has another sign; the point itself if it is a zero."""
    sides = np.concatenate([np.eye(2), -np.eye(2)]) * window.cell
    ring = np.concatenate([point[None], np.clip(point + sides, window.low, window.high)])
    r = residuals(ring)[:, 0]
    if abs(r[0]) < ZERO:
        return ring[:1]
    return ring[np.isfinite(r) & (np.sign(r) == -np.sign(r[0]))]


def _crossing(residuals: Residuals, start: Array, end: Array) -> float:
    """Return the fraction of the way from start to end at which a residual changes its sign."""
    if (start == end).all():
        return 0.0
    return float(
        scipy.optimize.brentq(lambda t: residuals((start + t * (end - start))[None])[0, 0], 0, 1, xtol=TIGHT)
    )


def _middle(nodes: Array, known: Known) -> Array:
    """Return the node with known weights, or the one nearest to the mean of all nodes."""
    distance = np.linalg.norm(nodes[:, None] - np.array(list(known)), axis=-1).min(1)
    if distance.min() > ZERO:
        distance = np.linalg.norm(nodes - nodes.mean(0), axis=-1)
    return nodes[distance.argmin()]


def _seen_again(residuals: Residuals, start: Array, window: Window) -> Array | None:
    """Return the lowest point of a fine grid around a point; None if the surface still falls at its edge."""
    patch = window.around(start)
    fine = points(patch.x, patch.y)
    z = _length(residuals, np.concatenate([start[None], fine]))
    if z[0] <= z.min() * (1 + 1e-12):
        return start
    best = fine[z[1:].argmin()]
    falls = ((best == patch.low) & (best > window.low)) | ((best == patch.high) & (best < window.high))
    return None if falls.any() else best


def _descended(residuals: Residuals, start: Array, window: Window) -> tuple[Array, float]:
    """Return the point that a descent within the window reaches, and its height; it is exact only if that is 0."""

    def jacobian(p: Array) -> Array:  # (k, 2), all differences at once; one-sided at a bound
        ends = np.clip(p + SHIFT * np.array([1, -1])[:, None, None] * np.eye(2), window.low, window.high)
        above, below = residuals(ends.reshape(-1, 2)).reshape(2, 2, -1)
        return ((above - below) / np.diagonal(ends[0] - ends[1])[:, None]).T

    fit = scipy.optimize.least_squares(
        lambda p: residuals(p[None])[0],
        start,
        jac=jacobian,
        bounds=(window.low, window.high),
        method="dogbox",  # keeps bounds exactly
        ftol=LOOSE,
        xtol=LOOSE,
        gtol=TIGHT,
    )
    return fit.x, float(np.linalg.norm(fit.fun))


def _settled(residuals: Residuals, point: Array, window: Window) -> tuple[Array, float]:
    """Refine a minimum above 0 as the zero of the slope of its square, which is more exact than the least height."""
    free = np.flatnonzero((point > window.low) & (point < window.high))
    if not len(free):
        return point, float(_length(residuals, point[None])[0])
    shifts = np.array([-2, -1, 1, 2]) * STEP
    stencil = shifts[:, None, None] * np.eye(2)[free]  # (4, free, 2)

    def slope(p: Array) -> Array:
        moved = point.copy()
        moved[free] = p
        z = _length(residuals, (moved + stencil).reshape(-1, 2)).reshape(4, -1) ** 2
        return (z[0] - 8 * z[1] + 8 * z[2] - z[3]) / (12 * STEP)

    root = scipy.optimize.root(slope, point[free], tol=TIGHT).x
    settled = point.copy()
    if (np.abs(root - point[free]) < window.cell[free]).all():  # or the surface has an edge there
        settled[free] = root
    return settled, float(_length(residuals, settled[None])[0])


def _kind(point: Array, height: float, known: Known) -> Kind:
    if height >= ZERO:
        return "local"
    for weights, kind in known.items():
        if (np.abs(point - weights) < NEAR).all():
            return kind
    return "alternative"
