"""What is proven of a law: the running rounding-error bound on rows the search never saw; tests under noise.

A law is ``exact`` if on every row it differs from y by no more than ``SLACK`` times its own rounding error, in the
precision of the data, and if the data could have told: a term of natural size that the law lacks would stick out
of its numbers' reach, and every digit is felt. It is ``consistent`` with noisy data if neither freeing its numbers
nor adding terms explains held-out rows significantly better. Else nothing is proven: the verdict is ``none``.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from nalm.discover.constants import is_simple
from nalm.discover.expression import Array, Node, bounded, evaluate, numbers, used
from nalm.discover.fitting import refined, tangent
from nalm.discover.problem import Problem

SLACK = 16.0  # times the first-order bound
SNAPPED_RESOLUTION = 8.0  # an unexplained term over the tolerance, beyond the reach of all numbers
FREE_RESOLUTION = 1000.0  # the same, beyond the reach of the numbers with digits of their own
MARGIN = 1.15  # on the declared noise, which is a share of a spread that is itself an estimate
SIGNIFICANT = 1e-3  # below this, a test under noise has found something
RESOLUTION_ROWS = 400


@dataclass(frozen=True)
class Certificate:
    """What was tested of a law, on how many rows, and with which verdict: exact, consistent or none."""

    verdict: str
    tested: str  # in words
    rows: int  # held out: never used to find the law
    error: float  # largest |y - law| on them, relative to the tolerance (exact) or rms over that of y
    bound: float  # largest tolerance on them, relative to the size of y
    precision: str  # of the data: float32 or float64
    noise: float | None = 0.0  # declared
    domain: dict[str, tuple[float, float]] = field(default_factory=dict)  # seen, of the inputs in the law

    def __bool__(self) -> bool:
        return self.verdict != "none"

    def __str__(self) -> str:
        seen = ", ".join(f"{n} in [{low:.4g}, {high:.4g}]" for n, (low, high) in self.domain.items())
        return f"{self.verdict}: {self.tested}" + (f" Seen: {seen}." if seen else "")


def within_rounding(node: Node, x: Array, y: Array, u: float) -> tuple[float, float]:
    """The largest |y - law| over its tolerance, and the largest tolerance over the size of y."""
    value, error = bounded(node, x, u)
    with np.errstate(all="ignore"):
        tolerance = SLACK * (error + u * np.abs(y))
        off = np.abs(y - value)
        ratio = np.where(off > 0, off / tolerance, 0.0)
    worst = float(ratio.max()) if np.isfinite(value).all() and np.isfinite(tolerance).all() else np.inf
    size = float(np.sqrt(np.mean(y**2))) or 1.0
    return worst, float(tolerance.max()) / size if np.isfinite(worst) else np.inf


def resolution(node: Node, problem: Problem, free_only: bool) -> float:
    """How far a missing term of natural size would stick out of the tolerance, whatever the numbers were.

    The term is rms(y) sin(x / max|x|), for each input of the law in turn, less its projection on the
    slopes of the law in its numbers (or in those that are not simple).
    """
    x, y = problem.held_x[:RESOLUTION_ROWS], problem.held_y[:RESOLUTION_ROWS]
    _, slopes = tangent(node, x)
    if free_only:
        slopes = slopes[:, [not is_simple(n) for n in numbers(node)]]
    _, error = bounded(node, x, problem.u)
    tolerance = SLACK * (error + problem.u * np.abs(y))
    if slopes.shape[1] >= len(x):
        return 0.0
    weight = 1 / np.where(tolerance > 0, tolerance, np.inf)
    size = np.sqrt(np.mean(y**2))
    columns = [x[:, i] / np.abs(x[:, i]).max() for i in sorted(used(node))[:10]]
    if not columns or not size:
        return np.inf
    missing = size * np.sin(np.stack(columns, 1)) * weight[:, None]
    if slopes.shape[1]:
        slopes = np.nan_to_num(slopes * weight[:, None], nan=0.0, posinf=0.0, neginf=0.0)
        scale = np.abs(slopes).max(0)
        basis, triangle = np.linalg.qr(slopes / np.where(scale > 0, scale, 1.0))
        basis = basis[:, np.abs(np.diag(triangle)) > 1e-12]
        missing = missing - basis @ (basis.T @ missing)
    return float(np.sqrt((missing**2).mean(0)).min())


def digits_felt(node: Node, problem: Problem) -> float:
    """How far the data feels the digits of the numbers that are not simple: the least over all of them.

    Each such number is moved to the nearest half, and the largest change over the tolerance is taken.
    """
    x, y = problem.held_x[:RESOLUTION_ROWS], problem.held_y[:RESOLUTION_ROWS]
    values = np.array(numbers(node))
    free = np.array([not is_simple(n) for n in values], bool)
    _, slopes = tangent(node, x)
    _, error = bounded(node, x, problem.u)
    moved = slopes[:, free] * (values - np.round(2 * values) / 2)[free]
    felt = np.abs(np.nan_to_num(moved)) / (SLACK * (error + problem.u * np.abs(y)))[:, None]
    return float(felt.max(0).min(initial=np.inf))


def certify(node: Node, problem: Problem, names: list[str] | None = None) -> Certificate:
    """Test a law against every row: ``exact`` or ``none``."""
    held_x, held_y = problem.held_x, problem.held_y
    worst, bound = within_rounding(node, held_x[:32], held_y[:32], problem.u)  # most laws fail at once
    if worst <= 1 and len(held_y) > 32:
        worst, bound = within_rounding(node, held_x, held_y, problem.u)
    told = f"the law was off by {worst:.3g} times the rounding of {problem.precision}"
    verdict = "none"
    if worst <= 1:
        searched, _ = within_rounding(node, problem.x, problem.y, problem.u)
        if searched > 1:
            told = f"a row of the search was off by {searched:.3g} times the rounding"
        elif not _told_apart(node, problem):
            told = "the range is too narrow to tell this law from others"
        else:
            verdict = "exact"
            told = f"the law holds to the rounding of {problem.precision}"
    return Certificate(
        verdict,
        f"{told} on {len(held_y)} held-out rows.",
        len(held_y),
        worst,
        bound,
        problem.precision,
        problem.noise,
        _domain(node, problem, names),
    )


def _told_apart(node: Node, problem: Problem) -> bool:
    if resolution(node, problem, free_only=False) < SNAPPED_RESOLUTION:
        return False
    free = any(not is_simple(n) for n in numbers(node))
    if not free:
        return True
    if digits_felt(node, problem) < FREE_RESOLUTION:
        return False
    return resolution(node, problem, free_only=True) >= FREE_RESOLUTION


def _domain(node: Node, problem: Problem, names: list[str] | None) -> dict[str, tuple[float, float]]:
    if names is None:
        names = [f"x{i + 1}" for i in range(problem.inputs)]
    seen = {}
    for i in sorted(used(node)):
        columns = problem.x[:, i], problem.held_x[:, i]
        seen[names[i]] = float(min(c.min() for c in columns)), float(max(c.max() for c in columns))
    return seen


def certify_noisy(node: Node, problem: Problem, names: list[str] | None = None) -> Certificate:
    """Test a law under noise on held-out rows: ``consistent`` or ``none``.

    Three questions, each at the level ``SIGNIFICANT``: is the residual larger than the declared noise
    (chi squared)? do free numbers explain more than the law's own (F)? do further terms (F)?
    """
    x, y = problem.held_x, problem.held_y
    r = y - evaluate(node, x)
    spread = float(np.std(np.concatenate([y, problem.y]))) or 1.0
    n, rms = len(y), float(np.sqrt(np.mean(r**2))) if np.isfinite(r).all() else np.inf
    found = None
    if not np.isfinite(rms) or rms >= 0.9 * spread:
        found = f"the law leaves {rms / spread:.2g} of the spread of y"
    if found is None and problem.noise:
        p = stats.chi2.sf(np.sum(r**2) / (MARGIN * problem.noise * spread) ** 2, n)
        found = f"the residual is larger than the declared noise (p = {p:.1g})" if p < SIGNIFICANT else None
    if found is None:
        freed, _ = refined(node, x, y, np.ones(n))
        p = _f_test(r, y - evaluate(freed, x), len(numbers(node)))
        found = f"free numbers fit better (p = {p:.1g})" if p < SIGNIFICANT else None
    if found is None:
        p = _lack_of_fit(node, r, problem)
        found = f"the residual has structure (p = {p:.1g})" if p < SIGNIFICANT else None
    told = found or "neither free numbers nor further terms fit better, nor is the residual too large,"
    return Certificate(
        "none" if found else "consistent",
        f"{told} on {n} held-out rows.",
        n,
        rms / spread,
        float(problem.noise or rms / spread),
        problem.precision,
        problem.noise,
        _domain(node, problem, names),
    )


def _f_test(r: Array, better: Array, more: int) -> float:
    """Probability that so much better a fit with so many more numbers is chance."""
    left = len(r) - more
    after = float(np.sum(better**2))
    if left < 1 or not np.isfinite(after):
        return 1.0
    gain = max(float(np.sum(r**2)) - after, 0.0)
    return float(stats.f.sf(gain / max(more, 1) / max(after / left, 1e-300), max(more, 1), left))


def _lack_of_fit(node: Node, r: Array, problem: Problem) -> float:
    """Smallest probability, corrected for their number, over families of further terms."""
    x = problem.held_x[:, sorted(used(node))[:8]]
    others = [i for i in problem.columns if i not in used(node)]
    scale = np.abs(x).max(0) if x.shape[1] else np.ones(0)
    z = x / np.where(scale > 0, scale, 1.0)
    z = z - z.mean(0)
    families = [z, z**2, z**3, z**4, np.sin(4 * z), np.abs(z)]
    families += (
        [np.stack([z[:, i] * z[:, j] for i in range(z.shape[1]) for j in range(i)], 1)]
        if z.shape[1] > 1
        else []
    )
    families += [problem.held_x[:, others]] if others else []
    basis = [f for f in (np.column_stack([np.ones(len(r)), f]) for f in families) if f.shape[1] * 3 < len(r)]
    ps = []
    for terms in [*basis, np.column_stack(basis[:4])] if basis else []:
        terms = terms / np.maximum(np.abs(terms).max(0), 1e-300)
        fit = terms @ np.linalg.lstsq(terms, r, rcond=1e-10)[0]
        ps.append(_f_test(r, r - fit, terms.shape[1]))
    return min(1.0, len(ps) * min(ps)) if ps else 1.0
