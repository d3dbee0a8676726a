"""One law for several data sets: structures are searched in single groups and in all, the evidence of all decides."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.arguments import FEWEST_ROWS
from nalm.discover.constraints import Constraints
from nalm.discover.dimensions.rule import DimensionRule
from nalm.discover.discovery import Discovery
from nalm.discover.grouped.choice import chosen
from nalm.discover.grouped.law import checked_labels
from nalm.discover.grouped.verdict import certificate_of_groups, listed, with_rivals
from nalm.discover.law.expression import Array, Function, Node, Sum
from nalm.discover.law.names import check_names
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.search_state import Search, Watch
from nalm.discover.selection.choose import ranked
from nalm.discover.selection.rows import Observations, distinct, in_table_order
from nalm.discover.selection.structure import structure
from nalm.discover.stages import select
from nalm.errors import NALMError

ALONE = 2  # groups that are searched for structures, the largest ones
TAKEN = 30  # structures of each search
SHARE = 0.75  # of the time that is left: for the searches
MOST = 20  # laws that are listed


def search_groups(
    x: Any,
    y: Any,
    groups: Any,
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    max_time: float | None = None,
    stages: Sequence[str] | None = None,
    x_units: Sequence[str] | None = None,
    y_unit: str | None = None,
    y_err: Any = None,
    sample_weight: Any = None,
    x_err: Any = None,
    bootstrap: int = 0,
    contains: Sequence[str] = (),
    without: Sequence[str] = (),
    exponents: str = "any",
    functions: Sequence[str] | None = None,
    noise: float | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """Find one law for groups of rows, with numbers that all share and numbers that each group has of its own.

    ``groups`` holds a label for each row. Own constants are further inputs of the law, called a, b, ...;
    ``found.candidates[0].groups`` has their values and intervals for every group. Units of measurement, errors,
    ``noise`` and conditions on the form of the law are those of ``search``; own constants have no unit, as all numbers.

    >>> t = np.tile(np.linspace(0.5, 6, 12), 2)[:, None]
    >>> which = np.repeat(["old", "new"], 12)
    >>> noise = np.random.default_rng(1).standard_normal(24)
    >>> y = np.where(which == "old", 2.0, 5.0) * t[:, 0] ** 2 * np.exp(0.02 * noise)
    >>> found = search_groups(t, y, which, ["t"], stages=["additive", "power"])
    >>> print(found.law, *(round(g.own[0].value, 1) for g in found.candidates[0].groups.groups.values()))
    a*t**2 2.0 5.0
    """
    began = time.monotonic()
    end = np.inf if max_time is None else began + 0.95 * max_time
    whole = Problem.from_table(
        x, y, seed=seed, noise=noise, max_time=max_time, x_units=x_units, y_unit=y_unit
    )
    whole = whole.with_errors(y_err, sample_weight, None, x_err, bootstrap)
    names = check_names(names, whole.inputs)
    conditions = Constraints.of(names, contains, without, exponents, functions)
    whole = whole.constrained(conditions)
    rows = in_table_order(whole)
    labels = checked_labels(groups, len(rows))
    kinds = list(dict.fromkeys(labels))
    if len(kinds) < 2:
        raise NALMError(f"All rows belong to the group {kinds[0]}: leave groups out, or add another one.")
    if len(kinds) == len(rows):
        raise NALMError(
            f"Each of the {len(rows)} rows is a group of its own: name labels that several rows share."
        )
    which = np.array([kinds.index(label) for label in labels])
    met: dict[Node, tuple[Node, str]] = {}
    sources = list(_sources(rows, which, seed, x_units, y_unit))
    for k, problem in enumerate(sources):
        now = time.monotonic()
        with contextlib.suppress(NALMError):  # a column that the law must have is constant in this group
            problem = problem.constrained(conditions)
        problem.deadline = now + SHARE * (end - now) / (len(sources) - k) if end < np.inf else np.inf
        for node, stage in _structures(problem, names, stages, watch):
            met.setdefault(structure(node), (node, stage))

    def check() -> None:
        if time.monotonic() > end:
            raise TimeUpError

    rule = DimensionRule(whole)
    order = [f for f in chosen(list(met.values()), rows, which, check) if rule.allows(f.node)]
    if not order and (conditions or whole.dimensions is not None):
        raise NALMError("No law of the form that is asked for fits all groups: ask for less.")
    if not order:
        raise NALMError("No law has a value on the rows of all groups: check the columns, or give more time.")
    best = order[0]
    draws = best.joint.redrawn(best.fit, bootstrap, seed) if bootstrap else None
    laws = [listed(found, names, kinds, best.score) for found in order[1:MOST]]
    laws = [listed(best, names, kinds, best.score, draws), *laws]
    certificate = certificate_of_groups(laws[0], whole, which, best.parts[0].noise, best.scatter, best.count)
    certificate = with_rivals(certificate, laws)
    first = replace(laws[0], certificate=certificate)
    seconds = time.monotonic() - began
    return Discovery(first.law, certificate, [first, *laws[1:]], first.stage, seconds)


def _sources(
    rows: Observations, which: Any, seed: int, x_units: Sequence[str] | None, y_unit: str | None
) -> Iterator[Problem]:
    """Yield tables in which a structure may show: all rows with y over its size in the group, and large groups."""
    y: Array = rows.y
    size = np.array([np.sqrt(np.mean(y[which == g] ** 2)) or 1.0 for g in range(which.max() + 1)])
    yield Problem.from_table(rows.x, y / size[which], seed=seed, x_units=x_units, y_unit=y_unit)
    counts = np.bincount(which)
    for g in np.argsort(-counts, kind="stable")[:ALONE]:
        if counts[g] >= FEWEST_ROWS and np.ptp(y[which == g]) > 0:
            own = rows.taken(which == g)
            yield Problem.from_table(own.x, own.y, seed=seed, x_units=x_units, y_unit=y_unit)


def _structures(
    problem: Problem, names: tuple[str, ...], stages: Sequence[str] | None, watch: Watch | None
) -> Iterator[tuple[Node, str]]:
    """Yield the laws with the most evidence on one table, without the patient stages of a search."""
    quick = {name: stage for name, stage in select(stages).items() if not stage.patient}
    with np.errstate(all="ignore"), contextlib.suppress(TimeUpError):
        state = Search(problem, names, quick, watch)
        state.explore()
        state.remember_proposals()
        met: dict[Node, str] = {node: stage for node, (_, stage) in state.met.items()}
        order = ranked(met, distinct(problem), state.rule.allows, problem.check)
        for found in order[:TAKEN]:
            yield found.node, found.stage
            if (logistic := _logistic(found.node)) is not None:
                yield logistic, found.stage


def _logistic(node: Node) -> Node | None:
    """Return the logistic function that a tanh with an offset may stand for: growth from 0 to a height."""
    match node:
        case Sum((Function("tanh", argument),), (weight,), bias) if bias:
            return Sum((Function("logistic", tidied(Sum((argument,), (2.0,)))),), (weight + bias,))
    return None
