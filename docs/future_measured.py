"""What the tables of future-work.md share: cases of the shipped summary, and how two of them are compared."""

from collections import Counter
from collections.abc import Iterable, Sequence

from future_runs import by_seed, paired, seeds_of
from tables import counts

from nalm.config import Case, Task
from nalm.experiments import EXPERIMENTS
from nalm.lab.measured import Measured, shipped_rows
from nalm.stats import holm, same_rate

Pair = tuple[Measured, Measured]  # the run to compare with, and ours


def measured(*names: str) -> list[Measured]:
    """Return the shipped cases of some experiments."""
    return [Measured.from_row(row) for row in shipped_rows() if row["experiment"] in names]


def solved(m: Measured) -> int:
    """Return how many runs were solved."""
    return round(m.success.estimate * m.n)


def told(m: Measured) -> str:
    """Return the solved runs of a case with Wilson's interval of their share, as 25 of 1,000 [0.017, 0.037]."""
    return counts(solved(m), m.n)


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


def case_of(m: Measured) -> Case:
    """Return the case that was measured."""
    case = m.known
    assert case is not None, f"{m.experiment} has no case {m.case}"
    return case


def task_of(m: Measured) -> Task:
    """Return the task of the case that was measured."""
    return case_of(m).task


def by_task(rows: Iterable[Measured]) -> dict[Task, list[Measured]]:
    """Return the measured cases of experiments that still exist, by task."""
    found: dict[Task, list[Measured]] = {}
    for m in rows:
        if m.experiment in EXPERIMENTS and m.known is not None:
            found.setdefault(task_of(m), []).append(m)
    return found


def over_ranges(words: Sequence[str]) -> str:
    """Return verdicts counted over ranges."""
    times = Counter(words)
    return ", ".join(f"{word} in {times[word]}" for word in ("better", "worse") if times[word]) or (
        "no different" if words else ""
    )
