"""One layer of a model, as a value."""

from dataclasses import dataclass
from typing import Any

from nalm.config.values import Value, require

MADE_OF = ("units", "widths", "redundancy", "scale")  # options that make a network another one


@dataclass(frozen=True)
class Layer(Value):
    """A unit or baseline by name, its number of outputs, and its own options."""

    unit: str
    out: int = 1
    options: tuple[tuple[str, Any], ...] = ()

    def check(self) -> None:
        require(self.out >= 1, f"A layer has at least one output, got {self.out}.")

    @property
    def label(self) -> str:
        """The unit's name, with the options that make it another network in brackets: NSR(10,1.0)."""
        said = [value for name, value in self.options if name in MADE_OF]
        parts = [part for value in said for part in (value if isinstance(value, tuple) else (value,))]
        return self.unit + (f"({','.join(map(str, parts))})" if parts else "")
