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
from nalm.config import Experiment
from nalm.experiments import EXPERIMENTS
from nalm.results.runs import Outcome

WORDS = (
    "agrees",
    "differs",
    "cannot tell",
    "not run",
    "not compared",
)  # of a published number, in this order
SAID = {"agrees": "agree", "differs": "differ"}
WIDEST = 160  # characters of a line of the page


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
        for row in csv.DictReader(path.read_text("utf-8").splitlines())
    )


def words(verdicts: Mapping[str, Sequence[ClaimVerdict]]) -> dict[str, str]:
    """Return one of WORDS for every published number, from the verdicts by experiment.

    A number that several experiments compare has the word of the first of them, in the order of the list.
    """
    found: dict[str, str] = {}
    for name in EXPERIMENTS:
        for v in verdicts.get(name, ()):
            for row in v.claim.rows + v.claim.points:
                found.setdefault(row, v.verdict)
    return {tie.row: _word(tie, found) for tie in ties()}


def _word(tie: Tie, found: Mapping[str, str]) -> str:
    if tie.kind == "computed":
        return computed.verdict(tie.claim).verdict
    if tie.kind in ("reason", "nothing"):
        return "not compared"
    return found.get(tie.row, "not run")


def counted(found: Iterable[str]) -> str:
    """Say how many numbers there are of each word: 3 agree, 1 differ."""
    counts = Counter(found)
    return ", ".join(f"{counts[word]:,} {SAID.get(word, word)}" for word in WORDS if counts[word])


Size = tuple[int, int]  # what there is, and what was published


def scale(experiment: Experiment, runs: Sequence[Outcome]) -> tuple[Size, Size, Size]:
    """Compare the runs of an experiment with its published size: cases, seeds of the case with the fewest, steps."""
    seeds = {case.trunk: set[int]() for case in experiment.cases}
    longest = 0
    for o in runs:
        if o.case.trunk in seeds:
            seeds[o.case.trunk].add(o.seed)
            longest = max(longest, o.steps)
    found = [len(own) for own in seeds.values() if own]
    published = [c.n for c in experiment.claims if c.n and c.rows] or [len(experiment.seeds)]
    return (
        (len(found), len(seeds)),
        (min(found, default=0), max(published)),
        (longest, max(case.recipe.steps for case in experiment.cases)),
    )


def known(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern of an item stands for."""
    return [name for name in names if fnmatch.fnmatchcase(name, pattern)]
