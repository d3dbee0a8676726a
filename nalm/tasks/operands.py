"""The inputs that make up a run's operands, and the target computed from them."""

import functools
from collections.abc import Sequence

import torch
from torch import Tensor

from nalm import draws
from nalm import functional as F
from nalm.config import Case
from nalm.errors import NALMError
from nalm.operations import LISTS, outputs
from nalm.operations import operation as find_operation
from nalm.tasks.lists import of_list


def offset(case: Case, seed: int) -> int:
    """Return the first input that the operands cover: a function of the run's seed."""
    places = case.inputs - case.task.used + 1
    if places == 1:
        return 0
    if case.task.data == "authors":
        import numpy as np

        if not 0 <= seed < 2**32:
            raise NALMError(f"The published generators take seeds from 0 to 2**32 - 1, got {seed}.")
        return int(np.random.RandomState(seed).randint(0, places))
    return (draws.key(seed, "positions")[0] & 0x7FFFFFFF) % places


def subsets(case: Case, seed: int, widened: int = 0) -> list[range]:
    """Return the inputs of each operand."""
    if case.task.operands:
        return [range(*ends) for ends in case.task.operands]
    first, stride = offset(case, seed), case.task.subset - case.task.overlap
    return [
        range(first + k * stride, first + k * stride + case.task.subset + widened)
        for k in range(case.task.subsets)
    ]


def masks(cases: Sequence[Case], seeds: Sequence[int]) -> Tensor:
    """Return the inputs that each run's operands add up, (runs, operands, in) of zeros and ones."""
    table = torch.zeros(len(cases), cases[0].task.operand_count, cases[0].inputs)
    ones = [
        (run, k, member)
        for run, (case, seed) in enumerate(zip(cases, seeds, strict=True))
        for k, members in enumerate(subsets(case, seed))
        for member in members
    ]
    table[torch.tensor(ones).unbind(-1)] = 1.0
    return table


class Target:
    """The truth for x (runs, batch, in), as (runs, batch, out): each run has its operations and operands."""

    def __init__(self, cases: Sequence[Case], seeds: Sequence[int], device: torch.device | str | None = None):
        shapes = {(c.inputs, c.task.operand_count) for c in cases}
        if len(shapes) != 1:
            raise NALMError(f"Runs of one population have as many inputs and operands, got {sorted(shapes)}.")
        asked = {case.operation for case in cases}
        if len({len(outputs(name)) for name in asked}) > 1:
            raise NALMError(f"Runs of one population have as many outputs, got {sorted(asked)}.")
        if len(asked) > 1 and asked & LISTS.keys():
            raise NALMError(f"Runs of one population ask the same of their lists, got {sorted(asked)}.")
        table = masks(cases, seeds)
        self._inputs = cases[0].inputs
        same = bool((table == table[0]).all()) and bool((table.sum(-1) == 1).all())
        self._places = [int(row.argmax()) for row in table[0]] if same else None
        self._masks = None if same else table.to(device)
        self._names = sorted({case.operation for case in cases})
        which = [self._names.index(case.operation) for case in cases]
        self._which = torch.tensor(which, dtype=torch.int32, device=device)[:, None]

    def __call__(self, x: Tensor) -> Tensor:
        if self._names[0] in LISTS:
            return of_list(self._names[0], x).unsqueeze(-1)
        x = summed(x, self._inputs)
        if self._places is not None:
            operands = [x[..., place] for place in self._places]
        else:
            assert self._masks is not None
            operands = [_masked_sum(x, mask) for mask in self._masks.unbind(1)]
        columns = [self._column(names, operands) for names in zip(*map(outputs, self._names), strict=True)]
        return columns[0].unsqueeze(-1) if len(columns) == 1 else torch.stack(columns, -1)

    def _column(self, names: Sequence[str], operands: Sequence[Tensor]) -> Tensor:
        """Return one output (runs, batch), for its operation in each group of runs."""
        y = apply(names[0], operands)
        for i, name in enumerate(names[1:], start=1):
            y = torch.where(self._which == i, apply(name, operands), y)
        return y


def summed(x: Tensor, inputs: int) -> Tensor:
    """Sum a sequence (..., times * in) over its parts: the operands of sequences are sums over time."""
    return x if x.shape[-1] == inputs else functools.reduce(torch.add, x.split(inputs, -1))


def _masked_sum(x: Tensor, mask: Tensor) -> Tensor:
    """Return one operand (runs, batch), for x (runs, batch, in) and a mask (runs, in)."""
    if x.shape[-1] <= F.UNROLL:  # plane by plane, so that the batch stays innermost
        planes = zip(x.unbind(-1), mask.to(x.dtype).unbind(-1), strict=True)
        return functools.reduce(torch.add, [x_i * m.unsqueeze(-1) for x_i, m in planes])
    return F.linear(x, mask.to(x.dtype).unsqueeze(-2)).squeeze(-1)


def apply(name: str, operands: Sequence[Tensor]) -> Tensor:
    """Apply an operation to its operands; sums and products take all of them."""
    operation = find_operation(name)
    if name in ("add", "multiply") and len(operands) != operation.arity:
        total = operands[0]
        for other in operands[1:]:
            total = operation.formula(total, other)
        return total
    if len(operands) < operation.arity:
        raise NALMError(f"{name!r} has {operation.arity} operands, the task has {len(operands)}.")
    value: Tensor = operation.formula(*operands[: operation.arity])
    return value
