"""Which cases share a compiled program: a function of the cases alone, and so known before torch is loaded."""

from collections.abc import Hashable

from nalm.config.case import Case


def signature(case: Case) -> Hashable:
    """Return everything that shapes the compiled step; cases with equal signatures differ in numbers only."""
    return case.task.signature(case.model, case.recipe)
