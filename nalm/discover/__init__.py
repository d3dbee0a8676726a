"""Equation discovery: ``search(x, y)`` tries the stages of a ladder, snaps numbers and tests a certificate.

The search needs NumPy, SciPy and SymPy alone and may import ``units`` only where a law becomes a network;
``compose`` trains a network and loads torch when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nalm.discover.certificate import Certificate as Certificate
from nalm.discover.certificate.verdict import Verdict as Verdict
from nalm.discover.discovery import Candidate as Candidate
from nalm.discover.discovery import Discovery as Discovery
from nalm.discover.ladder import search as search
from nalm.discover.law import Law as Law
from nalm.discover.stages import STAGES as STAGES

if TYPE_CHECKING:
    from nalm.discover.composition import Composed as Composed
    from nalm.discover.composition import compose as compose


def __getattr__(name: str) -> Any:
    if name in ("Composed", "compose"):
        return getattr(import_module("nalm.discover.composition"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
