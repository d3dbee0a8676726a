"""Equation discovery: ``search(x, y)`` tries the stages of a ladder, snaps numbers and tests a certificate.

The search needs NumPy, SciPy and SymPy alone and may import ``units`` only where a law becomes a network;
``compose``, which trains a network, and ``distil``, which reads one, load torch when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nalm.discover.certificate import Certificate as Certificate
from nalm.discover.certificate.verdict import Verdict as Verdict
from nalm.discover.discovery import Candidate as Candidate
from nalm.discover.discovery import Discovery as Discovery
from nalm.discover.grouped.search import search_groups as search_groups
from nalm.discover.ladder import search as search
from nalm.discover.law import Law as Law
from nalm.discover.stages import STAGES as STAGES

if TYPE_CHECKING:
    from nalm.discover.composition import Composed as Composed
    from nalm.discover.composition import compose as compose
    from nalm.discover.distillation import Distilled as Distilled
    from nalm.discover.distillation import distil as distil

_WITH_TORCH = {
    **dict.fromkeys(("Composed", "compose"), "composition"),
    **dict.fromkeys(("Distilled", "distil"), "distillation"),
}


def __getattr__(name: str) -> Any:
    if name in _WITH_TORCH:
        return getattr(import_module(f"nalm.discover.{_WITH_TORCH[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
