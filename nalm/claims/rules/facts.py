"""Rules for single facts: sizes of models, lengths of training, and what a text says about runs."""

import statistics

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, settled, tested, undecided
from nalm.config import Case, Claim
from nalm.stats import Interval

NEAR = 0.1  # relative: "around 50,000 steps"
SEVERAL = 2  # ranges, at least


def _cases(claim: Claim, everything: NamedRuns) -> list[Case]:
    return list(dict.fromkeys(o.case for o in everything.of(claim.unit, claim.where)))


def _exactly(claim: Claim, value: float, method: str) -> Judgement:
    return settled(Interval(value, value, value, 1, method), value == claim.value, method)


def _iterations(claim: Claim, everything: NamedRuns) -> Judgement:
    cases = _cases(claim, everything)
    return _exactly(claim, cases[0].recipe.steps, "steps of the recipe") if cases else NOTHING


def _parameters(claim: Claim, everything: NamedRuns) -> Judgement:
    """Count the parameters of a model of one layer."""
    from nalm.units import UNITS
    from nalm.units.baselines import BASELINES

    cases = _cases(claim, everything)
    if not cases:
        return NOTHING
    (layer,) = cases[0].model
    model = (UNITS | BASELINES)[layer.unit](cases[0].inputs, layer.out, **dict(layer.options))
    return _exactly(claim, sum(p.numel() for p in model.parameters()), "parameters of the model")


def _false_positive(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare "its success is none": solved runs whose formula is another one than the task."""
    runs = [o for o in everything.of(claim.unit, claim.where) if o.solved]
    if not runs:
        return undecided(None, "no solved run of ours") if everything.named else NOTHING
    wrong = [o.formula != "1/a" for o in runs]
    test = stats.at_least(1, 1, sum(wrong), len(wrong))
    words = f"{sum(wrong)} of {len(wrong)} solved runs have another formula than 1/a"
    return tested(stats.success_rate(wrong), test, words)


def _typical_step(claim: Claim, everything: NamedRuns) -> Judgement:
    """Compare a step that runs of several ranges are said to be solved at: is it that of several of ours?"""
    steps: dict[str, list[int]] = {}
    for o in everything.of(claim.unit):
        if o.solved and o.solved_at is not None:
            steps.setdefault(str(o.case.train), []).append(o.solved_at)
    if not steps:
        return undecided(None, "no solved run of ours") if everything.named else NOTHING
    medians = sorted(statistics.median(found) for found in steps.values())
    near = [m for m in medians if abs(m - claim.value) <= NEAR * claim.value]
    ours = Interval(
        statistics.median(medians), medians[0], medians[-1], len(medians), "medians of the ranges"
    )
    words = f"the median lies within {NEAR:.0%} on {len(near)} of {len(medians)} ranges; several are {SEVERAL} or more"
    return settled(ours, len(near) >= SEVERAL, words)


RULES: dict[str, Rule] = {
    "iterations": _iterations,
    "n_params": _parameters,
    "false_positive": _false_positive,
    "typical_solved_at": _typical_step,
}
