"""Trials of ``nalm.ode`` as the page shows them: known systems, ours beside SINDy, and the published best."""

import json
from pathlib import Path
from typing import Any

from nalm.errors import NALMError

SHOWN = ("right", "trials", "exponent_error", "rate_error", "new_starts", "seconds")


def trajectories(where: Path) -> dict[str, Any] | None:
    """The trials shipped with the results, if any: a row per system and level of noise, a cell per method."""
    path = where / "beyond" / "ode.json"
    if not path.exists():
        return None
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        rows: dict[tuple[str, float], dict[str, Any]] = {}
        for r in about["totals"]:
            key = (str(r["system"]), float(r["noise"]))
            row = rows.setdefault(key, {"system": key[0], "noise": key[1], "cells": {}})
            row["cells"][str(r["method"])] = {name: _number(r[name]) for name in SHOWN}
            if r["method"] == "nalm.ode":
                row |= {"formula": str(r["formula"]), "restarts": str(r["restarts"])}
        return {
            "rows": list(rows.values()),
            "methods": sorted({m for row in rows.values() for m in row["cells"]}),
            "published": {str(k): float(v) for k, v in about["published"].items()},
            "note": str(about["note"]),
            "command": str(about["command"]),
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NALMError(f"{path} cannot be read: {error}.") from None


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
