"""Equation discovery: a ladder of solvable forms, numbers snapped to formulas, and a certificate.

The search needs NumPy and SymPy alone; ``compose`` trains a network and loads torch when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nalm.discover.certificate import Certificate as Certificate
from nalm.discover.ladder import LADDER as LADDER
from nalm.discover.ladder import Candidate as Candidate
from nalm.discover.ladder import Discovery as Discovery
from nalm.discover.ladder import search as search
from nalm.discover.law import Law as Law

if TYPE_CHECKING:
    from nalm.discover.composition import Composed as Composed
    from nalm.discover.composition import compose as compose


def __getattr__(name: str) -> Any:
    if name in ("Composed", "compose"):
        return getattr(import_module("nalm.discover.composition"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
