"""A user's units beside each of the others, in pairs of runs of equal task and seed."""

from typing import Any

from nalm.config.labels import without_hash
from nalm.errors import NALMError
from nalm.experiments.lengths import shorter
from nalm.report.figures import interval
from nalm.report.study import Study
from nalm.results.contest import Contest, by_name, contest


def pairs(study: Study) -> dict[str, Any]:
    """Return the comparisons of each user-defined unit with the other units; {} if there is none."""
    runs = [o for o in study.outcomes if not o.case.task.images and not o.measures]
    own = [o for o in runs if any(without_hash(layer.unit) != layer.unit for layer in o.case.model)]
    mine = {study.labels[o.case] for o in own}
    if not mine:
        return {}
    named = by_name({study.name: runs}, {study.name: (study.labels, study.places)})
    found = []
    for first in sorted(mine):
        for second in named:
            if second not in mine:
                try:
                    found.append(_plain(contest(named, first, second)))
                except NALMError:  # no task and seed in common
                    continue
    return {"notes": shorter({study.name: [o.case for o in runs]}), "contests": found}


def _plain(found: Contest) -> dict[str, Any]:
    rows = [
        {
            "task": pairing.spot.name,
            "first": interval(pairing.a),
            "second": interval(pairing.b),
            "difference": [pairing.success.estimate, pairing.success.low, pairing.success.high],
            "p": pairing.success_p,
            "needed": pairing.needed,
        }
        for pairing in found.pairings
    ]
    return {"first": found.first, "second": found.second, "verdict": found.verdict, "rows": rows}
