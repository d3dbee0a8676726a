"""The file format of fitted laws: one JSON file that is complete, and the networks' weights beside it.

Nothing in these files is ever executed.
"""

from pathlib import Path
from typing import Any

from nalm.discover.certificate.support import denominators
from nalm.discover.discovery import Equation, FittedLaw
from nalm.discover.law.expression import numbers
from nalm.discover.law.json import certificate_of, law_of, plain_certificate, plain_law
from nalm.discover.law.known import (
    constant_of,
    groups_of,
    or_infinite,
    plain_constant,
    plain_groups,
    plain_uncertainty,
    uncertainty_of,
)
from nalm.errors import NALMError
from nalm.operating_system import json_number, read_json, write_atomically, write_json

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
        inputs = len(found[0].law.names) - (len(found[0].groups.names) if found[0].groups else 0)
        if len(names) > 1 or (columns is not None and len(columns) != inputs):
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
        "uncertainty": plain_uncertainty(found.uncertainty),
        "groups": plain_groups(found.groups),
    }


def fitted_law_of(value: Any) -> FittedLaw:
    """Read what ``plain_fitted_law`` wrote; refuse anything else."""
    match value:
        case {"certificate": certificate, "equations": list(equations), "nearest": list(seen)}:
            law = law_of(value)
            if len(seen) != len(list(denominators(law.expression))):
                raise NALMError("its denominators are not those of its law.")
            candidates = list(map(_equation, equations))
            known = uncertainty_of(value.get("uncertainty"), len(numbers(law.expression)))
            groups = groups_of(value.get("groups"), len(law.names))
            near = list(map(or_infinite, seen))
            return FittedLaw(law, certificate_of(certificate), candidates, near, known, groups)
    raise NALMError(f"this is no law with a certificate: {str(value)[:80]!r}.")


def _plain_equation(e: Equation) -> list[Any]:
    known = list(map(plain_constant, e.constants))
    return [e.formula, e.size, json_number(e.error), e.stage, str(e.verdict), json_number(e.worse), known]


def _equation(value: Any) -> Equation:
    match value:
        case [str(formula), int(size), error, str(stage)]:  # of an older file
            return Equation(formula, size, or_infinite(error), stage)
        case [str(formula), int(size), error, str(stage), str(verdict), worse, list(constants)]:
            known = tuple(map(constant_of, constants))
            return Equation(formula, size, or_infinite(error), stage, verdict, or_infinite(worse), known)
    raise NALMError(f"this is no candidate: {str(value)[:80]!r}.")
