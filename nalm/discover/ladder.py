"""From a table of numbers to the law behind it: stage after stage until one law is certified."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.discover.climb import Candidate as Candidate
from nalm.discover.climb import Climb, Stage, Watch
from nalm.discover.climb import Discovery as Discovery
from nalm.discover.law import checked_names
from nalm.discover.problem import TimeUpError, pose
from nalm.discover.stages.additive import additive
from nalm.discover.stages.monomials import monomials
from nalm.discover.stages.polynomial import polynomial
from nalm.discover.stages.power import power
from nalm.discover.stages.powersum import powersum
from nalm.discover.stages.product import product
from nalm.discover.stages.ratio import ratio
from nalm.discover.stages.scratchpad import deep_scratchpad, scratchpad
from nalm.errors import unknown

LADDER: dict[str, Stage] = {
    "additive": additive,
    "power": power,
    "ratio": ratio,
    "product": product,
    "powersum": powersum,
    "polynomial": polynomial,
    "scratchpad": scratchpad,
    "deep": deep_scratchpad,
    "monomials": monomials,
}


def search(
    x: Any,
    y: Any,
    names: Sequence[str] | None = None,
    *,
    noise: float | None = 0.0,
    seed: int = 0,
    max_time: float | None = None,
    stages: Sequence[str] | None = None,
    x_units: Sequence[str] | None = None,
    y_unit: str | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """Find the law y = f(x) behind a table x (rows, columns), and say what is proven of it.

    ``noise`` is the standard deviation of the noise on y over that of y: 0 looks for laws that hold to
    rounding, a level for laws consistent with it, None for either. Without a certificate the best
    candidate is returned, with the verdict none. Every random choice follows from the seed.

    With ``x_units``, one for each column, and ``y_unit``, such as "m/s^2", only laws of the right dimension are
    considered: numbers have none, terms of a sum have the same, and a constant of nature is a column.
    ``watch`` is told, stage by stage, how far the search has come.

    >>> x = np.random.default_rng(0).uniform(-2, 2, (100, 3))
    >>> found = search(x, x[:, 0] / x[:, 2])
    >>> print(found.law, found.certificate.verdict)
    a/c exact
    """
    began = time.monotonic()
    problem = pose(x, y, seed=seed, noise=noise, max_time=max_time, x_units=x_units, y_unit=y_unit)
    names = checked_names(names, problem.inputs)
    climb = Climb(problem, names, _chosen(stages), watch)
    with np.errstate(all="ignore"):  # drafts may overflow; what is not finite is never certified
        try:
            climb.exact()
            if climb.certified is None:
                climb.noisy()
        except TimeUpError:
            pass
        return climb.discovery(began)


def _chosen(stages: Sequence[str] | None) -> dict[str, Stage]:
    names = list(LADDER) if stages is None else list(stages)
    for name in names:
        if name not in LADDER:
            raise unknown("stage", name, LADDER)
    return {name: LADDER[name] for name in names}
