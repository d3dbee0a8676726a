"""A function inside an algebraic law: a column is replaced by a function of it, and the stages go on."""

from collections.abc import Iterator

import numpy as np

from nalm.discover.law.expression import Array, Function, Input, Node, Power, Sum, evaluate, used
from nalm.discover.problem import Problem
from nalm.discover.stages.monomials import monomials
from nalm.discover.stages.polynomial import polynomial
from nalm.discover.stages.power import power
from nalm.discover.stages.powersum import powersum
from nalm.discover.stages.ratio import ratio
from nalm.discover.stages.scratchpad import deep_scratchpad, scratchpad
from nalm.discover.stages.symmetry import powers, symmetric_pairs
from nalm.discover.stages.views import TARGETS, Propose, through

WIDEST = 8
ROWS = 400
HIGHEST = 4  # degree of the polynomials
BEST = 3  # replacements that are tried
WORTH, WORTH_MORE = 0.5, 0.2  # of what the columns themselves leave; a replacement must leave less
CLEARLY = 0.03  # the same of a logarithm, in which powers of a column are smooth as well
OFTEN = ("cos", "sin", "exp")  # of two columns
FUNCTIONS = ("cos", "sin", "exp", "log", "tanh", "abs")
POWERS = (1.0, -1.0, 2.0, -2.0)  # of y, as sums of products of powers
CHEAP: tuple[Propose, ...] = (power, ratio, powersum, polynomial, scratchpad)
DEAR: tuple[Propose, ...] = (lambda view: monomials(view, POWERS), deep_scratchpad)


def inside(problem: Problem) -> Iterator[Node]:
    r"""Propose what the algebraic stages find once u is replaced by g(u): a column, a difference or a product of two.

    Which g(u) are worth it is seen in a smooth fit: a polynomial of the other columns for what stands beside g(u),
    and another for what it is multiplied by,

    .. math:: t(y) \approx A(x) + B(x)\, g(u) + C(x)\, g(u)^2, \qquad t(y) = y,\ 1/y,\ y^2,\ \log y

    must leave less than the same with u or log u for g(u), and less than A(x) alone.
    """
    if not 0 < len(problem.columns) <= WIDEST:
        return
    tables = replacements(problem)
    for stages, most in ((CHEAP, WORTH), (DEAR, WORTH_MORE)):
        for columns in [table for share, table in tables if share < most]:
            for stage in stages:
                problem.check()
                yield from through(problem, stage, columns)


def replacements(problem: Problem) -> list[tuple[float, list[Node]]]:
    """Return tables in which a function replaces one or two columns, with what it leaves over what they do."""
    columns = problem.columns
    pairs = symmetric_pairs(problem)
    arguments: list[Node] = [Input(i) for i in columns]
    arguments += [Sum((Input(i), Input(j)), (1.0, -1.0)) for i, j in pairs]
    arguments += [
        Power((Input(i), Input(j)), (1.0, 1.0)) for k, i in enumerate(columns) for j in columns[k + 1 :]
    ]
    x, y = problem.x[:ROWS], problem.y[:ROWS]
    targets = [TARGETS[name] for name in ("y", "1/y", "y^2", "log")]
    known = [t.value(y) for t in targets if t.allowed(y)]
    found: list[tuple[float, list[Node]]] = []
    for u in arguments:
        problem.check()
        others: list[Node] = [Input(i) for i in columns if i not in used(u)]
        fits = Smooth(x, others)
        plain = [min(fits.left(None, t), fits.left(u, t)) for t in known]
        log = Function("log", u)
        bent = [min(fits.left(log, t), p) for t, p in zip(known, plain, strict=True)]  # as powers of u do
        for name in FUNCTIONS if isinstance(u, Input) else OFTEN:
            g, before = Function(name, u), plain if name == "log" else bent
            share = min(fits.left(g, t) / max(p, 1e-300) for t, p in zip(known, before, strict=True))
            if share < (CLEARLY if name == "log" else WORTH):
                found.append((share, [*others, g]))
    return sorted(found, key=lambda f: f[0])[:BEST]


class Smooth:
    """Polynomials of some columns, as large as the rows allow: what stands beside a function in a smooth fit."""

    def __init__(self, x: Array, columns: list[Node]):
        values = [evaluate(c, x) for c in columns]
        values = [np.log(v) if (v > 0).all() else v for v in values]  # in which products of powers are smooth
        z = _standard(np.stack(values, 1)) if columns else np.empty((len(x), 0))
        n = z.shape[1]
        degree = max((d for d in range(1, HIGHEST + 1) if 5 * len(powers(n, d)) < len(x)), default=0)
        self.x = x
        self.terms = np.stack([np.prod(z**row, 1) for row in np.array(powers(n, degree))], 1)

    def left(self, function: Node | None, t: Array) -> float:
        """Return the share of t that the polynomials leave, alone and times a function and its square."""
        terms = self.terms
        if function is not None:
            g = _standard(evaluate(function, self.x)[:, None])
            terms = np.concatenate([terms, terms * g, terms * g**2], 1)
        if not np.isfinite(terms).all():
            return np.inf
        weight = 1 / np.sqrt(np.median(np.abs(t)) ** 2 + t**2)
        terms, t = terms * weight[:, None], t * weight
        gram = terms.T @ terms
        gram[np.diag_indices_from(gram)] *= 1 + 1e-12
        r = t - terms @ np.linalg.solve(gram, terms.T @ t)
        spare = max(len(t) - terms.shape[1], 1)
        return float(np.sum(r**2) / spare / max(np.var(t), 1e-300))


def _standard(values: Array) -> Array:
    low, high = values.min(0), values.max(0)
    return np.asarray(2 * (values - low) / np.where(high > low, high - low, 1.0) - 1)
