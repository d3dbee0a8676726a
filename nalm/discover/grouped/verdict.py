"""The result of a search in groups: the law with its own constants as inputs, their intervals, and its certificate."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.certificate import Certificate, certify, domain_of
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.discovery import Candidate
from nalm.discover.grouped.choice import Chosen
from nalm.discover.grouped.law import Group, Groups, own_names, with_inputs, with_numbers
from nalm.discover.law import Law
from nalm.discover.law.expression import Array, evaluate, numbers
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem
from nalm.discover.selection.answer import NAMED
from nalm.discover.selection.bootstrap import intervals
from nalm.discover.selection.doubts import beyond_noise, doubt_of_fit
from nalm.discover.selection.front import RIVAL
from nalm.discover.selection.intervals import FittedNumber, Uncertainty, quantile, rows_left
from nalm.discover.selection.rounding import shortened
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.discover.selection.words import looks_like_noise

MARGIN = 4  # rows of a group beyond two for each number of its law: fewer show nothing exactly
ROUNDING = 1e-9  # of the spread of y: a law that leaves less holds on every row


def listed(
    found: Chosen, names: tuple[str, ...], labels: Sequence[str], best: float, draws: Array | None = None
) -> Candidate:
    """Return a law of the front, with own constants named and a row of them for every group.

    Intervals are those of the curvature or, if all numbers were fitted to rows drawn again, of these ``draws``.
    """
    own = [k for k in range(found.joint.count) if k not in found.fit.shared]
    called = own_names(len(own), names)
    root, where = found.joint.spread(found.fit, found.scatter)
    whole = _all_rows(found)
    errors, wide = np.sqrt((root**2).sum(1)), quantile(rows_left(whole, found.count))
    places = np.flatnonzero(found.free).tolist()
    table = np.vectorize(shortened)(found.fit.table, errors[where]) if found.joint.count else found.fit.table
    common = with_numbers(found.node, found.free, table[0])
    node = with_inputs(common, {places[k]: len(names) + j for j, k in enumerate(own)})

    def number(g: int, k: int, name: str = "") -> FittedNumber:
        v, e = float(table[g, k]), float(errors[where[g, k]])
        if draws is not None:
            (again,) = intervals(np.array([v]), list(draws[:, where[g, k], None]), len(draws))
            return replace(again, name=name)
        return FittedNumber(v, e, v - wide * e, v + wide * e, name)

    groups = {}
    for g, label in enumerate(labels):
        spread = np.zeros((len(found.free), root.shape[1]))
        spread[found.free] = root[where[g]]
        groups[label] = Group(
            tuple(number(g, k, name) for k, name in zip(own, called, strict=True)),
            with_numbers(found.node, found.free, table[g]),
            Uncertainty.on(whole, spread, found.scatter, found.count),
        )
    shared = tuple(number(0, k) for k in sorted(found.fit.shared))
    level = np.concatenate([part.target / part.error for part in found.parts])
    error = float(np.sqrt(found.fit.square) / (np.std(level) or 1.0))
    law = Law(tidied(node), (*names, *called))
    worse = found.score - best
    return Candidate(law, error, found.stage, None, worse, shared, None, Groups(called, groups))


def certificate_of_groups(
    first: Candidate, whole: Problem, which: Any, noise: NoiseKind, scatter: float, count: int
) -> Certificate:
    """Test a law with so many fitted numbers on all rows, with its own constants as columns.

    ``which`` is the group of each row of the table.
    """
    law, groups = first.law, first.groups
    assert groups is not None
    own = np.array([[c.value for c in g.own] for g in groups.groups.values()])[which][whole.order]
    searched = len(whole.y)
    varied = [whole.inputs + j for j in range(len(groups.names)) if np.ptp(own[:, j]) > 0]
    problem = replace(
        whole,
        x=np.column_stack([whole.x, own[:searched]]),
        held_x=np.column_stack([whole.held_x, own[searched:]]),
        columns=[*whole.columns, *varied],
        x_error=None if whole.x_error is None else np.column_stack([whole.x_error, 0 * own]),
    )
    if _exact(groups, whole, which):
        every = len(whole.order)
        return Certificate(
            Verdict.EXACT,
            f"the law holds to the rounding of {whole.precision} on {every:,} rows in {len(groups.groups)} groups.",
            0,
            0.0,
            1.0,
            whole.precision,
            whole.noise,
            domain_of(law.expression, problem, law.names),
        )
    rows = Observations.of(problem, len(whole.order)).effective(law.expression)
    rows = replace(rows, noise=noise, error=np.ones(len(rows)) if noise == NoiseKind.RELATIVE else rows.error)
    with np.errstate(all="ignore"):
        off = float(np.sqrt(np.mean(rows.residual(law.expression) ** 2)))
        off /= float(np.std(rows.target / rows.error)) or 1.0
        words = None if off < ROUNDING else doubt_of_fit(law.expression, count, rows, problem)
        if whole.noise is not None:
            left = rows.y - evaluate(law.expression, rows.x)
            words = beyond_noise(left, count, problem) or words
    fine = f"what the law leaves is below {ROUNDING:g} of y on {len(rows):,} rows"
    tested = words or (fine if off < ROUNDING else looks_like_noise(rows, scatter))
    return Certificate(
        Verdict.CONSISTENT if words is None else Verdict.NONE,
        f"{tested} in {len(groups.groups)} groups.",
        0,
        off,
        float(whole.noise or off),
        whole.precision,
        whole.noise,
        domain_of(law.expression, problem, law.names),
    )


def _exact(groups: Groups, whole: Problem, which: Any) -> bool:
    """Return whether the law of each group, with its own constants, is exact on the rows of that group alone.

    Each group must have clearly more rows than its law has numbers, and pass all tests of a single table.
    """
    which = np.asarray(which)[whole.order]
    x, y = np.concatenate([whole.x, whole.held_x]), np.concatenate([whole.y, whole.held_y])
    y = y.astype(np.float32) if whole.precision == "float32" else y
    for g, group in enumerate(groups.groups.values()):
        rows = which == g
        if rows.sum() < MARGIN + 2 * len(numbers(group.node)):
            return False
        with np.errstate(all="ignore"):
            if not certify(group.node, Problem.from_table(x[rows], y[rows], seed=whole.seed)):
                return False
    return True


def with_rivals(certificate: Certificate, laws: Sequence[Candidate]) -> Certificate:
    """Add to a certificate the laws with no more numbers that fit as well: the form is then undecided."""
    most = _count(laws[0])
    others = tuple(str(c.law) for c in laws[1:] if c.worse < RIVAL and _count(c) <= most)[:NAMED]
    if certificate.verdict == Verdict.EXACT:
        return certificate
    if not others or not certificate:
        return replace(certificate, alternatives=others)
    tested = f"{certificate.tested} Other forms explain the rows as well."
    return replace(certificate, verdict=Verdict.UNDECIDED, tested=tested, alternatives=others)


def _count(law: Candidate) -> int:
    """Return how many numbers of a law were fitted, shared ones and own ones."""
    return len(law.constants) + (0 if law.groups is None else len(law.groups.names))


def _all_rows(found: Chosen) -> Observations:
    parts = [
        part.effective(with_numbers(found.node, found.free, numbers))
        for part, numbers in zip(found.parts, found.fit.table, strict=True)
    ]
    joined = [np.concatenate([getattr(p, name) for p in parts]) for name in ("x", "y", "error")]
    return Observations(joined[0], joined[1], parts[0].noise, joined[2])
