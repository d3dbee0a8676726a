"""How a run failed: in another formula, on the way to one, imprecise, or in something that is not a number."""

import re
from collections import Counter
from collections.abc import Sequence

from nalm.runs import Outcome

DISCRETE = 0.1  # a weight this far from the values a formula has is not one of them
RIGHT = {
    "add": {"a + b"},
    "subtract": {"a - b"},
    "multiply": {"a*b", "Abs(a)*Abs(b)", "Abs(a*b)"},
    "divide": {"a/b", "Abs(a)/Abs(b)", "Abs(a/b)"},
}


def shape(formula: str) -> str:
    """A formula with its inputs called a, b, c in the order they appear: ``d*e`` and ``a*b`` have one shape.

    >>> shape("d*Abs(e)"), shape("x12 + x3")
    ('a*Abs(b)', 'a + b')
    """
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        word = match.group(0)
        if len(word) > 1 and not re.fullmatch(r"x_?\d+", word):
            return word  # the name of a function
        return names.setdefault(word, "abcdefghijklmnopqrstuvwxyz"[min(len(names), 25)])

    return re.sub(r"[A-Za-z_]\w*", rename, formula)


def outcome(o: Outcome) -> str:
    """In a few words, how a run ended."""
    if o.solved:
        return "solved"
    if o.outcome == "diverged":
        return "not a number"
    right = shape(o.formula) in RIGHT.get(o.case.operation, set())
    if o.sparsity > DISCRETE:
        return "not discrete, near the right formula" if right else "not discrete"
    if right:
        return "right formula, error above the threshold"
    return "wrong optimum: a discrete formula that is not the right one"


def failures(outcomes: Sequence[Outcome]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Kinds of failure with their number, and the formulas they ended in, the commonest first."""
    kinds: dict[str, Counter[str]] = {}
    for o in outcomes:
        if not o.solved:
            kinds.setdefault(outcome(o), Counter())[o.formula or "(no formula)"] += 1
    counted = [(kind, sum(formulas.values()), formulas.most_common(6)) for kind, formulas in kinds.items()]
    return sorted(counted, key=lambda row: -row[1])
