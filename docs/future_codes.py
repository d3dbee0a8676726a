"""Tables of the network before a unit: the codes that readers of digits learn, and what their size changes."""

import re
from collections import Counter
from collections.abc import Sequence

from future_runs import NOT_SHIPPED, against, corrected, counted, share
from tables import equals, table

from nalm.config import Case
from nalm.experiments.future.codes import ARCHITECTURES, POWERS
from nalm.results.tally import Tally
from nalm.stats import Interval, holm, same_rate, wilson

NAME, SIZES = "beyond/code-before-unit", "beyond/code-architectures"
USUAL = "32"  # the hidden units of the readers in NAME
COLUMNS = ("no hidden layer", "8", USUAL, "128", "32, 32")
CODES = {  # the code of a digit in the formula of a CodedUnit, as the page writes it
    "a": "k",
    "-a": "-k",
    "a*c": "c k",
    "c/a": "c/k",
    "a*c + d": "c k + d",
    "a**p*c": "c k^p",
    "f(a)": "another",
}
Cell = tuple[str, str, str]  # operation, unit and value


def reader(case: Case) -> tuple[str, str, str, str]:
    """Return the operation, the unit, the readers and their values."""
    options = dict(case.model[0].options)
    unit = f"`{options['unit']}`" if options["unit"][0].isupper() else f"{options['unit']} (given)"
    return case.operation, unit, options["readers"], options["value"]


def read(tally: Tally) -> Counter[str]:
    """Return how many runs learnt each code; those of formulas that the tally does not keep are left out."""
    shared = dict(tally.case.model[0].options)["readers"] == "shared"
    told = Counter[str]()
    for formula, count in tally.formulas:
        told[_code(formula, shared)] += count
    return told


def learnt(tally: Tally, code: str) -> tuple[int, int]:
    """Return how many runs learnt a code at least, and at most: with all whose formula the tally does not keep."""
    told = read(tally)
    return told[code], told[code] + tally.runs - told.total()


def codes(found: Sequence[Tally] | None = None) -> str:
    """Return the codes that readers learnt before a unit, by unit, reader and operation."""
    lines = []
    found = counted(NAME) if found is None else found
    others = beside(found)
    alike = corrected(
        [_alike(tally, other) if other else None for tally, other in zip(found, others, strict=True)]
    )
    for tally, other, p, q in zip(found, others, against(found, others), alike, strict=True):
        told = read(tally)
        rest = tally.runs - told.total()
        words = [f"{code}: {count:,}" for code, count in told.most_common()]
        words += [f"rarer: {rest:,}"] if rest else []
        shown = _spans(tally, "k") + ("" if q is None else f"; {equals(q)}")
        with_which = ", ".join(reader(other.case)[1:]) if other else ""
        lines.append((*reader(tally.case), share(tally), p, shown, "; ".join(words), with_which))
    head = (
        "operation",
        "unit",
        "readers",
        "value",
        "solved",
        "p",
        "read the digits",
        "codes",
        "compared with",
    )
    return table(head, lines) if lines else NOT_SHIPPED.format(name=NAME)


def beside(found: Sequence[Tally]) -> list[Tally | None]:
    """Return for each case the one that it is compared with.

    That is for a given operation the unit that learns it, for other readers shared and free ones behind the same unit,
    and for these the first unit of the operation.
    """
    by_reader = {reader(tally.case): tally for tally in found}
    first = {tally.case.operation: tally for tally in reversed(found)}
    others: list[Tally | None] = []
    for tally in found:
        operation, unit, *kind = reader(tally.case)
        if unit.endswith("(given)"):
            other = by_reader.get((operation, f"`{POWERS}`", *kind))
        elif kind != ["shared", "free"]:
            other = by_reader.get((operation, unit, "shared", "free"))
        else:
            other = first[operation]
        others.append(None if other is tally else other)
    return others


def architecture(case: Case) -> str:
    """Return the column of a case: the hidden layers of its readers."""
    options = set(case.model[0].options)
    return next((name for name, sizes in ARCHITECTURES.items() if options.issuperset(sizes)), USUAL)


