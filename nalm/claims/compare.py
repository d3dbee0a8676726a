"""The published claims of every experiment beside the runs of a results folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from nalm.claims import ClaimVerdict, verdicts
from nalm.claims.lengths import Curves, of_sequences
from nalm.claims.rules import CURVES
from nalm.claims.rules.base import ORDER
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.results import source
from nalm.results.compare import Results
from nalm.results.runs import Outcome
from nalm.results.tally import Tally


def compare_folder(where: str | Path) -> dict[str, list[ClaimVerdict]]:
    """Compare the runs of a results folder, or of shipped tables, with the published claims."""
    return compare_results(where, source.outcomes(where))


def compare_results(where: str | Path, results: Results) -> dict[str, list[ClaimVerdict]]:
    """Compare runs that were read from a folder, and read the curves that this needs."""
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
        have = ", ".join(name for name, e in EXPERIMENTS.items() if e.claims)
        raise NALMError(f"Nothing is published about {', '.join(results) or 'no runs'}; claims: {have}.")
    found = {}
    for name, runs in known.items():
        judged = verdicts(EXPERIMENTS[name], runs, curves.get(name, {}), tallies.get(name, ()))
        found[name] = sorted(judged, key=lambda v: ORDER.index(v.verdict))
    return found
