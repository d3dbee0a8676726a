"""Published numbers beside ours, those that differ first."""

from typing import Any

from nalm.claims import ClaimVerdict
from nalm.claims.rules.base import ORDER
from nalm.report.figures import interval, number
from nalm.report.study import Study


def claims(study: Study) -> list[dict[str, Any]]:
    """Return every claim about an experiment with our number and the claim verdict."""
    return sorted(map(_row, study.verdicts), key=lambda row: ORDER.index(row["verdict"]))


def _row(v: ClaimVerdict) -> dict[str, Any]:
    c = v.claim
    return {
        "what": c.metric.replace("_", " "),
        "unit": c.unit,
        "operation": c.operation,
        "where": c.where,
        "value": number(c.value),
        "low": number(c.low),
        "high": number(c.high),
        "source": c.source,
        "place": c.place,
        "cited": c.cited,
        "how": c.how,
        "note": c.note,
        "ours": interval(v.ours) if v.ours is not None else None,
        "verdict": v.verdict,
        "why": v.reason,
        "p": number(v.p),
        "corrected": number(v.corrected),
    }
