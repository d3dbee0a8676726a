"""A fit of a known form in the shape of a search: law, certificate, and the constants by name."""

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.certificate import Certificate, certify, domain_of
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.digits import Digits
from nalm.discover.discovery import Candidate, Discovery
from nalm.discover.fit.least_squares import solvable
from nalm.discover.fit.snap import snapped
from nalm.discover.form.fit import FormFit, fit_form
from nalm.discover.form.groups import fit_rows_of_groups
from nalm.discover.form.text import Form
from nalm.discover.grouped.law import Group, Groups, checked_labels
from nalm.discover.grouped.verdict import certificate_of_groups
from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Node, evaluate, numbers
from nalm.discover.law.names import check_names
from nalm.discover.problem import Problem
from nalm.discover.selection.answer import ALL
from nalm.discover.selection.bootstrap import drawn, intervals
from nalm.discover.selection.doubts import beyond_noise, doubt_of_fit
from nalm.discover.selection.evidence import Fitted, minimised, unsettled
from nalm.discover.selection.intervals import Uncertainty
from nalm.discover.selection.printed import printed_units, resolved, within
from nalm.discover.selection.rounding import shortened
from nalm.discover.selection.rows import NoiseKind, Observations, in_table_order
from nalm.discover.selection.words import looks_like_noise
from nalm.errors import NALMError

STEP = 1e-5  # of a parameter: between two values of a slope
GIVEN = "The form was given and not compared with others"


def search_form(
    form: str,
    x: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    y_err: Any = None,
    sample_weight: Any = None,
    x_err: Any = None,
    digits: Digits | None = None,
    bootstrap: int = 0,
    noise: float | None = None,
    x_units: Sequence[str] | None = None,
    y_unit: str | Sequence[str] | None = None,
) -> Discovery:
    """Fit the parameters of a form to a table, and test what can be said about the law.

    ``noise`` is that of ``search``: a level that the residual must not exceed, or 0 for an exact law only. Units of
    measurement are refused, because the parameters of a form have whatever units it needs.

    >>> rows = np.random.default_rng(0).uniform(1, 3, (40, 2))
    >>> found = search_form("k*v**p/m", rows, 7.252 * rows[:, 0] ** 2 / rows[:, 1], ["v", "m"])
    >>> print(found.law, found.certificate.verdict, [c.name for c in found.candidates[0].constants])
    7.252*v**2/m exact ['k', 'p']
    """
    began = time.monotonic()
    _refuse_units(x_units, y_unit)
    problem = Problem.from_table(x, y, seed=seed, noise=noise)
    problem = problem.with_errors(y_err, sample_weight, digits, x_err, bootstrap)
    names = check_names(names, problem.inputs)
    rows = Observations.of(problem, ALL)
    found = _fitted(form, rows, names, problem)
    if found.form.of_logarithm:
        rows = replace(rows, noise=NoiseKind.RELATIVE, error=np.ones(len(rows)), x_error=None)
    node = found.form.node({n: shortened(c.value, c.error) for n, c in found.constants.items()})
    rows = rows.effective(node)
    with np.errstate(all="ignore"):
        whole = found.form.node(found.values)
        exact = (n for n in (*solvable(snapped(whole, problem)), whole) if certify(n, problem, names))
        node = next(exact, node)
        law, certificate = Law(node, names), certify(node, problem, names)
        value = evaluate(node, rows.x)
        error = float(np.sqrt(np.mean((rows.y - value) ** 2))) / (float(np.std(rows.y)) or 1.0)
        if not certificate and noise != 0:
            words: str | None
            if _holds_as_printed(node, len(found.constants), rows, problem):
                verdict, words = Verdict.PRINTED, f"the law holds to the printed digits on {len(rows):,} rows"
            else:
                words = beyond_noise(rows.y - value, len(found.constants), problem)
                words = words or doubt_of_fit(node, len(found.constants), rows, problem, forms=1)
                verdict = Verdict.CONSISTENT if words is None else Verdict.NONE
                words = words or f"{looks_like_noise(rows, found.scatter)}. {GIVEN}"
            certificate = Certificate(
                verdict,
                f"{words}.",
                0,
                error,
                float(noise or error),
                problem.precision,
                noise,
                domain_of(node, problem, names),
            )
    known = list(found.constants.values())
    if bootstrap:
        table = []
        for again in drawn(rows, bootstrap, seed):
            with contextlib.suppress(NALMError):
                table.append(
                    np.array(list(_fitted(form, again, names, problem, found.values).values.values()))
                )
        known = list(intervals(np.array(list(found.values.values())), table, bootstrap))
    constants = tuple(replace(c, name=name) for name, c in zip(found.constants, known, strict=True))
    only = Candidate(law, error, "form", certificate, 0.0, constants, _uncertainty(found, rows))
    return Discovery(law, certificate, [only], "form", time.monotonic() - began)


def _refuse_units(x_units: Sequence[str] | None, y_unit: str | Sequence[str] | None) -> None:
    if given := x_units or y_unit:
        listed = given if isinstance(given, str) else ", ".join(given)
        raise NALMError(
            f"A form takes no units of measurement, got {listed}: leave them out, its parameters have those it needs."
        )


