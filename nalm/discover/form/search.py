"""A fit of a known form in the shape of a search: law, certificate, and the constants by name."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nalm.discover.certificate import Certificate, certify, domain_of
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.discovery import Candidate, Discovery
from nalm.discover.fit.least_squares import solvable
from nalm.discover.fit.snap import snapped
from nalm.discover.form.fit import FormFit, fit_form
from nalm.discover.law import Law
from nalm.discover.law.expression import evaluate, numbers
from nalm.discover.law.names import check_names
from nalm.discover.problem import Problem
from nalm.discover.selection.answer import ALL, looks_like_noise, printed_units
from nalm.discover.selection.doubts import doubt_of_fit
from nalm.discover.selection.intervals import Uncertainty
from nalm.discover.selection.printed import allowed
from nalm.discover.selection.rows import NoiseKind, Observations

STEP = 1e-5  # of a parameter: between two values of a slope


def search_form(
    form: str,
    x: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    seed: int = 0,
    y_err: Any = None,
    sample_weight: Any = None,
    digits: int | None = None,
) -> Discovery:
    """Fit the parameters of a form to a table, and test what can be said about the law.

    >>> rows = np.random.default_rng(0).uniform(1, 3, (40, 2))
    >>> found = search_form("k*v**p/m", rows, 7.252 * rows[:, 0] ** 2 / rows[:, 1], ["v", "m"])
    >>> print(found.law, found.certificate.verdict, [c.name for c in found.candidates[0].constants])
    7.252*v**2/m exact ['k', 'p']
    """
    began = time.monotonic()
    problem = Problem.from_table(x, y, seed=seed).with_errors(y_err, sample_weight, digits)
    names = check_names(names, problem.inputs)
    rows = Observations.of(problem, ALL)
    found = fit_form(
        form,
        rows.x,
        rows.y,
        names,
        error=None if problem.error is None else rows.error,
        absolute=problem.absolute_error,
        seed=seed,
    )
    if found.form.of_logarithm:
        rows = replace(rows, noise=NoiseKind.RELATIVE, error=np.ones(len(rows)))
    node = found.form.node(found.values)
    with np.errstate(all="ignore"):
        exact = (n for n in (*solvable(snapped(node, problem)), node) if certify(n, problem, names))
        node = next(exact, node)
        law, certificate = Law(node, names), certify(node, problem, names)
        value = evaluate(node, rows.x)
        error = float(np.sqrt(np.mean((rows.y - value) ** 2))) / (float(np.std(rows.y)) or 1.0)
        if not certificate:
            units = printed_units(rows, problem)
            words: str | None
            if units is not None and (np.abs(rows.y - value) <= allowed(node, rows.x, *units)).all():
                verdict, words = Verdict.PRINTED, f"the law holds to the printed digits on {len(rows):,} rows"
            else:
                words = doubt_of_fit(node, len(found.constants), rows, problem)
                verdict = Verdict.CONSISTENT if words is None else Verdict.NONE
                words = words or looks_like_noise(rows, found.scatter)
            certificate = Certificate(
                verdict,
                f"{words}.",
                0,
                error,
                error,
                problem.precision,
                None,
                domain_of(node, problem, names),
            )
    constants = tuple(replace(c, name=name) for name, c in found.constants.items())
    only = Candidate(law, error, "form", certificate, 0.0, constants, _uncertainty(found, rows))
    return Discovery(law, certificate, [only], "form", time.monotonic() - began)


def _uncertainty(found: FormFit, rows: Observations) -> Uncertainty | None:
    """Carry the spread of the parameters over to the numbers of the law; None where their count depends on values."""
    values, count = found.values, len(numbers(found.form.node(found.values)))
    slopes = np.zeros((count, len(values)))
    for j, (name, value) in enumerate(values.items()):
        step = STEP * (abs(value) or 1.0)
        ends = [numbers(found.form.node({**values, name: value + s * step})) for s in (1, -1)]
        if len(ends[0]) != count or len(ends[1]) != count:
            return None
        slopes[:, j] = (np.array(ends[0]) - np.array(ends[1])) / (2 * step)
    return Uncertainty.on(rows, slopes @ found.spread, found.scatter, len(values))
