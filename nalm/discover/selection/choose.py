"""Which law? The candidates of a search are fitted to all rows under each kind of noise, simplified, and ranked."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from nalm.discover.fit.description_length import is_nice
from nalm.discover.fit.fallback import log_linear, simple_fits
from nalm.discover.fit.least_squares import UNSOLVABLE
from nalm.discover.law.expression import Node, Sum, evaluate, numbers, roles, size, used
from nalm.discover.problem import Problem, TimeUpError
from nalm.discover.selection.evidence import FREE, SYMBOL, Fitted, fit, functions, scalable, unsettled
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.discover.selection.simplify import Allows, simplified
from nalm.discover.selection.structure import structure

FITTED, SIMPLIFIED = 60, 10  # candidates under each kind of noise
FIRST = 12  # of these are fitted under both kinds even if time is up: they must be compared
EACH_SIZE = 3  # of these, the best of every size
LARGEST = 60  # symbols of a candidate
COMPARED = 40  # laws that a further one must differ from,
ALIKE = 1e-3  # by so much of the noise on some row


def ranked(
    met: Mapping[Node, str], problem: Problem, allows: Allows, check: Callable[[], None]
) -> list[Fitted]:
    """Return the laws with the most evidence, each structure once under its best kind of noise, best first.

    ``met`` holds the candidates with their stages. If time is up, the laws that were fitted until then are ranked.
    """
    best: dict[Node, Fitted] = {}
    rows = Observations.of(problem)

    def keep(found: Fitted, among: dict[Node, Fitted]) -> None:
        if np.isfinite(found.score) and (found.form not in among or found.score < among[found.form].score):
            among[found.form] = found

    with contextlib.suppress(TimeUpError), np.errstate(all="ignore"):
        kinds = [(kind, list(_pool(met, kind, problem, allows))) for kind in rows.kinds()]
        first = [(kind, pool[:FIRST], SIMPLIFIED // 3, lambda: None) for kind, pool in kinds]
        for kind, pool, few, watch in [*first, *((k, pool[FIRST:], SIMPLIFIED, check) for k, pool in kinds)]:
            fitted: dict[Node, Fitted] = {}
            for node, stage in pool:
                watch()
                with contextlib.suppress(*UNSOLVABLE):
                    for found in _fits(node, kind, stage, problem, watch):
                        keep(found, best)
                        keep(found, fitted)
            for found in sorted(fitted.values(), key=lambda f: f.score)[:few]:
                with contextlib.suppress(*UNSOLVABLE):
                    for simpler in simplified(found, allows, watch):
                        keep(simpler, best)
    return distinct_laws(best.values())


def distinct_laws(found: Iterable[Fitted]) -> list[Fitted]:
    """Return the laws, the one with the most evidence first, without those that are other ways to write one before."""
    kept: list[Fitted] = []
    for law in sorted(found, key=lambda f: f.score):
        if not any(_alike(law, other) for other in kept[:COMPARED]):
            kept.append(law)
    return kept


def _alike(one: Fitted, other: Fitted) -> bool:
    """Return whether two laws are forms of one law: their values differ by little compared with the noise."""
    near = ALIKE * min(float(np.std(one.rows.y - f.value)) for f in (one, other))
    with np.errstate(all="ignore"):
        return one.count == other.count and bool((np.abs(one.value - other.value) <= near).all())


def _fits(
    node: Node, rows: Observations, stage: str, problem: Problem, check: Callable[[], None]
) -> Iterator[Fitted]:
    """Yield a candidate fitted to all rows; with units of measurement or conditions on exponents, these stay.

    A law with functions is also fitted with its nice numbers as they are, such as the 1 in exp(a) - 1.
    """
    node = scalable(node)
    powers = np.array([k == "exponent" for k in roles(node)], bool)
    kept = problem.dimensions is not None or bool(problem.constraints.step)
    free = unsettled(node, rows.x) & ~(powers & kept)
    yield fit(node, rows, free, stage, check)
    fewer = free & unsettled(node, rows.x, fixed=True)
    if functions(node) and fewer.any() and (fewer != free).any():
        yield fit(node, rows, fewer, stage, check)


def _pool(
    met: Mapping[Node, str], rows: Observations, problem: Problem, allows: Allows
) -> Iterator[tuple[Node, str]]:
    """Yield the candidates that are worth a fit: the best at a first look, over all and of every size."""
    for node, stage in _simple(rows, problem):
        if allows(node):
            yield node, stage
    looks = {
        node: _first_look(node, rows)
        for node in met
        if used(node) and size(node) <= LARGEST and np.isfinite(numbers(node)).all()
    }
    order = sorted((n for n in looks if np.isfinite(looks[n])), key=lambda n: looks[n])
    counts: dict[int, int] = {}
    forms: set[Node] = set()
    for node in order:
        count = counts.get(size(node), 0)
        if (len(forms) >= FITTED and count >= EACH_SIZE) or (form := structure(node)) in forms:
            continue
        forms.add(form)
        counts[size(node)] = count + 1
        if allows(node):
            yield node, met[node]


def _simple(rows: Observations, problem: Problem) -> Iterator[tuple[Node, str]]:
    """Yield a number, a line and, where logarithms exist, a product of powers of all columns and of each."""
    yield Sum((), (), float(np.median(rows.y)) or 1.0), "constant"
    yield from simple_fits(rows.x, rows.y, problem.columns)
    if rows.noise == NoiseKind.RELATIVE:
        for i in problem.columns if len(problem.columns) > 1 else ():
            found = log_linear(rows.x, rows.y, [i])
            if found is not None:
                yield found, "log-linear"


def _first_look(node: Node, rows: Observations) -> float:
    """Return the score of a candidate as it is, up to a factor, without a term for small samples."""
    with np.errstate(all="ignore"):
        value = evaluate(node, rows.x)
        if rows.noise == NoiseKind.RELATIVE:
            r = np.log(rows.y / value)
            r = r - np.mean(r)
        else:
            a, b = value / rows.error, rows.y / rows.error
            r = b - a * (np.dot(a, b) / np.dot(a, a))
    n = len(r)
    pairs = zip(numbers(node), roles(node), strict=True)
    dear = sum(not is_nice(v, role) for v, role in pairs)
    if dear >= n - 1:
        return np.inf
    return rows.misfit_of(r) + float(np.log(n)) * (FREE * dear + SYMBOL * size(node))
