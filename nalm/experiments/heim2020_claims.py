"""The published numbers of Heim 2020 whose points are single runs, tied to our cases.

Niklas Heim, Tomáš Pevný, Václav Šmídl: Neural power units, NeurIPS 2020, arXiv:2006.01681.
"""

from collections.abc import Iterable, Mapping

from nalm.config import Case, Claim
from nalm.experiments.published import claims, median, once, rows_of, summed, tied

LARGE_TASK = "large scale arithmetic (100 inputs)"
TABLES, POINTS = ("Table 1", "table"), ("Figure 7",)
BEST = "NPU"  # of the fits in Figure 4: the error of the trajectory drawn there is the least of its points
EXPONENTS = ("kappa", "gamma", "R exponent")


def system_claims(systems: Mapping[tuple[str, int, float], Case]) -> tuple[Claim, ...]:
    """Return the claims about the fits of an epidemic; the cases are given by model, width and weight of L1.

    Of the hundred published points of a model: the medians, and the least error. Exponents are those of one fit.
    """
    found = []
    for name in dict.fromkeys(name for name, *_ in systems):
        own = tuple(case.hash for (n, *_), case in systems.items() if n == name)
        points, corner = (
            claims("fSIR NODE", places=("Figure 4 left",), units=(u,)) for u in (name, f"{name} front")
        )
        errors, sizes = ([c for c in points if c.metric == metric] for metric in ("mse", "n_nonzero_params"))
        least = summed(errors, "least_mse", min(c.value for c in errors))
        drawn = claims("fSIR trajectory") if name == BEST else ()
        least = least.replace(points=(*least.points, *rows_of(corner), *rows_of(drawn)))
        both = (median(errors, "median_mse"), median(sizes, "median_params"))
        found += [claim.replace(operation="", cases=own) for claim in (*both, least)]
    narrow = (systems["RealNPU", 6, 1.0].hash,)
    exponents = (c for c in claims("fSIR NODE", places=("Sec 4.1",)) if c.metric in EXPONENTS)
    return (*found, *(c.replace(cases=narrow) for c in exponents))


def large_claims(task: str, cases: Mapping[str, Case]) -> tuple[Claim, ...]:
    """Return the claims about a large task; the cases are given by model.

    Errors are those of the tables, which are the medians of the points of Figure 7; parameters are in the figure only.
    Both are about the ten best runs.
    """
    named = {(name, task, ""): case for name, case in cases.items()}
    tables = once(tied(_about(task, TABLES), named))
    points = _about(task, POINTS)
    found = []
    for claim in tables:
        own = [c for c in points if c.unit == claim.unit and c.metric == claim.metric]
        found.append(claim.replace(points=rows_of(own)))
    for name in cases:
        sizes = [c for c in points if c.unit == name and c.metric == "n_nonzero_params"]
        found.append(median(sizes, "median_params_of_best").replace(cases=(cases[name].hash,)))
    return tuple(found)


def _about(task: str, places: Iterable[str]) -> list[Claim]:
    """Return the claims about a task; one of the tables calls 1/a a division."""
    found = claims(LARGE_TASK, places=tuple(places))
    renamed = (c.replace(operation="reciprocal") if c.operation == "divide" else c for c in found)
    return [c for c in renamed if c.operation == task]
