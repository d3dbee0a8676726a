"""The published claims of every experiment beside the runs of a folder."""

from nalm.claims import Verdict, verdicts
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.results.compare import Results


def compare_published(results: Results) -> dict[str, list[Verdict]]:
    """The published claims of every experiment beside its runs, the most telling first.

    Only runs of the published cases count: other recipes and units of one's own have no claims.
    """
    known = {name: runs for name, runs in results.items() if name in EXPERIMENTS and EXPERIMENTS[name].claims}
    if not known:
        have = ", ".join(name for name, e in EXPERIMENTS.items() if e.claims)
        raise NALMError(f"Nothing is published about {', '.join(results) or 'no runs'}; claims: {have}.")
    order = {"differs": 0, "agrees": 1}
    found = {}
    for name, runs in known.items():
        found[name] = sorted(verdicts(EXPERIMENTS[name], runs), key=lambda v: order.get(v.verdict, 2))
    return found
