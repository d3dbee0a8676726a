"""Tables of the page future-work.md, computed from the shipped summary: the future work of the thesis."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from future_division import division, formulas, penalised
from future_runs import (
    NOT_SHIPPED,
    by_seed,
    codes,
    coefficients,
    discreteness,
    invalid,
    paired,
    seeds_of,
    selection,
    without_threshold,
)
from future_scientific import factors, wide
from tables import table

from nalm.config import Case, Task
from nalm.config.labels import loss_of
from nalm.experiments import EXPERIMENTS
from nalm.experiments.future.noise import PLAIN
from nalm.lab.measured import Measured, shipped_rows
from nalm.stats import holm, same_rate, wilson

Pair = tuple[Measured, Measured]  # the run to compare with, and ours
CHAPTERS = tuple(
    name for name in EXPERIMENTS if name.startswith(("thesis/ch3/", "thesis/ch4/", "thesis/ch5/"))
)


def measured(*names: str) -> list[Measured]:
    """Return the shipped cases of some experiments."""
    return [Measured.from_row(row) for row in shipped_rows() if row["experiment"] in names]


def solved(m: Measured) -> int:
    """Return how many runs were solved."""
    return round(m.success.estimate * m.n)


def told(m: Measured) -> str:
    """Return the solved runs of a case with Wilson's interval of their share, as 25 of 1,000 [0.017, 0.037]."""
    return counts(solved(m), m.n)


def counts(k: int, n: int) -> str:
    """Return k of n runs, with Wilson's interval of the share."""
    share = wilson(k, n)
    return f"{k:,} of {n:,} [{share.low:.3f}, {share.high:.3f}]"