def by_cell(
    found: Sequence[Tally] | None = None, usual: Sequence[Tally] | None = None
) -> dict[Cell, dict[str, Tally]]:
    """Return the tallies of each operation, unit and value by architecture, with that of the usual one beside."""
    beside = {reader(tally.case): tally for tally in (counted(NAME) if usual is None else usual)}
    cells: dict[Cell, dict[str, Tally]] = {}
    for tally in counted(SIZES) if found is None else found:
        key = operation, unit, _, value = reader(tally.case)
        own = cells.setdefault((operation, unit, value), {USUAL: beside[key]} if key in beside else {})
        own[architecture(tally.case)] = tally
    return cells


def share_of(tally: Tally, code: str) -> Interval:
    """Return the share of runs that learnt a code at least; its interval ends where that of the most does."""
    least, most = (wilson(count, tally.runs) for count in learnt(tally, code))
    return Interval(least.estimate, least.low, most.high, tally.runs, least.method)


def architectures(found: Sequence[Tally] | None = None, usual: Sequence[Tally] | None = None) -> str:
    """Return how often readers of each size read the digits, and p against the usual size, by unit and value."""
    cells = by_cell(found, usual)
    tests = {
        (cell, column): _alike(tally, own[USUAL])
        for cell, own in cells.items()
        for column, tally in own.items()
        if column != USUAL and USUAL in own
    }
    words = {(cell, column): _told(tally) for cell, own in cells.items() for column, tally in own.items()}
    for key, p in zip(tests, holm(list(tests.values())), strict=True):
        words[key] += f"; {equals(p)}"
    lines = [(*cell, *(words.get((cell, column), "") for column in COLUMNS)) for cell in cells]
    head = ("operation", "unit", "value", *COLUMNS)
    return table(head, lines) if lines else NOT_SHIPPED.format(name=SIZES)


def _told(tally: Tally) -> str:
    """Return the runs that read the digits, the solved ones, and those that learnt c/k if the unit divides."""
    words = f"{_spans(tally, 'k')}; solved {tally.solved:,}"
    return words + (f"; c/k {_spans(tally, 'c/k')}" if tally.case.operation == "divide" else "")


def _span(tally: Tally, code: str) -> str:
    """Return how many runs learnt a code, as 693, or as 693 to 757 if not all codes are known."""
    least, most = learnt(tally, code)
    return f"{least:,}" + (f" to {most:,}" if most > least else "")


def _spans(tally: Tally, code: str) -> str:
    """Return how many runs learnt a code, of how many, and the interval of their share."""
    part = share_of(tally, code)
    return f"{_span(tally, code)} of {tally.runs:,} [{part.low:.3f}, {part.high:.3f}]"


def _alike(a: Tally, b: Tally) -> float:
    """Return p of Fisher's exact test for the shares of two cases that read the digits.

    Runs whose code is not known are counted so that the shares are as alike as they can be: no difference is claimed
    that depends on them.
    """
    (least_a, most_a), (least_b, most_b) = learnt(a, "k"), learnt(b, "k")
    if most_a * b.runs < least_b * a.runs:
        return same_rate(least_b, b.runs, most_a, a.runs).p
    if most_b * a.runs < least_a * b.runs:
        return same_rate(most_b, b.runs, least_a, a.runs).p
    return 1.0


def _code(formula: str, shared: bool) -> str:
    """Return the code in a formula, r1 = c/a; r2 = c/b; r2/r1: of one reader, or of each where they are separate."""
    read = [line.partition(" = ")[2] for line in formula.split("; ")[:-1]]
    if not read:
        return "no number"
    # the letters of a second reader have a 2 behind them
    plain = [re.sub(r"\d", "", text).replace("b", "a") for text in read]
    texts = [CODES.get(text, text) for text in plain]
    return texts[0] if shared or len(set(texts)) == 1 else " and ".join(texts)
