"""Tables of two layers that divide: solved runs of every cell, with and without a penalty, and right formulas."""

from collections.abc import Sequence

from future_runs import NOT_SHIPPED, against, corrected, counted, first_of, paired, runs_of, share
from tables import spread, table

from nalm.config.labels import loss_of, unit_of
from nalm.formulas.truth import right
from nalm.results.runs import Outcome
from nalm.results.tally import Tally

NAME, PENALISED = "beyond/two-layer-division", "beyond/two-layer-penalty"
SIGNED = "U[-2,2)"  # sums of both signs: the quotient has poles
Rights = dict[tuple[str, int], bool]  # by range and seed


def division(found: Sequence[Tally] | None = None) -> str:
    """Return the solved runs and the median test error of every cell, by loss."""
    cells: dict[tuple[str, str], dict[str, Tally]] = {}
    losses: dict[str, None] = {}
    for tally in counted(NAME) if found is None else found:
        losses.setdefault(loss_of(tally.case))
        cells.setdefault((unit_of(tally.case), str(tally.case.train)), {})[loss_of(tally.case)] = tally
    lines = [
        (
            *(f"`{unit}`", f"`{train}`", f"{next(iter(own.values())).thresholds[0]:.1e}"),
            *(_solved(own[loss]) if loss in own else "" for loss in losses),
        )
        for (unit, train), own in cells.items()
    ]
    head = ("units", "range", "threshold", *(f"`{loss}`" for loss in losses))
    return table(head, lines) if lines else NOT_SHIPPED.format(name=NAME)


def _solved(tally: Tally) -> str:
    untrained = tally.solved_at.get(0, 0)
    words = f"{tally.solved:,} of {tally.runs:,}" + (f", {untrained:,} untrained" if untrained else "")
    return f"{words}; {spread(tally.errors['test'].median)}"


def penalised(found: Sequence[Tally] | None = None) -> str:
    """Return the solved runs with a late penalty, by loss, and p of each loss against the first one."""
    found = counted(PENALISED) if found is None else found
    tests = against(found, first_of(found, lambda case: (unit_of(case), case.task)))
    losses = list(dict.fromkeys(loss_of(t.case) for t in found))
    cells: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for tally, p in zip(found, tests, strict=True):
        key = unit_of(tally.case), str(tally.case.train)
        cells.setdefault(key, {})[loss_of(tally.case)] = share(tally), p
    lines = [
        (f"`{unit}`", f"`{train}`", own[losses[0]][0], *(word for loss in losses[1:] for word in own[loss]))
        for (unit, train), own in cells.items()
    ]
    if not lines:
        return NOT_SHIPPED.format(name=PENALISED)
    rest = (word for loss in losses[1:] for word in (f"`{loss}`", "p"))
    return table(("units", "range", f"`{losses[0]}`", *rest), lines)


def formulas(found: Sequence[Outcome] | None = None) -> str:
    """Return how many shipped runs have the right formula after rounding their weights, and p against the first loss.

    Negative ranges are left out: they repeat the positive ones with another sign.
    """
    found = runs_of(NAME) if found is None else found
    groups: dict[tuple[str, str], Rights] = {}
    for o in found:
        train = str(o.case.train)
        if train == SIGNED or o.case.train.low > 0:
            group = groups.setdefault((unit_of(o.case), loss_of(o.case)), {})
            group[train, o.seed] = right(o.case, o.seed, o.formula)
    first: dict[str, Rights] = {}
    for (unit, _), own in groups.items():
        first.setdefault(unit, own)
    tests = [None if own is first[unit] else _p(first[unit], own) for (unit, _), own in groups.items()]
    lines = []
    for ((unit, loss), own), p in zip(groups.items(), corrected(tests), strict=True):
        signed = [ok for (train, _), ok in own.items() if train == SIGNED]
        rest = [ok for (train, _), ok in own.items() if train != SIGNED]
        counts = (
            f"{sum(rest)} of {len(rest)}",
            "" if p is None else f"{p:.2g}",
            f"{sum(signed)} of {len(signed)}",
        )
        lines.append((f"`{unit}`", f"`{loss}`", *counts))
    head = ("units", "loss", "right on positive ranges", "p", f"right on `{SIGNED}`")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=NAME)


def _p(a: Rights, b: Rights) -> float | None:
    """Return p of McNemar's exact test over ranges and seeds, of the positive ranges."""
    one, other = ({key: ok for key, ok in own.items() if key[0] != SIGNED} for own in (a, b))
    return paired(one, other, len(one))
