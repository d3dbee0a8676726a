"""Tables of the proposed unit: beside published units in the cells of the thesis, alone, and with other losses."""

from collections.abc import Sequence

from future_measured import (
    Pair,
    by_task,
    compared,
    kinds,
    measured,
    over_ranges,
    solved,
    task_of,
    told,
)
from future_runs import NOT_SHIPPED
from tables import counts, table

from nalm.config import Task
from nalm.experiments import EXPERIMENTS
from nalm.lab.measured import Measured

SUMS = "beyond/own-unit-sums"
CHAPTERS = tuple(
    name for name in EXPERIMENTS if name.startswith(("thesis/ch3/", "thesis/ch4/", "thesis/ch5/"))
)


def proposed() -> list[Measured]:
    """Return the measured cases of the proposal; of two layers, those that end with it."""
    found = measured("beyond/own-unit", "beyond/own-unit-divisions", SUMS)
    return [m for m in found if m.unit.endswith("NSPU")]


def best_published_pairs() -> list[Pair]:
    """Return the best published unit and the proposal in every cell of chapters 3 to 5 that has been measured."""
    published = by_task(measured(*CHAPTERS))
    pairs: list[Pair] = []
    ours = {task_of(m): m for m in proposed()}
    for task, m in ours.items():
        if task in published:
            pairs.append((max(published[task], key=lambda o: (o.success.low, o.n)), m))
    return sorted(pairs, key=lambda pair: (computed(pair[1]), pair[1].inputs))


def chapter(m: Measured) -> str:
    """Return the chapter of the thesis whose recipe and threshold a case has."""
    return m.experiment.split("/")[1].removeprefix("ch")


def computed(m: Measured) -> str:
    """Return what a case of the proposal computes, with two layers or one."""
    return "product of two sums" if "-" in m.unit else m.operation


def own_unit() -> str:
    """Return the proposal beside the best published unit in every cell of chapters 3 to 5 that has been measured."""
    lines, pairs = [], best_published_pairs()
    for (o, m), words in zip(pairs, compared(pairs), strict=True):
        cell = computed(m), str(m.inputs), f"`{m.train}`", chapter(o), f"`{o.unit}`"
        lines.append((*cell, told(o), told(m), *words))
    head = ("operation", "inputs", "range", "chapter", "best published", "solved", "NSPU", "p", "NSPU is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/own-unit")


def sum_pairs() -> list[tuple[Measured, Measured, Measured]]:
    """Return for products of two sums the best published model, the proposal, and the NMU with another loss."""
    cells: dict[Task, dict[str, Measured]] = {}
    for m in measured(SUMS):
        cells.setdefault(task_of(m), {})[m.unit] = m
    best = {task_of(m): o for o, m in best_published_pairs()}
    return [(best[task], own["NAU-NSPU"], own["NAU-NMU"]) for task, own in cells.items() if len(own) == 2]


def sums() -> str:
    """Return products of two sums: the best published model, the proposal, and the NMU with another loss."""
    cells = sum_pairs()
    pairs = [pair for o, ours, other in cells for pair in ((o, ours), (o, other))]
    words = [f"{p}, {verdict}" for p, verdict in compared(pairs)]
    lines = [
        (f"`{o.train}`", f"`{o.unit}`", told(o), told(ours), p, told(other), q)
        for (o, ours, other), p, q in zip(cells, words[::2], words[1::2], strict=True)
    ]
    loss, penalised = "`NAU-NSPU`, `paths`", "`NAU-NMU`, `projected`"
    head = ("range", "best published", "solved", loss, "p", penalised, "p")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name=SUMS)


def all_published_pairs() -> list[Pair]:
    """Return every published unit and the proposal, in every cell of chapters 3 to 5 that has been measured.

    A unit that has several recipes in a cell has the best of them.
    """
    ours = {task_of(m): m for m in proposed()}
    best: dict[tuple[str, Task], Measured] = {}
    for task, own in by_task(measured(*CHAPTERS)).items():
        for m in own if task in ours else ():
            key = m.unit, task
            best[key] = max(best.get(key, m), m, key=lambda o: (o.success.low, o.n))
    return [(m, ours[task]) for (_, task), m in best.items()]


def published() -> str:
    """Return every published unit beside the proposal on the same cells, counted by operation and unit."""
    pairs = all_published_pairs()
    groups: dict[tuple[str, str], list[tuple[Measured, Measured, str]]] = {}
    for (o, m), (_, verdict) in zip(pairs, compared(pairs), strict=True):
        groups.setdefault((computed(m), o.unit), []).append((o, m, verdict))
    lines = [
        (
            operation,
            f"`{unit}`",
            str(len(own)),
            counts(sum(solved(o) for o, _, _ in own), sum(o.n for o, _, _ in own)),
            counts(sum(solved(m) for _, m, _ in own), sum(m.n for _, m, _ in own)),
            over_ranges([verdict for _, _, verdict in own]),
        )
        for (operation, unit), own in sorted(groups.items())
    ]
    head = ("operation", "unit", "cells", "solved runs", "NSPU", "NSPU is")
    return table(head, lines) + kinds(pairs) if lines else NOT_SHIPPED.format(name="beyond/own-unit")


def alone() -> str:
    """Return the proposal in the cells that no published unit was measured in, counted by operation and inputs."""
    known = by_task(measured(*CHAPTERS))
    found: dict[tuple[str, int], list[Measured]] = {}
    for m in proposed():
        if task_of(m) not in known:
            found.setdefault((m.operation, m.inputs), []).append(m)
    lines = [
        (
            operation,
            str(inputs),
            str(len(own)),
            counts(sum(map(solved, own)), sum(m.n for m in own)),
            ", ".join(f"`{m.train}` {m.success.estimate:.2f}" for m in own if m.success.estimate <= 0.99)
            or "none",
        )
        for (operation, inputs), own in found.items()
    ]
    head = ("operation", "inputs", "cells", "solved runs", "cells below 0.99")
    return table(head, lines) if lines else NOT_SHIPPED.format(name="beyond/own-unit")


def exchanges() -> list[Measured]:
    """Return the NSPU with squared errors, published units with its losses, and the NSPU with its own."""
    found = measured("beyond/own-unit-losses")
    tasks = {task_of(m) for m in found}
    return found + [m for m in measured("beyond/own-unit") if task_of(m) in tasks]


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
            over_ranges([verdicts[m.case] for m in own if m.case in verdicts]),
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
    ours = {task_of(m): m for m in found if (m.unit, m.recipe.loss) == ("NSPU", "paths")}
    return [(m, ours[task_of(m)]) for m in found if task_of(m) in ours and m is not ours[task_of(m)]]
