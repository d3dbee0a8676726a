"""The tables, figures and experiments of the documents behind this library, beside what it has of them.

``nalm/data/documents.csv`` lists them: what an item is about, the experiments, analytic figures or files that have it
here, the places of its published numbers, and for an item that is left out the reason.
"""

import csv
import fnmatch
import functools
import importlib.resources
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nalm.claims import ClaimVerdict, computed
from nalm.claims.ties import Tie, ties
from nalm.config import Case, Experiment
from nalm.experiments import EXPERIMENTS
from nalm.results.runs import Outcome
from nalm.results.tally import Tally

WORDS = ("agrees", "differs", "cannot tell", "not run", "not compared")  # of a comparison, in this order
SAID = {"agrees": "agree", "differs": "differ"}


@dataclass(frozen=True)
class Item:
    """A table, figure or section of a document.

    ``here`` are names or patterns of experiments and analytic figures, and paths of files; ``places`` are where its
    numbers stand: their place, or the end of the name of their file.
    """

    document: str
    item: str
    about: str
    here: tuple[str, ...]
    places: tuple[str, ...]
    reason: str  # why it is left out; empty if it is not

    def holds(self, tie: Tie) -> bool:
        """Check whether a published number belongs to this item."""
        source = tie.claim.source.rstrip(")")
        return tie.paper == self.document and any(
            tie.claim.place == place or source.endswith(place) for place in self.places
        )


@functools.cache
def items() -> tuple[Item, ...]:
    """Read the items of all documents."""
    path = importlib.resources.files("nalm.data").joinpath("documents.csv")
    return tuple(
        Item(
            row["document"],
            row["item"],
            row["about"],
            tuple(row["here"].split()),
            tuple(filter(None, row["places"].split("; "))),
            row["reason"],
        )
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    )


@dataclass(frozen=True)
class Compared:
    """One comparison: what it is about, and its word; several rows can be in one, as points or repetitions."""

    experiment: str
    rows: tuple[str, ...]
    word: str


def comparisons(verdicts: Mapping[str, Sequence[ClaimVerdict]]) -> dict[str, Compared]:
    """Return the comparison that each published number is in, from the verdicts by experiment.

    A number that several experiments compare is in that of the first of them, in the order of the list. One without a
    run is "not run", and one with a reason is "not compared".
    """
    found: dict[str, Compared] = {}
    for name, experiment in EXPERIMENTS.items():
        judged = {v.claim: v.verdict for v in verdicts.get(name, ())}
        for claim in experiment.claims:
            rows = claim.rows + claim.points
            one = Compared(name, rows, judged.get(claim, "not run"))
            for row in rows:
                found.setdefault(row, one)
    for tie in ties():
        if tie.kind not in ("case", "aggregate"):
            word = computed.verdict(tie.claim).verdict if tie.kind == "computed" else "not compared"
            found[tie.row] = Compared("", (tie.row,), word)
    return found


def counted(found: Iterable[Compared]) -> str:
    """Return as text how many comparisons have each verdict, each counted once: 3 agree, 1 differ."""
    counts = Counter(one.word for one in set(found))
    return ", ".join(f"{counts[word]:,} {SAID.get(word, word)}" for word in WORDS if counts[word])


Size = tuple[int, int]  # what there is, and what was published


def scale(
    experiment: Experiment, runs: Sequence[Outcome], tallies: Sequence[Tally] = ()
) -> tuple[Size, Size, Size]:
    """Compare the runs of an experiment with its published size: cases, seeds of the case with the fewest, steps."""
    seeds: dict[Case, set[int]] = {}
    for o in runs:
        seeds.setdefault(o.case, set()).add(o.seed)
    counts: dict[Case, int] = {}
    for case, n in (*((c, len(own)) for c, own in seeds.items()), *((t.case, t.runs) for t in tallies)):
        counts[case.trunk] = max(n, counts.get(case.trunk, 0))
    trunks = {case.trunk for case in experiment.cases}
    found = [n for trunk, n in counts.items() if trunk in trunks]
    longest = [*(o.steps for o in runs), *(t.case.recipe.steps for t in tallies)]
    published = [c.n for c in experiment.claims if c.n and c.rows] or [len(experiment.seeds)]
    return (
        (len(found), len(trunks)),
        (min(found, default=0), max(published)),
        (max(longest, default=0), max(case.recipe.steps for case in experiment.cases)),
    )


def known(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern of an item stands for."""
    return [name for name in names if fnmatch.fnmatchcase(name, pattern)]
