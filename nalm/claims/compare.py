"""The published claims of every experiment beside the runs of a results folder."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from nalm.claims import ClaimVerdict, computed, verdicts
from nalm.claims.lengths import Curves, of_sequences
from nalm.claims.rules import CURVES
from nalm.claims.rules.base import NOT_RUN, ORDER
from nalm.claims.ties import ties
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import papers
from nalm.results import source
from nalm.results.compare import Results
from nalm.results.runs import Outcome
from nalm.results.tally import Tally

LEFT_OUT = "left out"  # of a published number with a reason why it is not compared


def compare_results(where: str | Path, results: Results) -> dict[str, list[ClaimVerdict]]:
    """Compare the runs of a results folder, or of shipped tables, with the published claims; read the curves needed."""
    needed = {name: _with_curves(name, runs) for name, runs in results.items()}
    curves = source.curves(where, {name: runs for name, runs in needed.items() if runs})
    return compare_published(results, curves, source.tallies(where))


def _with_curves(name: str, runs: Sequence[Outcome]) -> list[Outcome]:
    """Select the runs whose curves are needed: sequences, and all of an experiment with a claim that reads curves."""
    read = name in EXPERIMENTS and any(claim.metric in CURVES for claim in EXPERIMENTS[name].claims)
    return list(runs) if read else of_sequences(runs)


def compare_published(
    results: Results,
    curves: Mapping[str, Curves],
    tallies: Mapping[str, Sequence[Tally]] = MappingProxyType({}),
) -> dict[str, list[ClaimVerdict]]:
    """Compare the runs of each experiment with its published claims; claims that differ come first.

    Only runs of published cases count: other recipes and user-defined units have no claims. ``curves`` by
    experiment are needed for networks on sequences and for ``rules.CURVES``; ``tallies`` replace runs where they count
    more.
    """
    known = {name: runs for name, runs in results.items() if name in EXPERIMENTS and EXPERIMENTS[name].claims}
    if not known:
        raise NALMError(
            f"Nothing is published about {', '.join(results) or 'no runs'} that could be compared: the page shows "
            "figures without numbers (`nalm report --from FOLDER`), `nalm show NAME` the numbers of an experiment."
        )
    found = {}
    for name, runs in known.items():
        judged = verdicts(EXPERIMENTS[name], runs, curves.get(name, {}), tallies.get(name, ()))
        found[name] = sorted(judged, key=lambda v: ORDER.index(v.verdict))
    return found


def totals(found: Mapping[str, Sequence[ClaimVerdict]]) -> dict[str, Counter[str]]:
    """Count the published numbers of each paper by their verdict.

    Rows of the tables of papers that are compared together, such as points by their median, count as one, and so do
    repetitions of a number. A number of an experiment that is not among ours is not run; one with a reason why it is
    not compared is left out.
    """
    counts: dict[str, Counter[str]] = {paper.cited_as: Counter() for paper in papers().values()}
    known: set[str] = set()
    for name, experiment in EXPERIMENTS.items():
        judged = {v.claim: v.verdict for v in found.get(name, ())}
        for claim in experiment.claims:
            rows = claim.rows + claim.points
            if not known.issuperset(rows):
                counts[_paper(rows[0])][judged.get(claim, NOT_RUN)] += 1
                known.update(rows)
    for tie in ties():
        if tie.row not in known:
            exact = tie.kind == "computed"
            counts[_paper(tie.row)][computed.verdict(tie.claim).verdict if exact else LEFT_OUT] += 1
    return counts


def _paper(row: str) -> str:
    """Return how the paper of a row is cited."""
    return papers()[row.partition(":")[0]].cited_as
