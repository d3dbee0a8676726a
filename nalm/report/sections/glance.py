"""The first section of the page: the best units for each operation and training range."""

from collections.abc import Sequence
from typing import Any

from nalm.config import Case
from nalm.report.figures import OPERATIONS, interval
from nalm.report.study import Study, best
from nalm.results.summary import Summary

NAMED = 3  # units that share the first place and are named


def glance(found: Sequence[Study]) -> list[dict[str, Any]]:
    """Return a block for each operation and number of inputs, with a row for each training range."""
    names: dict[Case, str] = {}
    for study in found:
        names = study.labels | names  # a case of two experiments keeps the name of the first
    return [_block(key, ranges, names) for key, ranges in best(found).items()]


def _as_fast(s: Summary, first: Summary) -> bool:
    """Return whether a case was solved at the same median step as the first, with as many runs."""
    return (s.median.estimate, s.success.n) == (first.median.estimate, first.success.n)


def _block(key: tuple[str, int], ranges: dict[str, list[Summary]], names: dict[Case, str]) -> dict[str, Any]:
    operation, inputs = key
    rows = []
    for name, group in ranges.items():
        first = group[0]
        equal = [s for s in group if s.success.estimate == first.success.estimate > 0 and _as_fast(s, first)]
        rows.append(
            {
                "range": name,
                "units": [names[s.case] for s in equal[:NAMED]],
                "more": max(0, len(equal) - NAMED),
                "success": interval(first.success),
                "case": first.case.key,
            }
        )
    return {
        "operation": operation,
        "sign": OPERATIONS.get(operation, operation),
        "inputs": inputs,
        "rows": rows,
    }
