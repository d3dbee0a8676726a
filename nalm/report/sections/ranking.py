"""Units of a study by place: those that cannot be told apart share one."""

from typing import Any

from nalm.report.figures import interval
from nalm.report.study import Study
from nalm.results.contest import by_name
from nalm.results.ranking import Standing
from nalm.results.ranking import ranking as rank


def ranking(study: Study) -> list[dict[str, Any]]:
    """Return a table for each operation and number of inputs; none for networks that read images."""
    runs = [o for o in study.outcomes if not o.case.task.images and not o.measures]
    if not runs:
        return []
    found = rank(by_name({study.name: runs}, {study.name: (study.labels, study.places)}))
    return [
        {"operation": operation, "inputs": inputs, "tasks": rows[0].tasks, "rows": list(map(_row, rows))}
        for (_, operation, inputs), rows in found.items()
    ]


def _row(s: Standing) -> dict[str, Any]:
    return {"unit": s.label, "place": s.place, "success": interval(s.success), "ties": list(s.ties)}
