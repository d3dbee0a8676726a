"""The front of laws: of all structures those that no smaller law predicts as well as."""

from collections.abc import Sequence

from nalm.discover.law.expression import size
from nalm.discover.selection.evidence import Fitted

MOST = 20  # laws that are listed
RIVAL = 6.0  # of -2 log likelihood: laws within it of the best one cannot be told from it by these data
BETTER = 0.999  # what a larger law must leave of the error of every smaller one


def front(ranked: Sequence[Fitted], chosen: Fitted) -> list[Fitted]:
    """Return the chosen law, then those on the front of size against left-out error or as likely, best first."""
    others = [f for f in ranked if f.form != chosen.form]
    same = [f for f in others if f.rows.noise == chosen.rows.noise]
    kept, least = [], float("inf")
    for found in sorted([chosen, *same], key=lambda f: (size(f.node), f.error)):
        if found.error < BETTER * least:
            least = found.error
            kept.append(found)
    listed = [f for f in others if f in kept or f.score < chosen.score + RIVAL]
    return [chosen, *listed[: MOST - 1]]
