"""Output of ``nalm fit`` as JSON and as content of its page; parts serve ``nalm ode``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from nalm.cli.fit_words import format_share, short, with_interval
from nalm.operating_system import json_number

if TYPE_CHECKING:
    import numpy as np

    from nalm.cli.tabular import Table
    from nalm.discover.regressor import NALMRegressor
    from nalm.discover.selection.intervals import FittedNumber

SHOWN = 8  # laws of the front beside the law
GRID = 200  # points of a curve


def to_json(found: "NALMRegressor", table: "Table", data: Path) -> dict[str, Any]:
    """Convert a fit to JSON; the fields of a single target are at the top level, several are in the list ``laws``."""
    laws = [_law(found, table, k) for k in range(len(found.laws_))]
    return {
        "file": data.name,
        **(laws[0] if len(laws) == 1 else {"laws": laws}),
        "columns": list(table.names),
        "rows": len(table.x),
        "warnings": table.warnings,
        "dropped": table.dropped,
        "seconds": round(float(found.seconds_), 3),
    }


def _law(found: "NALMRegressor", table: "Table", k: int) -> dict[str, Any]:
    law, certificate = found.laws_[k], found.found_[k].certificate
    groups = found.found_[k].groups
    own = () if groups is None else groups.names
    columns = dict(zip((*found.names_, *own), (*table.names, *own), strict=True))
    return {
        "target": table.targets[k],
        "formula": str(law),
        "latex": law.latex(),
        "python": law.python(),
        "verdict": certificate.verdict.value,
        "tested": certificate.tested,
        "meaning": certificate.meaning,
        "held_out": certificate.rows,
        "domain": {name: list(ends) for name, ends in certificate.domain.items()},
        "renamed": {n: columns[n] for n in law.inputs if columns[n] != n},
        "r2": explained_share(*values(found, table, k)),
        "constants": [_constant(c) for c in found.found_[k].equations[0].constants],
        "offered": [
            {"value": n.value, "symbol": c.symbol, "constant": str(c)}
            for n, c in (found.offered_[k] if found.several_ else found.offered_)
        ],
        "groups": _groups(found, k),
        "alternatives": list(certificate.alternatives),
        "advice": certificate.advice,
        "outliers": list(certificate.outliers),
        "candidates": _candidates(found, k),
    }


def _groups(found: "NALMRegressor", k: int) -> dict[str, list[dict[str, Any]]] | None:
    """List the own constants of each group; None without groups."""
    groups = found.found_[k].groups
    return (
        None if groups is None else {g: [_constant(c) for c in own.values()] for g, own in groups.own.items()}
    )


def _candidates(found: "NALMRegressor", k: int) -> list[dict[str, Any]]:
    """List the other laws of the front, best first."""
    return [
        {
            "formula": e.formula,
            "size": e.size,
            "error": json_number(e.error),
            "stage": e.stage,
            "verdict": e.verdict,
            "worse": json_number(e.worse),
            "score": json_number(e.score),
            "constants": [_constant(c) for c in e.constants],
        }
        for e in found.found_[k].equations[1 : SHOWN + 1]
    ]


def _constant(c: "FittedNumber") -> dict[str, Any]:
    ends = {name: json_number(getattr(c, name)) for name in ("error", "low", "high")}
    return {"name": c.name, "value": c.value, **ends}


def certainty(law: dict[str, Any]) -> list[str]:
    """Return sentences: how well each number of a law is known, and which other forms fit as well."""
    sentences = []
    for c in law["constants"]:
        known = (
            f"in [{c['low']:.4g}, {c['high']:.4g}] with 95% confidence" if c["error"] else "not determined"
        )
        value = f"{c['name']} = {c['value']:.10g}" if c["name"] else f"{c['value']:.6g}"
        sentences.append(f"{value} is {known}.")
    sentences += [
        f"{c['value']:.6g} may be {c['constant']}, if the columns are in SI units." for c in law["offered"]
    ]
    if law["alternatives"]:
        sentences.append(f"The data cannot tell it from: {'; '.join(map(short, law['alternatives']))}.")
    if law.get("advice"):
        sentences.append(short(law["advice"]))
    return sentences


def values(found: "NALMRegressor", table: "Table", k: int) -> "tuple[np.ndarray, np.ndarray]":
    """Return the target and the predictions of the law; NaN where their difference overflows."""
    import numpy as np

    assert table.y is not None  # a fit has a target
    with np.errstate(all="ignore"):
        y = table.y.reshape(len(table.x), -1)[:, k]
        predicted = found.found_[k].predict(table.x, table.labels)
        return y, np.where(np.isfinite(y - predicted), predicted, np.nan)


def explained_share(y: "np.ndarray", predicted: "np.ndarray") -> float | None:
    """Return the share of the variance of y that the law explains (R squared); None where y is constant."""
    import numpy as np

    with np.errstate(all="ignore"):
        spread = np.square(y - y.mean()).sum()
        share = float(1 - np.square(y - predicted).sum() / spread) if spread > 0 else np.nan
    return json_number(share)


def along_column(found: "NALMRegressor", table: "Table", k: int) -> "tuple[int, np.ndarray] | None":
    """Return the only column that a law uses and rows along its range; None if it uses several or none."""
    import numpy as np

    fitted = found.found_[k]
    used = [found.names_.index(n) for n in fitted.law.inputs if n in found.names_]
    if len(used) != 1 or fitted.groups is not None:
        return None
    column = table.x[:, used[0]]
    grid = np.tile(np.median(table.x, 0), (GRID, 1))
    grid[:, used[0]] = np.linspace(column.min(), column.max(), GRID)
    return used[0], grid


def covered(found: "NALMRegressor", table: "Table", law: dict[str, Any], k: int) -> str:
    """Return a sentence: how many measurements lie in their 95% intervals; empty without intervals."""
    import numpy as np

    ends = _intervals(found, table, law, k)
    if ends is None:
        return ""
    y, predicted = values(found, table, k)
    seen = np.isfinite(predicted) & np.isfinite(ends).all(1)
    inside = seen & (ends[:, 0] <= y) & (y <= ends[:, 1])
    return (
        f"{inside.sum():,} of {seen.sum():,} measurements lie in their 95% intervals." if seen.any() else ""
    )


def _intervals(
    found: "NALMRegressor", table: "Table", law: dict[str, Any], k: int, rows: "np.ndarray | None" = None
) -> "np.ndarray | None":
    """Return the intervals of new measurements on the rows of the table, or on others; None if not known or none."""
    import numpy as np

    fitted = found.found_[k]
    if law["verdict"] == "exact" or (fitted.uncertainty is None and fitted.groups is None):
        return None
    with np.errstate(all="ignore"):
        return fitted.interval(table.x, table.labels) if rows is None else fitted.interval(rows)


def _figures(found: "NALMRegressor", table: "Table", law: dict[str, Any], k: int) -> dict[str, Any]:
    """Return the figures of a law: with intervals unless it is exact, and over its column if it has one only."""
    import numpy as np

    from nalm.report import fit_page

    fitted, curve = found.found_[k], None
    with np.errstate(all="ignore"):
        ends = _intervals(found, table, law, k)
        if (along := along_column(found, table, k)) is not None:
            i, grid = along
            band = _intervals(found, table, law, k, grid)
            curve = fit_page.Curve(table.names[i], table.x[:, i], grid[:, i], fitted.predict(grid), band)
    front = [(e.size, json_number(e.error), short(e.formula)) for e in fitted.equations[: SHOWN + 1]]
    return fit_page.figures(law["target"], *values(found, table, k), ends, curve, front)


def page_content(found: "NALMRegressor", table: "Table", result: dict[str, Any]) -> dict[str, Any]:
    """Return the content of the page of a fit."""
    from nalm.report import fit_page

    laws = [
        law
        | {
            "explained": format_share(law["r2"]),
            "mathml": fit_page.mathml(found.laws_[k].sympy()),
            "certainty": certainty(law),
            "figures": _figures(found, table, law, k),
            "candidates": [
                c | {"numbers": [with_interval(n) for n in c["constants"]]} for c in law["candidates"]
            ],
        }
        for k, law in enumerate(result.get("laws", [result]))
    ]
    return result | {"laws": laws}
