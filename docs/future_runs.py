"""Shipped runs seed by seed, and the tables of future-work.md that need them."""

import functools
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path

from tables import table

from nalm.config import Case
from nalm.experiments.future.selection import WAYS
from nalm.results import files as shipped
from nalm.results import tally_files
from nalm.results.tally import Tally, tallies
from nalm.stats import holm, rate_difference, wilson

RESULTS = Path(__file__).parents[1] / "results"
NOT_SHIPPED = "No runs of `{name}` are shipped: `nalm run {name}` makes them.\n"
CODES = {  # the code of a digit in the formula of a CodedUnit, as the page writes it
    "a": "k",
    "-a": "-k",
    "a*c": "c k",
    "c/a": "c/k",
    "a*c + d": "c k + d",
    "a**p*c": "c k^p",
    "f(a)": "another",
}


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


def codes(found: Sequence[Tally] | None = None) -> str:
    """Return the codes that readers learnt before a unit, by unit, reader and operation."""
    name, lines = "beyond/code-before-unit", []
    for tally in counted(name) if found is None else found:
        options = dict(tally.case.model[0].options)
        unit = f"`{options['unit']}`" if options["unit"][0].isupper() else f"{options['unit']} (given)"
        told = Counter[str]()
        for formula, count in tally.formulas:
            told[_code(formula, shared=options["readers"] == "shared")] += count
        rest = tally.runs - told.total()
        words = [f"{code}: {count:,}" for code, count in told.most_common()]
        words += [f"rarer: {rest:,}"] if rest else []
        lines.append(
            (
                *(tally.case.operation, unit, options["readers"], options["value"], share(tally)),
                f"{told['k']:,}" + (f" to {told['k'] + rest:,}" if rest else ""),
                "; ".join(words),
            )
        )
    head = ("operation", "unit", "readers", "value", "solved", "read the digits", "codes")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def _code(formula: str, shared: bool) -> str:
    """Return the code in a formula, r1 = c/a; r2 = c/b; r2/r1: of one reader, or of each where they are separate."""
    read = [line.partition(" = ")[2] for line in formula.split("; ")[:-1]]
    if not read:
        return "no number"
    texts = [CODES.get(text.replace("b", "a"), text) for text in read]
    return texts[0] if shared or len(set(texts)) == 1 else " and ".join(texts)


def coefficients(found: Sequence[Tally] | None = None) -> str:
    """Return how often inputs and coefficients are found, and the commonest formula."""
    name, lines = "beyond/coefficients", []
    found = counted(name) if found is None else found
    for tally, p in zip(found, against(found, lambda case: case.task), strict=True):
        case = tally.case
        penalty = "L0" if case.recipe.penalties else "L1" if case.recipe.l1 else "none"
        formula, count = tally.formulas[0] if tally.formulas else ("", 0)
        shown = f"`{formula}` {count:,}" if formula and count > 1 else "no common one"
        units = " and ".join(f"`{layer.unit}`" for layer in case.model)
        lines.append(
            (case.operation.replace("_", " "), units, penalty, f"`{case.train}`", share(tally), p, shown)
        )
    head = ("operation", "model", "penalty", "range", "solved", "p", "commonest formula")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


def discreteness(found: Sequence[Tally] | None = None) -> str:
    """Return the median test errors of units that were trained on noisy targets."""
    name, cells = "beyond/discreteness", dict[tuple[str, str, str], dict[float, str]]()
    for tally in counted(name) if found is None else found:
        case = tally.case
        snapped = "drawn to the grid" if case.recipe.penalties else "free"
        key = case.operation.replace("_", " "), f"`{case.model[0].unit}`", snapped
        middle = tally.errors["test"].median
        cells.setdefault(key, {})[case.task.noise] = (
            f"{middle.estimate:.1e} [{middle.low:.1e}, {middle.high:.1e}]"
        )
    noises = sorted({noise for cell in cells.values() for noise in cell})
    lines = [(*key, *(cell.get(noise, "") for noise in noises)) for key, cell in sorted(cells.items())]
    head = ("operation", "unit", "weights", *(f"noise {noise:g}" for noise in noises))
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)


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


def selection(found: Sequence[Tally] | None = None) -> str:
    """Return how many of the 16 compositions each way of selecting solves, over seeds."""
    name, lines = "beyond/selection", []
    all_of = counted(name) if found is None else found
    for way, (layer, recipe) in WAYS.items():
        own = [t for t in all_of if (t.case.model, t.case.recipe) == ((layer,), recipe)]
        solved = [t.by_seed for t in own]
        if not own or not all(solved):
            continue
        seeds = sorted(set.intersection(*(set(s) for s in solved)))
        counts = [sum(s[seed] for s in solved) for seed in seeds]
        whole = wilson(sum(c == len(own) for c in counts), len(seeds))
        hardest = min(own, key=lambda t: t.success.estimate)
        lines.append(
            (
                way,
                f"{len(seeds):,}",
                f"{sum(counts) / len(counts):.1f}",
                f"{min(counts)} to {max(counts)}",
                f"{whole.estimate:.2f} [{whole.low:.2f}, {whole.high:.2f}]",
                f"`{hardest.case.operation}` {hardest.success.estimate:.2f}",
            )
        )
    head = ("way", "seeds", "solved of 16, mean", "range", "all 16 in a seed", "hardest")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=name)
