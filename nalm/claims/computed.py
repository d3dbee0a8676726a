"""Published numbers that need no training: the library computes its own, and they are equal or not.

COMPUTED is the registry, by the task of the published numbers.
"""

import functools
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nalm.claims import ClaimVerdict
from nalm.config import Claim
from nalm.stats import Interval

Array = npt.NDArray[np.float64]
GOLD_SLACK = 0.3  # relative: these errors are sums of roundings in float32, not always in the same order
DIGITS = 2e-5  # the table is printed with five decimals; ours is computed in float32
SOLVER = 0.01  # people: the tolerance of the published solver
ROWS = 1_000  # of the published check of precision

Found = tuple[
    float, float, str
]  # our number, how far the published one may lie from it, and what was computed

# -- errors with gold weights (Mistry 2023, Figure 5.12) ---------------------------------------------

GOLD_TASKS = {
    "1/a from [a]": ("reciprocal", 1),
    "1/a from [a,b]": ("reciprocal", 2),
    "a/b from [a,b]": ("divide", 2),
}


def gold(claim: Claim) -> Found:
    """Compute the squared error of a unit with gold weights on numbers close to 0."""
    from nalm.landscapes.gold import error, unit_with

    operation, inputs = GOLD_TASKS[claim.operation]
    name = claim.unit.replace(" (eps=0)", ", no epsilon")
    ours = error(unit_with(name, operation, inputs), operation, float(claim.where.split(",")[1].rstrip(")")))
    return ours, GOLD_SLACK * claim.value, f"with gold weights in float32; equal within {GOLD_SLACK:.0%}"


# -- precision of the data (the authors' check of their generator) -----------------------------------

FORMULAS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
}


def precision(claim: Claim) -> Found:
    """Compute how many of a thousand samples miss their target when the operation itself is applied, in percent."""
    dtype = "float64" if claim.source.endswith("float64.csv)") else "float32"
    off = _missed(claim.operation, claim.where, dtype)
    limit = claim.metric.removeprefix("failure_rate_(").rstrip(")")
    missed = off > 0 if limit == "equality" else off > float(limit)
    what = f"of {ROWS:,} samples in {dtype}, drawn as in the published check"
    return float(missed.mean() * 100), 1e-9, what


@functools.cache
def _missed(operation: str, where: str, dtype: str) -> Array:
    """Return squared differences between the operation on rounded inputs and its rounded result."""
    ends = [float(text) for text in re.findall(r"-?[\d.]+", where)]
    rng = np.random.RandomState(0)
    rng.randint(0, 1)  # where the operands lie
    rng = np.random.RandomState(rng.randint(0, 2**32 - 1))
    if len(ends) == 2:
        x = rng.uniform(ends[0], ends[1], size=(ROWS, 2))
    else:
        x = np.stack([_either(rng, ends) for _ in range(ROWS)])
    formula = FORMULAS[operation]
    rounded = x.astype(dtype)
    exact = formula(x[:, 0], x[:, 1]).astype(dtype).astype(np.float64)
    return np.square(formula(rounded[:, 0], rounded[:, 1]).astype(np.float64) - exact)


def _either(rng: np.random.RandomState, ends: list[float]) -> Array:
    """Draw two numbers, each from one of two ranges."""
    first = rng.uniform(ends[0], ends[1], size=2)
    second = rng.uniform(ends[2], ends[3], size=2)
    return np.where(rng.randint(2, size=2), first, second)


# -- an example that misleads the squared error (Mistry 2023, Table 6.2) ------------------------------

RIGHT = ((0.0, 1.0, 1.0, 0.0), (0.0, 0.0, 1.0, 1.0))  # what the two sums select of four inputs
WEIGHTS = {
    "selection ok, weights ok": RIGHT,
    "selection ok, one weight 0.9": ((0.0, 0.9, 1.0, 0.0), RIGHT[1]),
    "selection wrong, weight 0.9": ((0.0, 0.0, 1.0, 0.9), RIGHT[1]),
}
INPUTS = {"i1=[1,2,3,4]": (1.0, 2.0, 3.0, 4.0), "i2=[1.11..1.14]": (1.11, 1.12, 1.13, 1.14)}


def example(claim: Claim) -> Found:
    """Compute the output of a NAU and an NMU with given weights, or its distance from the right one."""
    weights, inputs = claim.where.split("; ")
    ours = _product(WEIGHTS[weights], INPUTS[inputs])
    if claim.metric == "abs_error":
        ours = abs(ours - _product(RIGHT, INPUTS[inputs]))
    return ours, DIGITS, "a NAU and an NMU with these weights"


def _product(sums: tuple[tuple[float, ...], ...], inputs: tuple[float, ...]) -> float:
    import torch

    from nalm.units import NAU, NMU

    first, second = NAU(4, 2, generator=torch.Generator()), NMU.solved("multiply")
    first.assign_({"weight": torch.tensor(sums)})
    with torch.no_grad():
        return float(second(first(torch.tensor(inputs))))


# -- the true course of an epidemic (Heim 2020, Figure 4) --------------------------------------------


def course(claim: Claim) -> Found:
    """Compute the number of people at a time of the fractional SIR model."""
    from nalm.tasks.epidemic import NAMES

    times, people = _epidemic()
    at = int(np.abs(times - float(claim.where.removeprefix("t="))).argmin())
    ours = people[at, NAMES.index(claim.unit.removeprefix("true "))]
    return float(ours), SOLVER, f"the model's equations solved exactly; equal within {SOLVER:g}"


@functools.cache
def _epidemic() -> tuple[Array, Array]:
    from nalm.tasks.epidemic import published

    return published()


COMPUTED: dict[str, Callable[[Claim], Found]] = {
    "div by small magnitudes, gold weights": gold,
    "float precision of exact op on single-module data": precision,
    "MSE-uninformative example": example,
    "fSIR trajectory, true": course,
}


def verdict(claim: Claim) -> ClaimVerdict:
    """Compare a published number with what the library computes; there is no chance in it, so no third word."""
    ours, slack, why = COMPUTED[claim.task](claim)
    holds = abs(ours - claim.value) <= slack
    return ClaimVerdict(
        claim, Interval(ours, ours, ours, 1, "computed"), "agrees" if holds else "differs", why
    )
