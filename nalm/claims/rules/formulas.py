"""Rules for the formulas that networks learnt (Mistry 2023, chapter 7).

The thesis has one run per formula. So its numbers are compared with what one further run of ours per formula would
give. The spread that it prints is over formulas, which are the same on both sides, and says nothing about chance.
"""

import math
from dataclasses import replace

import numpy as np

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, tested, undecided
from nalm.config import Claim
from nalm.results.runs import Outcome
from nalm.stats import Interval, Margin, Mean, Rate

FEWEST = 9  # formulas of chapter 7 that every network was trained on
HALF = 0.0005  # of the last decimal that is printed
LEAST, LARGEST = 1e-30, 700.0  # error, smaller ones count as this; logarithm of a float


def _few(formulas: int) -> Judgement:
    return undecided(None, f"{formulas} formulas were run") if formulas else NOTHING


def _correct(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare the number of formulas that were found with the prediction from our share of each."""
    from nalm.formulas.truth import right  # loads SymPy, which no other rule needs

    runs = everything.of(claim.unit)
    found: dict[str, dict[int, bool]] = {}
    for o in runs:
        found.setdefault(o.case.operation, {})[o.seed] = right(o.case, o.seed, o.formula)
    if len(found) < FEWEST:
        return _few(len(found))
    rates = [Rate(sum(seeds.values()), len(seeds)) for seeds in found.values()]

    def chances(factor: int, prior: float) -> tuple[list[float], list[float]]:
        one_run = [float(stats.predicted(rate.times(factor), 1, prior)[1]) for rate in rates]
        return one_run, [0.0] * len(rates)  # beside nothing: the count itself is predicted

    counts = [sum(seeds.get(seed, False) for seeds in found.values()) for seed in {o.seed for o in runs}]
    ours = Interval(float(np.mean(counts)), min(counts), max(counts), len(counts), "range over seeds")
    test = stats.same_count(round(claim.value), 0, chances, min(rate.n for rate in rates))
    why = f"of {len(found)} formulas, the snapped expression is the target"
    return tested(ours, replace(test, stated="2 formulas"), why)


def _learnt(claim: Claim, everything: NamedRuns) -> Judgement:
    from nalm.formulas.truth import right

    runs = everything.of(claim.unit)
    if not runs:
        return NOTHING
    found = [right(o.case, o.seed, o.formula) for o in runs]
    test = stats.same_rate(round(claim.value), 1, sum(found), len(found))
    return tested(
        stats.success_rate(found), test, "one published run beside the share of ours that are right"
    )


def _mean_error(name: str) -> Rule:
    """Make the rule for a mean error over formulas at the last step of training."""

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        runs = everything.of(claim.unit)
        formulas = {o.case.operation for o in runs}
        if len(formulas) < FEWEST:
            return _few(len(formulas))
        means = _by_seed(runs, name, len(formulas))
        if len(means) < 2:
            return undecided(None, f"errors at the last step are known of {len(means)} seeds")
        return _one_more(claim, means, f"mean over {len(formulas)} formulas at the last step")

    return rule


def _by_seed(runs: list[Outcome], name: str, formulas: int) -> list[float]:
    """Return the mean error of each seed of which all formulas were measured; infinite if one is not finite."""
    errors: dict[int, list[float]] = {}
    for o in runs:
        if name in o.measures:
            errors.setdefault(o.seed, []).append(o.measures[name])
    return [
        float(np.mean(e)) if np.isfinite(e).all() else math.inf for e in errors.values() if len(e) == formulas
    ]


def _one_more(claim: Claim, means: list[float], why: str) -> Judgement:
    """Compare a published mean error with those of our seeds, as one more of them.

    Errors spread over powers of ten, so Student's test is of their logarithms. Where runs of ours are not finite, their
    share is compared with the published run, which is.
    """
    n, lost = len(means), sum(math.isinf(m) for m in means)
    if lost:
        ours = Interval(math.inf, min(means), math.inf, n, "range over seeds")
        test = stats.same_rate(0, 1, lost, n)
        return tested(ours, test, f"{why}; {lost} of {n} seeds are not finite, Fisher's exact test")
    logs = np.log(np.maximum(means, LEAST))
    next_log = stats.one_more(logs)
    centre, low, high = (math.exp(min(v, LARGEST)) for v in (next_log.estimate, next_log.low, next_log.high))
    ours = Interval(centre, low, high, n, "geometric mean, and where one more seed lies")
    margin = Margin(math.log(2), math.log(2), "a factor 2")
    slack = math.log(claim.value / (claim.value - HALF)) if claim.value > HALF else math.inf
    published = Mean(math.log(claim.value), float(logs.std(ddof=1)), 1)  # one run, which spreads as ours do
    test = stats.same_mean(published, stats.mean_of(logs), margin, slack)
    return tested(ours, test, f"{why}, as one more of our {n} seeds, Student's test of logarithms")


RULES: dict[str, Rule] = {
    "n_correct": _correct,
    "success": _learnt,
    "interp_mse_mean": _mean_error("validation"),
    "extrap_mse_mean": _mean_error("test"),
}
