"""The page docs/coverage.md: what the documents hold, and what this library has of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from nalm.claims import ClaimVerdict
from nalm.claims.compare import compare_results
from nalm.claims.coverage import WORDS, Compared, Item, comparisons, counted, items, scale
from nalm.claims.ties import Tie, ties
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import AND, papers
from nalm.results import source
from nalm.results.compare import Results
from nalm.results.tally import Tally

# the five documents; they quote the other papers
DOCUMENTS = ("mistry2021", "mistry2023", "madsendraft", "heim2020", "mistry2022c")
INTRODUCTION = """# Coverage

Every table, figure and experiment of the documents behind this library, and what it has of them. `nalm coverage
results` makes this page from `nalm/data/documents.csv`, the published numbers in `nalm/data/claims/` and the shipped
results. [references.md](references.md) lists the papers.

A published number *agrees* with ours, *differs*, or one *cannot tell*, because runs are too few or too short; `nalm
compare results published` shows both numbers and the test. *Not run*: there is no shipped run of its case.
*Not compared*: for a reason that stands beside the number and in the last table. Numbers that repeat one another and
points that are summed up, as by their median, are one comparison."""
SCALE = """Of every experiment with published cases: the cases that were run, the seeds of the case that has fewest, and
the steps of the longest run; where that is less than published, the published size follows."""
DIFFERENCES = """After Holm's correction within each experiment; a number without p is computed, and no chance is in it.
[experiments-notes.md](experiments-notes.md#numbers-that-differ) has the causes."""


def markdown(where: str | Path) -> str:
    """Return the page, from the runs of a results folder."""
    outcomes = source.outcomes(where)
    return page(outcomes, source.tallies(where), compare_results(where, outcomes))


def page(
    outcomes: Results,
    tallies: Mapping[str, Sequence[Tally]],
    verdicts: Mapping[str, Sequence[ClaimVerdict]],
) -> str:
    """Return the page, from runs, counts of runs and verdicts, by experiment."""
    every, found = ties(), comparisons(verdicts)
    others = [key for key in papers() if key not in DOCUMENTS]
    parts = [INTRODUCTION, "## Published numbers", _papers((*DOCUMENTS, *others), every, found)]
    parts.append("## The documents")
    parts += _documents(DOCUMENTS, every, found)
    parts.append("## Papers and code that they quote")
    parts += _documents(others, every, found)
    parts += ["## Experiments", SCALE, _experiments(outcomes, tallies, verdicts)]
    parts += ["## What differs", DIFFERENCES, _differences(verdicts, every, found)]
    parts += ["## Not compared, and why", _reasons(every)]
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines
    )


def _papers(order: Iterable[str], every: Sequence[Tie], found: Mapping[str, Compared]) -> str:
    rows = [
        [papers()[key].cited_as, *_counts([found[tie.row] for tie in every if tie.paper == key])]
        for key in order
    ]
    rows.append(["**all**", *_counts([found[tie.row] for tie in every])])
    return _table(["paper", "numbers", "comparisons", *WORDS], rows)


def _counts(own: Sequence[Compared]) -> list[str]:
    counts = Counter(one.word for one in set(own))
    sizes = [len(own), sum(counts.values()) - counts["not compared"], *(counts[word] for word in WORDS)]
    return [f"{n:,}" if n else "" for n in sizes]


def _documents(keys: Iterable[str], every: Sequence[Tie], found: Mapping[str, Compared]) -> Iterator[str]:
    for key in keys:
        paper, own = papers()[key], [tie for tie in every if tie.paper == key]
        rows = []
        for item in items():
            if item.document == key:
                numbers = counted(found[tie.row] for tie in own if item.places and item.holds(tie))
                rows.append([item.item, item.about, _here(item), numbers])
        yield f"### {paper.cited_as}: {paper.title}"
        yield _table(["item", "about", "here", "comparisons"], rows)


def _here(item: Item) -> str:
    """Return the names of our experiments for an item, common folders written once; or why there are none."""
    if item.reason:
        return f"*left out: {item.reason}*"
    folders: dict[str, list[str]] = {}
    for name in item.here:
        folder, _, last = name.rpartition("/")
        folders.setdefault(folder, []).append(last)
    return ", ".join(
        f"{folder}/{names[0]}" if len(names) == 1 else f"{folder}/{{{', '.join(names)}}}"
        for folder, names in folders.items()
    )


def _experiments(
    outcomes: Results,
    tallies: Mapping[str, Sequence[Tally]],
    verdicts: Mapping[str, Sequence[ClaimVerdict]],
) -> str:
    rows = []
    for name, experiment in EXPERIMENTS.items():
        size = scale(experiment, outcomes.get(name, []), tallies.get(name, ()))
        sizes = [f"{here:,}" if here >= wanted else f"{here:,} of {wanted:,}" for here, wanted in size]
        own = (Compared(name, (str(k),), v.verdict) for k, v in enumerate(verdicts.get(name, ())))
        rows.append([name, *sizes, counted(own)])
    return _table(["experiment", "cases", "seeds", "steps", "comparisons"], rows)


def _differences(
    verdicts: Mapping[str, Sequence[ClaimVerdict]], every: Sequence[Tie], found: Mapping[str, Compared]
) -> str:
    rows: list[list[object]] = []
    for name in EXPERIMENTS:
        for v in verdicts.get(name, ()):
            if v.verdict == "differs" and v.ours is not None:
                c, p = v.claim, "" if v.corrected is None else f"{v.corrected:.1g}"
                ranges = len(c.where.split(AND))
                where = c.where if ranges == 1 else f"{ranges} ranges"
                about = ", ".join(filter(None, (c.unit, c.operation, where)))
                rows.append(
                    [name, c.metric.replace("_", " "), about, f"{c.value:.3g}", f"{v.ours.estimate:.3g}", p]
                )
    alone = Counter(
        (tie.claim.task, tie.claim.unit)
        for tie in every
        if found[tie.row] == Compared("", (tie.row,), "differs")
    )
    rows += [["computed", task, f"{unit}: {n} numbers", "", "", ""] for (task, unit), n in alone.items()]
    return _table(["experiment", "number", "of", "published", "ours", "p"], rows)


def _reasons(every: Sequence[Tie]) -> str:
    counts = Counter((papers()[tie.paper].cited_as, tie.reason) for tie in every if tie.kind == "reason")
    return _table(["paper", "numbers", "reason"], [[paper, n, why] for (paper, why), n in counts.items()])
