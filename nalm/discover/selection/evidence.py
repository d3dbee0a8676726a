"""The evidence for a law: its likelihood on all rows less the price of its numbers and symbols."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import optimize

from nalm.discover.fit.least_squares import refined, tangent
from nalm.discover.fit.snap import movable
from nalm.discover.law.expression import (
    Array,
    Function,
    Input,
    Mask,
    Node,
    Sum,
    evaluate,
    numbers,
    parts,
    renumbered,
    roles,
    size,
)
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.discover.selection.structure import is_settled, structure

FREE, SYMBOL, FUNCTION = 1.5, 0.3, 0.7  # prices in log n: of a fitted number, of a symbol, of a function
NICE = 4.0  # the price of a nice number, one of a few, or that of a fitted one if this is less
EFFECTIVE = 60  # steps of a fit with errors of the columns
LARGE = 1e100  # stands for a residual without a value
LEAST = 0.5  # of the rows that are left in the term for small samples
HELD = 1e-9  # of a row's leverage: what is left of 1 when the law passes through that row whatever its value


@dataclass(frozen=True, eq=False)
class Fitted:
    """A law with its numbers fitted to rows."""

    node: Node
    free: Mask  # the numbers that were fitted
    rows: Observations
    stage: str

    @cached_property
    def misfit(self) -> float:
        """-2 log likelihood."""
        return self.rows.misfit(self.node)

    @cached_property
    def score(self) -> float:
        """-2 log likelihood plus the price of the law: the smallest is best."""
        return self.misfit + price(self.node, self.free, self.rows)

    @cached_property
    def value(self) -> Array:
        """The values of the law on the rows."""
        with np.errstate(all="ignore"):
            return evaluate(self.node, self.rows.x)

    @cached_property
    def form(self) -> Node:
        """The structure of the law."""
        return structure(self.node)

    @property
    def count(self) -> int:
        """How many numbers were fitted."""
        return int(self.free.sum())

    @cached_property
    def _curvature(self) -> tuple[Array, Array, Mask]:
        """The leverage of every row, directions of the free numbers by their standard error, and which are known."""
        _, slopes = tangent(self.rows.seen(self.node), self.rows.x)
        slopes = slopes[:, self.rows.mask(self.free)] / self.rows.error[:, None]
        slopes = np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0)
        norm = np.sqrt((slopes**2).sum(0))
        norm = np.where((norm > 0) & np.isfinite(norm), norm, 1.0)
        left, singular, right = np.linalg.svd(slopes / norm, full_matrices=False)
        kept = singular > 1e-13 * singular.max(initial=0.0)
        inverse = np.where(kept, 1 / np.where(kept, singular, 1.0), np.inf)
        with np.errstate(all="ignore"):
            directions = right.T * inverse / norm[:, None] * self.scatter
        return (left[:, kept] ** 2).sum(1), directions, kept

    @property
    def scatter(self) -> float:
        """The size of the noise: of y, of log y, or 1 where it is given."""
        if self.rows.noise == NoiseKind.GIVEN:
            return 1.0
        r = self.rows.residual(self.node)
        return float(np.sqrt(np.sum(r**2) / max(len(r) - self.count, 1)))

    @property
    def errors(self) -> Array:
        """The standard error of every number; 0 for those that were not fitted."""
        found = np.zeros(len(self.free))
        _, directions, _ = self._curvature
        with np.errstate(all="ignore"):
            found[self.free] = np.nan_to_num(np.sqrt((directions**2).sum(1)), nan=np.inf)
        return found

    @property
    def spread(self) -> Array:
        """A root of the covariance of the numbers, (numbers, directions), without what the rows do not determine."""
        _, directions, known = self._curvature
        found = np.zeros((len(self.free), int(known.sum())))
        found[self.free] = directions[:, known]
        return found

    @cached_property
    def left_out(self) -> Array:
        """Residuals of each row when the law is fitted to the other rows (to first order)."""
        leverage = self._curvature[0]
        with np.errstate(all="ignore"):
            return np.where(leverage < 1 - HELD, self.rows.residual(self.node) / (1 - leverage), np.inf)

    @property
    def error(self) -> float:
        """The rms of ``left_out`` over the spread of the target."""
        with np.errstate(all="ignore"):
            off = float(np.sqrt(np.mean(self.left_out**2)))
        spread = float(np.sqrt(np.mean(self.rows.deviation**2)))
        return off / (spread or 1.0) if np.isfinite(off) else np.inf


def price(node: Node, free: Mask, rows: Observations) -> float:
    r"""Return the price of a law of n rows with k numbers that were fitted, the size of the noise among them.

    .. math:: \log n \, (1.5\,\mathrm{free} + 0.3\,\mathrm{symbols} + 0.7\,\mathrm{functions}) + 4\,\mathrm{nice}
        + \frac{2 k (k + 1)}{n - k - 1}

    Half-integer exponents cost nothing but their symbols.
    """
    n, k = len(rows), int(free.sum()) + (rows.noise != NoiseKind.GIVEN)
    if n <= k:
        return np.inf
    return shape_price(node, free, rows.x) + 2 * k * (k + 1) / max(n - k - 1, LEAST)


def shape_price(node: Node, free: Mask, x: Array) -> float:
    """Return the price of a law without the term for small samples."""
    n = len(x)
    powers = np.array([role == "exponent" for role in roles(node)], bool)
    settled = np.array([is_settled(v, r) for v, r in zip(numbers(node), roles(node), strict=True)], bool)
    dear = int((free | (powers & ~settled)).sum())
    nice = int((movable(node, x) & ~free & ~powers).sum())
    shape = FREE * dear + SYMBOL * size(node) + FUNCTION * functions(node)
    return float(np.log(n) * shape + nice_price(n) * nice)


def nice_price(n: int) -> float:
    """Return the price of a nice number, on n rows."""
    return min(NICE, FREE * float(np.log(n)))


def functions(node: Node) -> int:
    """Count the functions in a law."""
    return isinstance(node, Function) + sum(map(functions, parts(node)))


def scalable(node: Node) -> Node:
    """Multiply a law that is a column or a function by a factor, so that the factor can be fitted."""
    return Sum((node,), (1.0,)) if isinstance(node, Input | Function) else node


def unsettled(node: Node, x: Array, fixed: bool = False) -> Mask:
    """Return the numbers that a fit may move: all but half-integer exponents, or, if fixed, but nice numbers."""
    loose = [
        not is_settled(v, role) or (role != "exponent" and not fixed)
        for v, role in zip(numbers(node), roles(node), strict=True)
    ]
    return movable(node, x) & np.array(loose, bool)


def fit(
    node: Node,
    rows: Observations,
    free: Mask,
    stage: str,
    check: Callable[[], None] = lambda: None,
    steps: int = 10,
) -> Fitted:
    """Fit the free numbers of a law to all rows, by least squares of the target.

    Errors of the columns count with what the law makes of them, which changes with its numbers.
    """
    rows = rows.effective(node)
    found, _ = refined(
        rows.seen(node), rows.x, rows.target, 1 / rows.error, free=rows.mask(free), steps=steps, check=check
    )
    node = rows.unseen(found)
    if rows.x_error is not None and free.any():
        values = np.array(numbers(node))

        def with_free(p: Array) -> Node:
            moved = values.copy()
            moved[free] = np.where(p == 0, np.finfo(float).tiny, p)
            return renumbered(node, moved)

        node = with_free(minimised(lambda p: rows.effective(law := with_free(p)).residual(law), values[free]))
    return Fitted(node, free, rows.effective(node), stage)


def minimised(residual: Callable[[Array], Array], start: Array) -> Array:
    """Minimise a sum of squares in which the weights of the rows change with the numbers, too."""

    def finite(p: Array) -> Array:
        return np.clip(np.nan_to_num(residual(p), nan=LARGE), -LARGE, LARGE)

    try:
        found = optimize.least_squares(finite, start, x_scale="jac", max_nfev=EFFECTIVE)
    except (ValueError, np.linalg.LinAlgError):
        return start
    return np.asarray(found.x)
