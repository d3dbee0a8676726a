"""Models as a person writes them: layers joined by commas, such as NAU,my_unit.py:MyUnit or NAU:5,NMU."""

from collections.abc import Sequence
from dataclasses import dataclass

from nalm.config import Case, Layer
from nalm.engine.model import layer_types
from nalm.errors import NALMError, unknown
from nalm.units.own import load


@dataclass(frozen=True)
class Part:
    """One layer of a model: its unit, and its number of outputs where that is given (0: not)."""

    unit: str
    out: int = 0


def parts_of(text: str) -> list[Part]:
    """Read a model: units or FILE.py:Class joined by commas, each with :N for N outputs where that is to be said."""
    return [_part(word.strip(), text) for word in text.split(",")]


def _part(word: str, text: str) -> Part:
    rest, colon, last = word.rpartition(":")
    name, out = (rest, int(last)) if colon and last.isdecimal() else (word, 0)
    if not name or (colon and last.isdecimal() and not out):
        raise NALMError(
            f"A model is units joined by commas, such as NAU,NMU or NAU:5,my_unit.py:MyUnit; got {text!r}."
        )
    if ".py" in name:
        return Part(load(name), out)
    if name not in layer_types():
        raise unknown("unit", name, layer_types())
    return Part(name, out)


def model_of(parts: Sequence[Part], case: Case, text: str) -> tuple[Layer, ...]:
    """Return the layers for the task of a case, with the widths of its model where none are given."""
    last = case.model[-1].out
    alike = (
        [layer.out for layer in case.model]
        if len(case.model) == len(parts)
        else [0] * (len(parts) - 1) + [last]
    )
    if parts[-1].out not in (0, last):
        raise NALMError(
            f"The last layer of {text!r} has {parts[-1].out} outputs, {case.operation} needs {last}."
        )
    outs = [part.out or width for part, width in zip(parts, alike, strict=True)]
    if not all(outs):
        raise NALMError(
            f"No published model of this task has {len(parts)} layers, so say how wide they are: "
            f"{','.join(f'{p.unit}:2' for p in parts[:-1])},..., got {text!r}."
        )
    return tuple(Layer(part.unit, out) for part, out in zip(parts, outs, strict=True))
