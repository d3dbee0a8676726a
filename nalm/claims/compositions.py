"""The tables of Mistry 2023, chapter 7: what each network learnt of op2(op1(a, b), c), and how its runs ended."""

import functools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from nalm import draws, stats
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.errors import NALMError
from nalm.experiments.thesis.ch7 import EXPERIMENTS, LABELS, LEARNT
from nalm.formulas.parse import parse
from nalm.formulas.truth import right, truth
from nalm.operations import COMPOSITIONS
from nalm.results.runs import Outcome
from nalm.tasks import Sampler, Target

# a network that leaves less than this share of the target's variance fits the training range
FITS = 0.1
WAYS = ("exact", "shortcut", "wrong selection", "collapsed weights", "diverged")
NAMES = {label: name for name, label in LABELS.items()}


def composed(case: Case) -> bool:
    """Check whether the task of a case is a composition."""
    return case.operation in COMPOSITIONS


def ending(o: Outcome, name: str) -> float:
    """Return the error of a run at its last step, which the published table has; NaN if it was not measured."""
    return o.measures.get(name, math.nan)


def way(o: Outcome) -> str:
    """Classify how a run ended.

    *exact*: its snapped expression is the target. *collapsed weights*: the expression has no inputs. *shortcut*:
    it fits on the training range only. *wrong selection*: the wrong inputs or operations. *diverged*: not finite.
    """
    if o.outcome == "diverged":
        return "diverged"
    if right(o.case, o.seed, o.formula):
        return "exact"
    if o.formula and _constant(o.formula):
        return "collapsed weights"
    fits = ending(o, "validation") < FITS * variance(o.case)
    return "shortcut" if fits else "wrong selection"


@functools.lru_cache(maxsize=4096)
def _constant(formula: str) -> bool:
    try:
        return not parse(formula).free_symbols
    except NALMError:
        return False


@functools.lru_cache(maxsize=256)
def variance(case: Case) -> float:
    """Estimate the variance of the target on the training range from 10,000 draws."""
    sampler = Sampler([case.train], case.inputs)
    step = torch.zeros((), dtype=torch.int32)
    x = sampler(draws.keys([0], "validation"), step, sampler.grid(10_000)).mT.double()
    return float(Target([case], [0])(x).var())


def rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Make one row per network, in the order of Table 7.3, with the published numbers."""
    groups: dict[str, list[Outcome]] = {}
    for o in outcomes:
        if composed(o.case):
            groups.setdefault(unit_of(o.case), []).append(o)
    order = [*(label for label in LABELS.values() if label in groups), *(g for g in groups if g not in NAMES)]
    return [_row(label, groups[label]) for label in order]


def _row(label: str, runs: Sequence[Outcome]) -> dict[str, Any]:
    ways = {id(o): way(o) for o in runs}
    formulas = list(dict.fromkeys(o.case.operation for o in runs))
    seeds = sorted({o.seed for o in runs})
    counts = [sum(ways[id(o)] == "exact" for o in runs if o.seed == seed) for seed in seeds]
    name = NAMES.get(label, label)
    return {
        "network": name,
        "label": label,
        "formulas": len(formulas),
        "seeds": len(seeds),
        "correct": {"mean": float(np.mean(counts)), "low": min(counts), "high": max(counts)},
        "ever": len({o.case.operation for o in runs if ways[id(o)] == "exact"}),
        "interpolation": _spread(runs, "validation"),
        "extrapolation": _spread(runs, "test"),
        "ways": {w: sum(found == w for found in ways.values()) for w in WAYS},
        "published": _published(label),
        "expressions": [_expression(name, f, [o for o in runs if o.case.operation == f]) for f in formulas],
    }


def _spread(runs: Sequence[Outcome], field: str) -> dict[str, float]:
    """Compute mean and standard deviation over formulas of the mean error over seeds, at the last step."""
    each: dict[str, list[float]] = {}
    for o in runs:
        each.setdefault(o.case.operation, []).append(ending(o, field))
    means = [float(np.nanmean(v)) for v in each.values() if np.isfinite(v).any()]
    if not np.isfinite(means).all() or not means:
        return {"mean": float(np.mean(means)) if means else math.nan, "sd": math.nan}
    return {"mean": float(np.mean(means)), "sd": float(np.std(means, ddof=min(1, len(means) - 1)))}


def _published(label: str) -> dict[str, float]:
    found = [c for e in EXPERIMENTS for c in e.claims if c.unit == label and not c.operation]
    return {c.metric: c.value for c in found}


def _expression(name: str, formula: str, runs: Sequence[Outcome]) -> dict[str, Any]:
    found = [right(o.case, o.seed, o.formula) for o in runs]
    rate = stats.success_rate(found)
    learnt = Counter(o.formula for o in runs).most_common(1)[0]
    first = runs[0]
    return {
        "formula": formula,
        "target": str(truth(first.case, first.seed)),
        "right": sum(found),
        "runs": len(runs),
        "low": rate.low,
        "high": rate.high,
        "learnt": learnt[0] or "(no formula)",
        "times": learnt[1],
        "published": LEARNT.get((name, formula), ""),
        "ways": dict(Counter(way(o) for o in runs)),
    }
