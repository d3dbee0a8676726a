"""Tables of two layers that divide: solved runs of every cell, with and without a penalty, and right formulas."""

from collections.abc import Sequence

from future_runs import NOT_SHIPPED, RESULTS, against, counted, paired, share
from tables import table

from nalm.config.labels import loss_of, unit_of
from nalm.formulas.truth import right
from nalm.results import files as shipped
from nalm.results.runs import Outcome
from nalm.results.tally import Tally
from nalm.stats import holm

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
    middle = tally.errors["test"].median
    return f"{words}; {middle.estimate:.1e} [{middle.low:.1e}, {middle.high:.1e}]"


def penalised(found: Sequence[Tally] | None = None) -> str:
    """Return the solved runs with a late penalty, by loss, and p of each loss against the first one."""
    found = counted(PENALISED) if found is None else found
    tests = against(found, lambda case: (unit_of(case), case.task))
    losses = list(dict.fromkeys(loss_of(t.case) for t in found))
    cells: dict[tuple[str, str], dict[str, tuple[str, str]]] = {}
    for tally, p in zip(found, tests, strict=True):
        key = unit_of(tally.case), str(tally.case.train)
        cells.setdefault(key, {})[loss_of(tally.case)] = share(tally), p
    lines = [
        (f"`{unit}`", f"`{train}`", own[losses[0]][0], *(word for loss in losses[1:] for word in own[loss]))
        for (unit, train), own in cells.items()
    ]
    head = ("units", "range", *(word for loss in losses for word in (f"`{loss}`", "p")))
    return table((*head[:3], *head[4:]), lines) if lines else NOT_SHIPPED.format(name=PENALISED)


def formulas(found: Sequence[Outcome] | None = None) -> str:
    """Return how many shipped runs have the right formula after rounding their weights, and p against the first loss.

    Negative ranges are left out: they repeat the positive ones with another sign.
    """
    path = RESULTS / f"{NAME}.csv"
    if found is None:
        found = shipped.read(path) if path.is_file() else []
    groups: dict[tuple[str, str], Rights] = {}
    for o in found:
        train = str(o.case.train)
        if train == SIGNED or o.case.train.low > 0:
            group = groups.setdefault((unit_of(o.case), loss_of(o.case)), {})
            group[train, o.seed] = right(o.case, o.seed, o.formula)
    first: dict[str, str] = {}
    for unit, loss in groups:
        first.setdefault(unit, loss)
    pairs = {
        key: _p(groups[key[0], first[key[0]]], own) for key, own in groups.items() if key[1] != first[key[0]]
    }
    corrected = dict(zip(pairs, holm(list(pairs.values())), strict=True))
    lines = []
    for key, own in groups.items():
        signed = [ok for (train, _), ok in own.items() if train == SIGNED]
        rest = [ok for (train, _), ok in own.items() if train != SIGNED]
        p = f"{corrected[key]:.2g}" if key in corrected else ""
        lines.append(
            (
                f"`{key[0]}`",
                f"`{key[1]}`",
                f"{sum(rest)} of {len(rest)}",
                p,
                f"{sum(signed)} of {len(signed)}",
            )
        )
    head = ("units", "loss", "right on positive ranges", "p", f"right on `{SIGNED}`")
    return table(head, lines) if lines else NOT_SHIPPED.format(name=NAME)


def _p(a: Rights, b: Rights) -> float:
    """Return p of McNemar's exact test over ranges and seeds, of the positive ranges."""
    one, other = ({key: ok for key, ok in own.items() if key[0] != SIGNED} for own in (a, b))
    keys = sorted(one)
    found = paired(
        {i: one[k] for i, k in enumerate(keys)}, {i: other[k] for i, k in enumerate(keys)}, len(keys)
    )
    assert found is not None, f"{NAME} has other seeds for another loss"
    return found
