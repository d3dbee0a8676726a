"""The table of ways to select operations by gradients alone, for the page future-work.md."""

from collections.abc import Mapping, Sequence

from future_runs import NOT_SHIPPED, corrected, counted
from tables import table

from nalm.experiments.future.selection import WAYS
from nalm.results.tally import Tally
from nalm.stats import mean, paired_difference, wilson


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
    beside = [ways.get(WAYS[way].beside, ()) for way in ways]
    tests = [
        paired_difference(own, other).p if len(own) == len(other) else None
        for own, other in zip(ways.values(), beside, strict=True)
    ]
    return ["" if p is None else f"{p:.2g}" for p in corrected(tests)]
