"""Shipped runs seed by seed, and the tables of future-work.md that need them."""

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from tables import table

from nalm.config import Case
from nalm.experiments.future.selection import WAYS
from nalm.results import files as shipped
from nalm.results import tally_files
from nalm.results.runs import Outcome
from nalm.results.tally import Tally, tallies
from nalm.stats import holm, mean, paired_difference, rate_difference, wilson

RESULTS = Path(__file__).parents[1] / "results"
NOT_SHIPPED = "No runs of `{name}` are shipped: `nalm run {name}` makes them.\n"


@functools.cache
def counted(experiment: str) -> tuple[Tally, ...]:
    """Return the shipped tallies of an experiment, or those of its runs where there are none."""
    path = RESULTS / f"{experiment}.csv"
    beside = path.with_suffix(shipped.TALLY)
    if beside.is_file():
        return tuple(tally_files.read(beside))
    return tuple(tallies(shipped.read(path))) if path.is_file() else ()


def by_seed(experiment: str, case: str) -> dict[int, bool]:
    """Return which seeds of a case are solved, by its hash; empty if that is not known of all counted runs."""
    return next((tally.by_seed for tally in counted(experiment) if tally.case.hash == case), {})


def seeds_of(experiment: str, case: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the seeds that were run of a case, by its hash; empty if it is not shipped."""
    return next((tally.seeds for tally in counted(experiment) if tally.case.hash == case), ())


def formulas_of(experiment: str, case: str) -> dict[str, int]:
    """Return the five commonest formulas of a case, by its hash, and their runs; empty if it is not shipped."""
    return next((dict(t.formulas) for t in counted(experiment) if t.case.hash == case), {})


def without_threshold(experiment: str, case: str) -> bool:
    """Return whether the threshold of a case, by its hash, is infinite, so that solved runs say nothing."""
    return any(t.thresholds[1] == math.inf for t in counted(experiment) if t.case.hash == case)


def paired(a: Mapping[int, bool], b: Mapping[int, bool], n: int) -> float | None:
    """Return p of McNemar's exact test for two cases of which n runs each have the same seeds, else None."""
    if not a or a.keys() != b.keys() or len(a) != n:
        return None
    return rate_difference([a[seed] for seed in a], [b[seed] for seed in a]).p


def share(tally: Tally) -> str:
    """Return the solved runs of a case with Wilson's interval of their share, as 25 of 1,000 [0.017, 0.037]."""
    return f"{tally.solved:,} of {tally.runs:,} [{tally.success.low:.3f}, {tally.success.high:.3f}]"


def against(found: Sequence[Tally], task: Callable[[Case], Hashable]) -> list[str]:
    """Return p of McNemar's exact test of each case against the first one of the same task, after Holm's correction.

    The first ones have none, nor have cases whose runs are not known seed by seed.
    """
    first: dict[Hashable, Tally] = {}
    for tally in found:
        first.setdefault(task(tally.case), tally)
    tests = [paired(first[task(t.case)].by_seed, t.by_seed, t.runs) for t in found]
    known = [i for i, t in enumerate(found) if t is not first[task(t.case)] and tests[i] is not None]
    words = dict(zip(known, holm([tests[i] or 0.0 for i in known]), strict=True))
    return [f"{words[i]:.2g}" if i in words else "" for i in range(len(found))]


def modelled(case: Case) -> tuple[str, str, str, str]:
    """Return the operation, the model, its penalty and the range."""
    penalty = "L0" if case.recipe.penalties else "L1" if case.recipe.l1 else "none"
    units = " and ".join(f"`{layer.unit}`" for layer in case.model)
    return case.operation.replace("_", " "), units, penalty, f"`{case.train}`"


def commonest(tally: Tally) -> tuple[str, int]:
    """Return the commonest formula and its number of runs; "" if it is that of one run, or models have no formula."""
    formula, count = tally.formulas[0] if tally.formulas else ("", 0)
    return (formula, count) if formula and count > 1 else ("", 0)


def coefficients(found: Sequence[Tally] | None = None) -> str:
    """Return how often inputs and coefficients are found, and the commonest formula."""
    name, lines = "beyond/coefficients", []
    found = counted(name) if found is None else found
    for tally, p in zip(found, against(found, lambda case: case.task), strict=True):
        formula, count = commonest(tally)
        known = any(text for text, _ in tally.formulas)
        shown = f"`{formula}` {count:,}" if formula else "no common one" if known else "not recorded"
        lines.append((*modelled(tally.case), share(tally), p, shown))
    head = ("operation", "model", "penalty", "range", "solved", "p", "commonest formula")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def weighed(case: Case) -> tuple[str, str, str]:
    """Return the operation, the unit and what its weights are."""
    snapped = "drawn to the grid" if case.recipe.penalties else "free"
    return case.operation.replace("_", " "), f"`{case.model[0].unit}`", snapped


def discreteness(found: Sequence[Tally] | None = None, runs: Sequence[Outcome] | None = None) -> str:
    """Return the median test errors of units trained on noisy targets, and p of the shipped runs against the first."""
    name, cells = "beyond/discreteness", dict[tuple[str, str, str], dict[float, str]]()
    path = RESULTS / f"{name}.csv"
    if runs is None:
        runs = shipped.read(path) if path.is_file() else []
    found = counted(name) if found is None else found
    for tally, p in zip(found, _wilcoxon(found, runs), strict=True):
        middle = tally.errors["test"].median
        words = f"{middle.estimate:.1e} [{middle.low:.1e}, {middle.high:.1e}]"
        cells.setdefault(weighed(tally.case), {})[tally.case.task.noise] = words + (
            f"; p = {p:.2g}" if p is not None else ""
        )
    noises = sorted({noise for cell in cells.values() for noise in cell})
    lines = [(*key, *(cell.get(noise, "") for noise in noises)) for key, cell in sorted(cells.items())]
    head = ("operation", "unit", "weights", *(f"noise {noise:g}" for noise in noises))
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def _wilcoxon(found: Sequence[Tally], runs: Sequence[Outcome]) -> list[float | None]:
    """Return p of Wilcoxon's test of each case's errors against those of the first one of its task, seed by seed."""
    errors: dict[Case, dict[int, float]] = {}
    for o in runs:
        errors.setdefault(o.case, {})[o.seed] = o.test
    first: dict[Hashable, Case] = {}
    tests: list[float | None] = []
    for case in (t.case for t in found):
        a, b = errors.get(case, {}), errors.get(first.setdefault(case.task, case), {})
        known = case is not first[case.task] and a and a.keys() == b.keys()
        tests.append(paired_difference([a[s] for s in a], [b[s] for s in a]).p if known else None)
    corrected = iter(holm([p for p in tests if p is not None]))
    return [None if p is None else next(corrected) for p in tests]


def invalid(found: Sequence[Tally] | None = None) -> str:
    """Return how often units learn to divide where some rows divide by 0, and what the other runs learn."""
    name, lines = "beyond/invalid-outputs", []
    found = counted(name) if found is None else found
    for tally, p in zip(found, against(found, lambda case: case.task), strict=True):
        case, learnt = tally.case, dict(tally.formulas)
        lost = learnt.pop("", 0)  # weights that are no numbers have no formula
        rest = "; ".join(f"`{text}` {n:,}" for text, n in learnt.items() if text != "a/b")
        words = f"`{case.model[0].unit}`", f"`{case.recipe.loss}`", f"`{case.train}`"
        lines.append((*words, share(tally), p, f"{lost:,} of {tally.runs:,}", rest))
    head = ("unit", "loss", "numbers", "solved", "p", "ended in not-a-number", "other formulas")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def composed(found: Sequence[Tally]) -> dict[str, tuple[list[Tally], list[int]]]:
    """Return the cases of each way of selecting, and how many of them are solved with each seed."""
    ways = {}
    for way, (layer, recipe, _) in WAYS.items():
        own = [t for t in found if (t.case.model, t.case.recipe) == ((layer,), recipe)]
        solved = [t.by_seed for t in own]
        if own and all(solved):
            seeds = sorted(set.intersection(*(set(s) for s in solved)))
            ways[way] = own, [sum(s[seed] for s in solved) for seed in seeds]
    return ways


def selection(found: Sequence[Tally] | None = None) -> str:
    """Return how many of the 16 compositions each way of selecting solves, over seeds."""
    name, lines = "beyond/selection", []
    ways = composed(counted(name) if found is None else found)
    solved = {way: counts for way, (_, counts) in ways.items()}
    for (way, (own, counts)), p in zip(ways.items(), _from_seed_to_seed(solved), strict=True):
        whole = wilson(sum(c == len(own) for c in counts), len(counts))
        middle = mean(counts)
        hardest = min(own, key=lambda t: t.success.estimate)
        lines.append(
            (
                *(way, f"{len(counts):,}", f"{middle.estimate:.1f} [{middle.low:.2f}, {middle.high:.2f}]"),
                *(WAYS[way].beside, p, f"{min(counts)} to {max(counts)}"),
                f"{whole.estimate:.2f} [{whole.low:.2f}, {whole.high:.2f}]",
                f"`{hardest.case.operation}` {hardest.success.estimate:.2f}",
            )
        )
    head = (
        "way",
        "seeds",
        "solved of 16, mean",
        "compared with",
        "p",
        "range",
        "all 16 in a seed",
        "hardest",
    )
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def _from_seed_to_seed(ways: Mapping[str, Sequence[int]]) -> list[str]:
    """Return p of Wilcoxon's test of each way against the one it stands beside, after Holm's correction.

    Ways with other seeds than that one have none.
    """
    beside = {way: ways.get(WAYS[way].beside, ()) for way in ways}
    known = [way for way, other in beside.items() if len(other) == len(ways[way])]
    corrected = holm([paired_difference(ways[way], beside[way]).p for way in known])
    words = dict(zip(known, (f"{p:.2g}" for p in corrected), strict=True))
    return [words.get(way, "") for way in ways]