def _holds_as_printed(node: Node, fitted: int, rows: Observations, problem: Problem) -> bool:
    """Return whether a law holds to the printed digits on every row, and these would show a missing term."""
    units = printed_units(rows, problem)
    if units is None or not within(rows, *units, node):
        return False
    free = unsettled(node, rows.x) if fitted else np.zeros(len(numbers(node)), bool)
    return resolved(Fitted(node, free, replace(rows, noise=NoiseKind.ADDITIVE), "form"), *units)


def _fitted(
    form: str,
    rows: Observations,
    names: Sequence[str],
    problem: Problem,
    start: Mapping[str, float] | None = None,
) -> FormFit:
    """Fit a form to rows; errors of the columns count with what the law makes of them."""
    given = problem.error is not None

    def fitted(rows: Observations, start: Mapping[str, float] | None) -> FormFit:
        error, absolute = rows.error if given else None, problem.absolute_error
        return fit_form(
            form, rows.x, rows.y, names, error=error, absolute=absolute, start=start, seed=problem.seed
        )

    found = fitted(rows, start)
    if rows.x_error is None or found.form.of_logarithm:
        return found
    keys = list(found.values)

    def residual(p: Array) -> Array:
        node = found.form.node(dict(zip(keys, p.tolist(), strict=True)))
        return rows.effective(node).residual(node)

    best = dict(zip(keys, minimised(residual, np.array(list(found.values.values()))).tolist(), strict=True))
    # the numbers of the least effective sum of squares, with the errors that they have at its weights
    again = fitted(rows.effective(found.form.node(best)), best)
    shifted = {n: c.moved(best[n]) for n, c in again.constants.items()}
    return replace(again, constants=shifted)


def search_form_groups(
    form: str,
    x: Any,
    y: Any,
    groups: Any,
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    y_err: Any = None,
    sample_weight: Any = None,
    x_err: Any = None,
    bootstrap: int = 0,
    noise: float | None = None,
    x_units: Sequence[str] | None = None,
    y_unit: str | Sequence[str] | None = None,
) -> Discovery:
    """Fit a form to groups of rows; parameters that differ between groups are further inputs of the law.

    ``noise`` and units are those of ``search_form``.

    >>> t = np.tile(np.linspace(0.5, 6, 12), 2)[:, None]
    >>> y = np.repeat([2.0, 5.0], 12) * np.exp(-0.4 * t[:, 0]) + 0.01 * np.sin(9 * t[:, 0])
    >>> found = search_form_groups("N*exp(-k*t)", t, y, np.repeat(["old", "new"], 12), ["t"])
    >>> found.candidates[0].groups.names
    ('N',)
    """
    began = time.monotonic()
    _refuse_units(x_units, y_unit)
    whole = Problem.from_table(x, y, seed=seed, noise=noise)
    whole = whole.with_errors(y_err, sample_weight, None, x_err, bootstrap)
    names = check_names(names, whole.inputs)
    rows = in_table_order(whole)
    labels = checked_labels(groups, len(rows))
    found = fit_rows_of_groups(form, rows, names, labels, seed=seed, bootstrap=bootstrap)
    own = tuple(n for n in found.form.parameters if n not in found.shared)
    common = replace(found.form, columns=(*names, *own), parameters=tuple(found.shared))
    kind = NoiseKind.RELATIVE if found.form.of_logarithm else rows.noise
    rows = replace(rows, noise=kind)
    parts = {}
    for label, numbers_of in found.own.items():
        values, node = found.values(label), found.form.node(found.values(label))
        spread = _carried(found.form, values, found.spreads[label])
        spread = np.full((len(numbers(node)), 1), np.inf) if spread is None else spread
        sure = Uncertainty.on(rows, spread, found.scatter, len(rows) - found.left)
        parts[label] = Group(tuple(numbers_of.values()), node, sure)
    short = {n: shortened(c.value, c.error) for n, c in found.shared.items()}
    law = Law(common.node(short), (*names, *own))
    constants = tuple(found.shared.values())
    kinds = list(found.own)
    which = np.array([kinds.index(label) for label in labels])
    first = Candidate(law, np.nan, "form", None, 0.0, constants, None, Groups(own, parts))
    count = len(rows) - found.left
    certificate = certificate_of_groups(first, whole, which, kind, found.scatter, count)
    if certificate:
        certificate = replace(certificate, tested=f"{certificate.tested} {GIVEN}.")
    first = replace(first, certificate=certificate, error=certificate.error)
    return Discovery(law, certificate, [first], "form", time.monotonic() - began)


def _uncertainty(found: FormFit, rows: Observations) -> Uncertainty | None:
    """Compute the uncertainty of the law's numbers from that of the parameters; None where there is none."""
    spread = _carried(found.form, found.values, found.spread)
    return None if spread is None else Uncertainty.on(rows, spread, found.scatter, len(found.values))


def _carried(form: Form, values: Mapping[str, float], spread: Array) -> Array | None:
    """Compute the spread of the law's numbers from that of the parameters; None if their count varies."""
    count = len(numbers(form.node(values)))
    slopes = np.zeros((count, len(values)))
    for j, (name, value) in enumerate(values.items()):
        step = STEP * (abs(value) or 1.0)
        ends = [numbers(form.node({**values, name: value + s * step})) for s in (1, -1)]
        if len(ends[0]) != count or len(ends[1]) != count:
            return None
        slopes[:, j] = (np.array(ends[0]) - np.array(ends[1])) / (2 * step)
    return np.asarray(slopes @ spread)
