"""The formula a run should find, and whether the one it spells is that one."""

import functools
import re

import sympy
import torch

from nalm.config import Case
from nalm.errors import NALMError
from nalm.formula import parse
from nalm.operations import operation
from nalm.symbolic import evaluate
from nalm.tasks.operands import subsets
from nalm.units.spelling import letters

NAME = re.compile(r"\b[a-z]\d*\b")  # of an input
POINTS = 4


def truth(case: Case, seed: int) -> sympy.Expr:
    """The target of a run in the names of its inputs.

    >>> from nalm.config import Layer, Range
    >>> case = Case((Layer("NAU"),), "divide", Range(1, 2), Range(2, 6), inputs=10)
    >>> truth(case, 0), truth(case, 1)
    (h/i, e/f)
    """
    return _target(case.operation, case.inputs, tuple(subsets(case, seed)))


@functools.lru_cache(maxsize=4096)
def _target(name: str, inputs: int, members: tuple[range, ...]) -> sympy.Expr:
    names = letters(inputs)
    operands = [sympy.Add(*(names[i] for i in part)) for part in members]
    known = operation(name)
    if name in ("add", "multiply"):
        return functools.reduce(known.formula, operands)
    return known.formula(*operands[: known.arity])


@functools.lru_cache(maxsize=4096)
def _spelled(name: str, inputs: int, members: tuple[range, ...]) -> str:
    return str(_target(name, inputs, members))


def right(case: Case, seed: int, formula: str) -> bool:
    """Whether a spelled formula is the target, in whatever order or with signs that cancel."""
    return bool(formula) and _equal(
        _spelled(case.operation, case.inputs, tuple(subsets(case, seed))), formula
    )


@functools.lru_cache(maxsize=4096)
def _equal(target: str, formula: str) -> bool:
    """Whether two formulas have one value at some points, which a law of another form has not."""
    if target == formula:
        return True
    if ";" not in formula and set(NAME.findall(target)) != set(NAME.findall(formula)):
        return False
    try:
        first, second = parse(target), parse(formula)
        if first == second:
            return True
        names = sorted(first.free_symbols | second.free_symbols, key=str)
        points = torch.rand(
            len(names), POINTS, generator=torch.Generator().manual_seed(0), dtype=torch.float64
        )
        values = dict(zip(names, 1 + points, strict=True))
        return torch.allclose(evaluate(first, values), evaluate(second, values), rtol=1e-9, atol=0)
    except NALMError:
        return False  # with parts that no target has, such as real parts of roots
