"""What a fit leaves behind, as one JSON file with the network's weights beside it; nothing in it is ever run."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nalm.discover.certificate import Certificate
from nalm.discover.certificate.support import denominators, nearest, support
from nalm.discover.climb import Candidate, Discovery
from nalm.discover.law import Law
from nalm.discover.law.expression import Array
from nalm.discover.law.json import certificate_of, law_of, number, plain_certificate, plain_law
from nalm.errors import NALMError

FORMAT = "nalm law 1"
LARGEST_FILE = 64 * 2**20


class Equation(NamedTuple):
    """A candidate: its formula, how many symbols it takes, its error over the spread of y, and its stage."""

    formula: str
    size: int
    error: float
    stage: str


@dataclass(frozen=True)
class Found:
    """The law of one output, what is proven of it, what else was considered, and how small its denominators were."""

    law: Law
    certificate: Certificate
    considered: Sequence[Candidate | Equation]  # a candidate is written out when asked for: that takes time
    nearest: list[float]

    @classmethod
    def of(cls, found: Discovery, x: Array) -> Self:
        """What a search found on these rows."""
        return cls(found.law, found.certificate, found.candidates, nearest(found.law, x))

    @property
    def equations(self) -> list[Equation]:
        """What was considered, best first."""
        return [
            c if isinstance(c, Equation) else Equation(str(c.law), c.size, c.error, c.stage)
            for c in self.considered
        ]

    def support(self, x: Array) -> NDArray[np.str_]:
        """A word for each row: inside, outside, singular, overflow or undefined."""
        return support(self.law, self.certificate.domain, self.nearest, x)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return plain_law(self.law) | {
            "certificate": plain_certificate(self.certificate),
            "equations": [[e.formula, e.size, _finite(e.error), e.stage] for e in self.equations],
            "nearest": [_finite(v) for v in self.nearest],
        }

    @classmethod
    def read(cls, value: Any) -> Self:
        """What ``plain`` wrote; anything else is refused."""
        match value:
            case {"certificate": certificate, "equations": list(equations), "nearest": list(seen)}:
                law = law_of(value)
                if len(seen) != len(list(denominators(law.expression))):
                    raise NALMError("its denominators are not those of its law.")
                return cls(
                    law,
                    certificate_of(certificate),
                    list(map(_equation, equations)),
                    list(map(_infinite, seen)),
                )
        raise NALMError(f"this is no law with a certificate: {str(value)[:80]!r}.")


def save(path: Path, found: tuple[Found, ...], columns: list[str] | None, several: bool) -> None:
    """Write the laws as JSON, and the weights of their networks beside it as safetensors."""
    import torch
    from safetensors.torch import save as packed

    value = {
        "format": FORMAT,
        "columns": columns,
        "several": several,
        "laws": [f.plain() for f in found],
    }
    weights = {
        f"{k}.{name}": w.contiguous()
        for k, f in enumerate(found)
        for name, w in f.law.to_module(torch.float64).state_dict().items()
    }
    write_whole(path.with_suffix(".safetensors"), packed(weights))
    write_whole(path, (json.dumps(value, indent=1, allow_nan=False) + "\n").encode())


def load(path: Path) -> tuple[tuple[Found, ...], list[str] | None, bool]:
    """What ``save`` wrote, from the JSON alone."""
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
        found = tuple(map(Found.read, laws))
        names = {f.law.names for f in found}
        if len(names) > 1 or (columns is not None and len(columns) != len(found[0].law.names)):
            raise NALMError("its laws and columns do not belong together.")
    except NALMError as error:
        raise NALMError(f"{path} cannot be read: {error}") from None
    return found, None if columns is None else list(map(str, columns)), several


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _infinite(value: Any) -> float:
    return np.inf if value is None else number(value)


def _equation(value: Any) -> Equation:
    match value:
        case [str(formula), int(size), error, str(stage)]:
            return Equation(formula, size, _infinite(error), stage)
    raise NALMError(f"this is no candidate: {str(value)[:80]!r}.")


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in place whole, or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}"[:250])
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise NALMError(f"Cannot write {path}: {error.strerror}; choose another place.") from None


def read_json(path: Path) -> Any:
    """The JSON of a file of moderate size, or a sentence."""
    try:
        if (size := path.stat().st_size) > LARGEST_FILE:
            raise NALMError(f"{path} is too large for a law: {size:,} bytes.")
        return json.loads(path.read_bytes())
    except OSError as error:
        raise NALMError(f"Cannot read {path}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, NALMError):
            raise
        raise NALMError(f"{path} is not JSON: {error}.") from None
