"""How runs failed: wrong formula, not discrete, right formula but imprecise, or not a number."""

from collections import Counter
from collections.abc import Sequence

from nalm.formulas.truth import right
from nalm.results.runs import Outcome

DISCRETE = 0.1  # sparsity error above which weights are not on the grid of a formula


def outcome(o: Outcome) -> str:
    """Describe in a few words how a run ended."""
    if o.solved:
        return "solved"
    if o.outcome == "diverged":
        return "not a number"
    if o.measures:
        return "error above the threshold"
    found = right(o.case, o.seed, o.formula)
    if o.sparsity > DISCRETE:
        return "not discrete, near the right formula" if found else "not discrete"
    if found:
        return "right formula, error above the threshold"
    return "wrong optimum: a discrete formula that is not the right one"


def failures(outcomes: Sequence[Outcome]) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Count kinds of failure with their formulas, the commonest first."""
    kinds: dict[str, Counter[str]] = {}
    known: dict[object, str] = {}  # a cache: a million runs have few endings
    for o in outcomes:
        if not o.solved:
            seed = o.seed if o.case.task.used < o.case.inputs else 0  # it decides which inputs are operands
            key = o.case.hash, seed, o.outcome, o.sparsity > DISCRETE, o.formula
            if key not in known:
                known[key] = outcome(o)
            kinds.setdefault(known[key], Counter())[o.formula or "(no formula)"] += 1
    counted = [(kind, sum(formulas.values()), formulas.most_common(6)) for kind, formulas in kinds.items()]
    return sorted(counted, key=lambda row: -row[1])
