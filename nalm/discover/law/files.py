"""The file format of fitted laws: one JSON file that is complete, and the networks' weights beside it.

Nothing in these files is ever executed.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np

from nalm.discover.certificate.support import denominators
from nalm.discover.discovery import Equation, FittedLaw
from nalm.discover.law.expression import numbers
from nalm.discover.law.json import certificate_of, law_of, number, plain_certificate, plain_law
from nalm.discover.selection.intervals import FittedNumber, Uncertainty
from nalm.discover.selection.rows import NoiseKind
from nalm.errors import NALMError
from nalm.files import json_number, read_json, write_atomically, write_json

FORMAT = "nalm law 1"


def save(path: Path, found: tuple[FittedLaw, ...], columns: list[str] | None, several: bool) -> None:
    """Write the laws as JSON, and the weights of their networks beside it as safetensors."""
    import torch
    from safetensors.torch import save as packed

    weights = {
        f"{k}.{name}": w.contiguous()
        for k, f in enumerate(found)
        for name, w in f.law.to_module(torch.float64).state_dict().items()
    }
    write_atomically(path.with_suffix(".safetensors"), packed(weights))
    laws = [plain_fitted_law(f) for f in found]
    write_json(path, {"format": FORMAT, "columns": columns, "several": several, "laws": laws})


def load(path: Path) -> tuple[tuple[FittedLaw, ...], list[str] | None, bool]:
    """Read what ``save`` wrote, from the JSON alone."""
    match read_json(path):
        case {
            "format": str(form),
            "columns": list() | None as columns,
            "several": bool(several),
            "laws": list(laws),
        } if form == FORMAT and laws and (several or len(laws) == 1):
            pass
        case _:
            raise NALMError(f"{path} is not a law that nalm saved ({FORMAT}): fit and save it again.")
    try:
        found = tuple(map(fitted_law_of, laws))
        names = {f.law.names for f in found}
        if len(names) > 1 or (columns is not None and len(columns) != len(found[0].law.names)):
            raise NALMError("its laws and columns do not belong together.")
    except NALMError as error:
        raise NALMError(f"{path} cannot be read: {error}") from None
    return found, None if columns is None else list(map(str, columns)), several


def plain_fitted_law(found: FittedLaw) -> dict[str, Any]:
    """Convert a fitted law to plain values for JSON."""
    return plain_law(found.law) | {
        "certificate": plain_certificate(found.certificate),
        "equations": [_plain_equation(e) for e in found.equations],
        "nearest": [json_number(v) for v in found.nearest],
        "uncertainty": _plain_uncertainty(found.uncertainty),
    }


def fitted_law_of(value: Any) -> FittedLaw:
    """Read what ``plain_fitted_law`` wrote; refuse anything else."""
    match value:
        case {"certificate": certificate, "equations": list(equations), "nearest": list(seen)}:
            law = law_of(value)
            if len(seen) != len(list(denominators(law.expression))):
                raise NALMError("its denominators are not those of its law.")
            candidates = list(map(_equation, equations))
            known = _uncertainty(value.get("uncertainty"), len(numbers(law.expression)))
            near = list(map(_or_infinite, seen))
            return FittedLaw(law, certificate_of(certificate), candidates, near, known)
    raise NALMError(f"this is no law with a certificate: {str(value)[:80]!r}.")


def _plain_equation(e: Equation) -> list[Any]:
    known = [[*map(json_number, (c.value, c.error, c.low, c.high)), c.name] for c in e.constants]
    return [e.formula, e.size, json_number(e.error), e.stage, str(e.verdict), json_number(e.worse), known]


def _equation(value: Any) -> Equation:
    match value:
        case [str(formula), int(size), error, str(stage)]:  # of an older file
            return Equation(formula, size, _or_infinite(error), stage)
        case [str(formula), int(size), error, str(stage), str(verdict), worse, list(constants)]:
            known = tuple(map(_constant, constants))
            return Equation(formula, size, _or_infinite(error), stage, verdict, _or_infinite(worse), known)
    raise NALMError(f"this is no candidate: {str(value)[:80]!r}.")


def _constant(value: Any) -> FittedNumber:
    match value:
        case [middle, error, low, high, str(name)]:
            least = -math.inf if low is None else number(low)
            return FittedNumber(number(middle), _or_infinite(error), least, _or_infinite(high), name)
    raise NALMError(f"this is no constant: {str(value)[:80]!r}.")


def _plain_uncertainty(known: Uncertainty | None) -> dict[str, Any] | None:
    if known is None:
        return None
    spread = [[json_number(v) for v in row] for row in known.spread]
    scatter, left = json_number(known.scatter), json_number(known.left)
    return {"noise": known.noise.value, "scatter": scatter, "left": left, "spread": spread}


def _uncertainty(value: Any, count: int) -> Uncertainty | None:
    match value:
        case None:  # of an exact law, or of an older file
            return None
        case {"noise": str(noise), "scatter": scatter, "left": left, "spread": list(rows)} if (
            noise in list(NoiseKind) and len(rows) == count and all(isinstance(r, list) for r in rows)
        ):
            if len({len(r) for r in rows}) <= 1:
                spread = np.array([[_or_infinite(v) for v in r] for r in rows]).reshape(count, -1)
                return Uncertainty(spread, NoiseKind(noise), _or_infinite(scatter), _or_infinite(left))
    raise NALMError(f"this is no uncertainty: {str(value)[:80]!r}.")


def _or_infinite(value: Any) -> float:
    return math.inf if value is None else number(value)