def compared(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """Return p of a test for each pair, after Holm's correction over all of them, and the verdict."""
    tests = [tested(a, b) for a, b in pairs]
    found = []
    for (a, b), p in zip(pairs, holm(tests), strict=True):
        better = "better" if b.success.estimate > a.success.estimate else "worse"
        found.append((f"{p:.2g}", better if p < 0.05 else "no difference"))
    return found


def tested(a: Measured, b: Measured) -> float:
    """Return p of McNemar's exact test where pairs are known, else of Fisher's, which needs counts."""
    both = in_pairs(a, b)
    return same_rate(solved(a), a.n, solved(b), b.n).p if both is None else both


def in_pairs(a: Measured, b: Measured) -> float | None:
    """Return p of McNemar's exact test, or None where it is not known which runs have the same seed.

    If all runs of one side are solved, or none, it does not matter which ones of the other side are: then counts are
    enough.
    """
    if a.n != b.n:
        return None
    known = paired(by_seed(a.experiment, a.case), by_seed(b.experiment, b.case), a.n)
    seeds = seeds_of(a.experiment, a.case)
    if known is not None or not seeds or seeds != seeds_of(b.experiment, b.case):
        return known
    if not any(solved(m) in (0, m.n) for m in (a, b)):
        return None
    one, other = ({i: i < solved(m) for i in range(m.n)} for m in (a, b))
    return paired(one, other, a.n)


def kinds(pairs: Sequence[Pair]) -> str:
    """Return the sentence below a table that says which tests its p are of."""
    known = sum(in_pairs(a, b) is not None for a, b in pairs)
    rest = len(pairs) - known
    return f"\nOf these p, {known:,} are those of McNemar's test and {rest:,} those of Fisher's.\n"


def noise_pairs() -> list[Pair]:
    """Return every cell with reversible noise beside the same unit without it."""
    ours = measured("beyond/reversible-noise", "beyond/noise-distributions")
    plain = _by_task([*measured("thesis/ch5/main"), *measured("thesis/ch4/single")])
    pairs: list[Pair] = []
    for m in ours:
        without = [o for o in plain.get(_task(m), ()) if o.unit == PLAIN.get(m.unit, "NMU")]
        pairs += [(max(without, key=lambda o: o.n), m)] if without else []
    return pairs


def noise() -> str:
    """Return the solved runs with and without reversible noise, in every cell."""
    pairs = noise_pairs()
    lines = [
        (
            f"`{m.unit}`",
            distribution(m),
            m.operation,
            str(m.inputs),
            f"`{m.train}`",
            told(o),
            told(m),
            *words,
        )
        for (o, m), words in zip(pairs, compared(pairs), strict=True)
    ]
    head = ("unit", "noise", "operation", "inputs", "range", "without", "with", "p", "noise is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/reversible-noise")


def scientific_pairs() -> list[Pair]:
    """Return the units of logarithms and of scientific encoding, for each loss and range that has a threshold."""
    cells: dict[tuple[str, Task], dict[str, Measured]] = {}
    for m in measured("beyond/scientific"):
        if without_threshold(m.experiment, m.case):
            continue  # any finite error counts as solved
        cells.setdefault((loss_of(_case(m)), _task(m)), {})[m.unit] = m
    return [(c["ModifiedRealNPU"], c["ScientificNPU"]) for c in cells.values() if len(c) == 2]


def scientific() -> str:
    """Return the two units of scientific encoding and logarithms side by side, for each loss and range."""
    pairs = scientific_pairs()
    lines = [
        (f"`{loss_of(_case(m))}`", f"`{m.train}`", told(o), told(m), *words)
        for (o, m), words in zip(pairs, compared(pairs), strict=True)
    ]
    head = ("loss", "range", "`ModifiedRealNPU`", "`ScientificNPU`", "p", "`ScientificNPU` is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/scientific")


def own_pairs() -> list[Pair]:
    """Return the best published unit and the proposal in every cell of chapters 3 to 5 that has been measured."""
    published = _by_task(measured(*CHAPTERS))
    pairs: list[Pair] = []
    ours = {_task(m): m for m in measured("beyond/own-unit", "beyond/own-unit-divisions")}
    for task, m in ours.items():
        if task in published:
            pairs.append((max(published[task], key=lambda o: (o.success.low, o.n)), m))
    return sorted(pairs, key=lambda pair: (pair[1].operation, pair[1].inputs))


def chapter(m: Measured) -> str:
    """Return the chapter of the thesis whose recipe and threshold a case has."""
    return m.experiment.split("/")[1].removeprefix("ch")


def own_unit() -> str:
    """Return the proposal beside the best published unit in every cell of chapters 3 to 5 that has been measured."""
    lines, pairs = [], own_pairs()
    for (o, m), words in zip(pairs, compared(pairs), strict=True):
        cell = m.operation, str(m.inputs), f"`{m.train}`", chapter(o), f"`{o.unit}`"
        lines.append((*cell, told(o), told(m), *words))
    head = ("operation", "inputs", "range", "chapter", "best published", "solved", "NSPU", "p", "NSPU is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/own-unit")


def every_pairs() -> list[Pair]:
    """Return every published unit and the proposal, in every cell of chapters 3 to 5 that has been measured.

    A unit that has several recipes in a cell has the best of them.
    """
    ours = {_task(m): m for m in measured("beyond/own-unit", "beyond/own-unit-divisions")}
    best: dict[tuple[str, Task], Measured] = {}
    for task, own in _by_task(measured(*CHAPTERS)).items():
        for m in own if task in ours else ():
            key = m.unit, task
            best[key] = max(best.get(key, m), m, key=lambda o: (o.success.low, o.n))
    return [(m, ours[task]) for (_, task), m in best.items()]


def published() -> str:
    """Return every published unit beside the proposal on the same cells, counted by operation and unit."""
    pairs = every_pairs()
    groups: dict[tuple[str, str], list[tuple[Measured, Measured, str]]] = {}
    for (o, m), (_, verdict) in zip(pairs, compared(pairs), strict=True):
        groups.setdefault((m.operation, o.unit), []).append((o, m, verdict))
    lines = [
        (
            operation,
            f"`{unit}`",
            str(len(own)),
            counts(sum(solved(o) for o, _, _ in own), sum(o.n for o, _, _ in own)),
            counts(sum(solved(m) for _, m, _ in own), sum(m.n for _, m, _ in own)),
            _ranges([verdict for _, _, verdict in own]),
        )
        for (operation, unit), own in sorted(groups.items())
    ]
    head = ("operation", "unit", "cells", "solved runs", "NSPU", "NSPU is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/own-unit")


def alone() -> str:
    """Return the proposal in the cells that no published unit was measured in, counted by operation and inputs."""
    known = _by_task(measured(*CHAPTERS))
    found: dict[tuple[str, int], list[Any]] = {}
    for m in measured("beyond/own-unit", "beyond/own-unit-divisions"):
        if _task(m) not in known:
            count = found.setdefault((m.operation, m.inputs), [0, 0, 0, []])
            count[0] += 1
            count[1] += solved(m)
            count[2] += m.n
            count[3] += [] if m.success.estimate > 0.99 else [f"`{m.train}` {m.success.estimate:.2f}"]
    lines = [
        (operation, str(inputs), str(cells), counts(k, n), ", ".join(hard) or "none")
        for (operation, inputs), (cells, k, n, hard) in found.items()
    ]
    head = ("operation", "inputs", "cells", "solved runs", "cells below 0.99")
    return table(head, lines) if lines else NOT_SHIPPED.format(name="beyond/own-unit")


def exchanges() -> list[Measured]:
    """Return the NSPU with squared errors, published units with its losses, and the NSPU with its own."""
    found = measured("beyond/own-unit-losses")
    tasks = {_task(m) for m in found}
    return found + [m for m in measured("beyond/own-unit") if _task(m) in tasks]


def exchanged() -> str:
    """Return the NSPU with squared errors, and published units with its losses, over the nine ranges."""
    found = exchanges()
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for m in found:
        groups.setdefault((m.operation, m.unit, m.recipe.loss), []).append(m)
    verdicts = _against_ours(found)
    lines = [
        (
            operation,
            f"`{unit}`",
            f"`{loss}`",
            counts(sum(map(solved, own)), sum(m.n for m in own)),
            ", ".join(f"`{m.train}` {m.success.estimate:.2f}" for m in own if m.success.estimate < 0.99)
            or "none",
            _ranges([verdicts[m.case] for m in own if m.case in verdicts]),
        )
        for (operation, unit, loss), own in sorted(groups.items())
    ]
    head = ("operation", "unit", "loss", "solved runs", "ranges below 0.99", "NSPU with `paths` is")
    if not lines:
        return NOT_SHIPPED.format(name="beyond/own-unit-losses")

    def share(ours: bool, *losses: str) -> str:
        own = [m for m in found if (m.unit == "NSPU") == ours and m.recipe.loss in losses]
        return f"{sum(map(solved, own)):,} of {sum(m.n for m in own):,}"

    answer = (
        f"Answer: with the losses of `paths`, published units solve {share(False, 'centred', 'log')} runs, with\n"
        f"squared errors {share(False, 'mse')}; the NSPU solves {share(True, 'paths')} with its loss and\n"
        f"{share(True, 'mse')} with squared errors.\n"
    )
    return f"{table(head, lines)}{kinds(_exchanged_pairs(found))}\n{answer}"


def _against_ours(found: Sequence[Measured]) -> dict[str, str]:
    """Return what the NSPU with its own loss is, better or worse, than every other case of the same task."""
    pairs = _exchanged_pairs(found)
    return {m.case: word for (m, _), (_, word) in zip(pairs, compared(pairs), strict=True)}


def _exchanged_pairs(found: Sequence[Measured]) -> list[Pair]:
    ours = {_task(m): m for m in found if (m.unit, m.recipe.loss) == ("NSPU", "paths")}
    return [(m, ours[_task(m)]) for m in found if _task(m) in ours and m is not ours[_task(m)]]


def _ranges(words: Sequence[str]) -> str:
    """Return verdicts counted over ranges."""
    times = Counter(words)
    return ", ".join(f"{word} in {times[word]}" for word in ("better", "worse") if times[word]) or (
        "no different" if words else ""
    )


TABLES = {
    "future_noise": noise,
    "future_division": division,
    "future_division_formulas": formulas,
    "future_division_penalty": penalised,
    "future_scientific": scientific,
    "future_wide": wide,
    "future_factors": factors,
    "future_selection": selection,
    "future_codes": codes,
    "future_coefficients": coefficients,
    "future_discreteness": discreteness,
    "future_invalid": invalid,
    "future_unit": own_unit,
    "future_published": published,
    "future_alone": alone,
    "future_losses": exchanged,
}


def _case(m: Measured) -> Case:
    case = m.known
    assert case is not None, f"{m.experiment} has no case {m.case}"
    return case


def _task(m: Measured) -> Task:
    return _case(m).task


def _by_task(rows: Iterable[Measured]) -> dict[Task, list[Measured]]:
    """Return the measured cases of experiments that still exist, by task."""
    found: dict[Task, list[Measured]] = {}
    for m in rows:
        if m.experiment in EXPERIMENTS and m.known is not None:
            found.setdefault(_task(m), []).append(m)
    return found


def distribution(m: Measured) -> str:
    """Return the distribution of the noise of a case."""
    return str(dict(_case(m).model[-1].options).get("distribution", "uniform"))
