"""The ladder: ``search`` tries stage after stage until one law is certified, then once more with noise admitted."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.discover.arguments import jobs_of
from nalm.discover.constraints import Constraints
from nalm.discover.digits import Digits
from nalm.discover.discovery import Discovery
from nalm.discover.law.names import check_names
from nalm.discover.problem import Problem
from nalm.discover.search_state import Search, Watch
from nalm.discover.stages import select


def search(
    x: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    noise: float | None = None,
    seed: int = 0,
    max_time: float | None = None,
    stages: Sequence[str] | None = None,
    x_units: Sequence[str] | None = None,
    y_unit: str | None = None,
    y_err: Any = None,
    sample_weight: Any = None,
    x_err: Any = None,
    digits: Digits | None = None,
    bootstrap: int = 0,
    contains: Sequence[str] = (),
    without: Sequence[str] = (),
    exponents: str = "any",
    functions: Sequence[str] | None = None,
    n_jobs: int | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """Find the law y = f(x) behind a table x (rows, columns), and test what can be said about it.

    ``noise`` is the standard deviation of the noise on y over that of y: 0 looks for laws that hold to
    rounding, a level for laws consistent with it, None (default) for either. If no law gets a certificate,
    the best candidate is returned with the verdict none. Every random choice follows from the seed.

    With ``x_units``, one for each column, and ``y_unit``, such as "m/s^2", only laws of the right dimension are
    considered: numbers have none, terms of a sum have the same, and a constant of nature is a column.
    ``y_err`` is the standard error of y on each row, ``sample_weight`` one over its square up to a factor, ``x_err``
    that of the cells or columns of x, beside ``y_err``. ``bootstrap`` is how often rows are drawn again for intervals
    of the law's numbers, ``digits`` the significant ones of a rounded table, or how each column and then y was printed.
    ``contains``, ``without`` name columns of the law; ``exponents`` are "any", "half" or "integer"; ``functions`` are
    the only ones allowed, () none.
    ``n_jobs`` is how many processes try stages at the same time, -1 one on each core; the law is the same.
    ``watch`` is called after every stage with one line about the progress of the search.

    >>> x = np.random.default_rng(0).uniform(-2, 2, (100, 3))
    >>> found = search(x, x[:, 0] / x[:, 2])
    >>> print(found.law, found.certificate.verdict)
    a/c exact
    """
    began = time.monotonic()
    problem = Problem.from_table(
        x, y, seed=seed, noise=noise, max_time=max_time, x_units=x_units, y_unit=y_unit
    ).with_errors(y_err, sample_weight, digits, x_err, bootstrap)
    names = check_names(names, problem.inputs)
    problem = problem.constrained(Constraints.of(names, contains, without, exponents, functions))
    state = Search(problem, names, select(stages), watch, jobs_of(n_jobs))
    state.explore()
    with np.errstate(all="ignore"):
        return state.discovery(began)
