"""Decide which cases can share one compiled step. This needs the cases alone, so it does not import torch."""

from collections.abc import Hashable

from nalm.config.case import Case


def signature(case: Case) -> Hashable:
    """Return the properties of a case that change the code of the compiled step.

    Cases with equal signatures differ only in numbers that the step reads from tensors, such as seeds, learning rates
    and the ends of ranges. Each kind of task has its own ``signature``.
    """
    return case.task.signature(case.model, case.recipe)
