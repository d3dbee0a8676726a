"""The networks of Mistry 2023, chapter 7: right formulas and errors, beside the published ones."""

from typing import Any

from nalm.claims.compositions import rows
from nalm.report.figures import number
from nalm.report.study import Study


def compositions(study: Study) -> list[dict[str, Any]]:
    """Return a row for each network; an error that is not known or not finite is None."""
    errors = ("interpolation", "extrapolation")
    return [
        row | {name: {part: number(value) for part, value in row[name].items()} for name in errors}
        for row in rows(study.outcomes)
    ]
