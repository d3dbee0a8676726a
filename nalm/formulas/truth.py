"""The formula that a run should find, and the test whether a found formula is equal to it."""

import functools
import inspect
import itertools
import re

import sympy
import torch

from nalm.config import Case
from nalm.errors import NALMError
from nalm.formulas.parse import parse
from nalm.formulas.symbolic import evaluate
from nalm.operations import LISTS, operation
from nalm.tasks.operands import subsets
from nalm.units.spelling import letters

NAME = re.compile(r"\b[a-z]\d*\b")  # of an input
POINTS = 4
ORDERS = (-2.5, -1.0, 0.0, 1.0, 4.0)  # any order of up to five inputs, and every tie
MOST = 100_000  # combinations


def truth(case: Case, seed: int) -> sympy.Expr:
    """Return the target of a run as a formula of its inputs.

    >>> from nalm.config import Arithmetic, Layer, Range
    >>> case = Case((Layer("NAU"),), Arithmetic("divide", Range(1, 2), Range(2, 6), inputs=10))
    >>> truth(case, 0), truth(case, 1)
    (h/i, e/f)
    """
    if case.operation in LISTS:
        return _step(case.operation)
    return _target(case.operation, case.inputs, tuple(subsets(case, seed)))


def _step(name: str) -> sympy.Expr:
    """Return the formula of one step along a list, in the names of ``nalm.networks``."""
    formula = LISTS[name].formula
    return formula(*sympy.symbols(tuple(inspect.signature(formula).parameters)))


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
    """Return whether a formula is equal to the target, in any order and with signs that cancel.

    Rules are compared in all cases there are: truth values, and every order their inputs can have.
    """
    if not formula or len(case.task.operations) != 1:
        return False
    kind = operation(case.operation).kind
    if kind in ("logic", "comparison", "piecewise", "list"):
        values: tuple[float, ...] = (0, 1) if kind == "logic" else ORDERS
        ties = kind == "logic" or case.train.kind == "grid"
        return _same_rule(str(truth(case, seed)), formula, values, ties)
    return _equal(_spelled(case.operation, case.inputs, tuple(subsets(case, seed))), formula)


@functools.lru_cache(maxsize=4096)
def _same_rule(target: str, formula: str, values: tuple[float, ...], ties: bool) -> bool:
    """Return whether two rules agree on all combinations of values; without ties, on those all different."""
    try:
        first, second = parse(target), parse(formula)
    except NALMError:
        return False
    names = sorted(first.free_symbols | second.free_symbols, key=str)
    if len(values) ** len(names) > MOST:
        return False  # a rule of so many inputs is none of ours
    rows = [r for r in itertools.product(values, repeat=len(names)) if ties or len(set(r)) == len(r)]
    table = torch.tensor(rows, dtype=torch.float64).reshape(len(rows), len(names))
    columns = dict(zip(names, table.unbind(-1), strict=True)) or {sympy.Symbol("a"): torch.zeros(1)}
    return torch.equal(evaluate(first, columns), evaluate(second, columns))


@functools.lru_cache(maxsize=4096)
def _equal(target: str, formula: str) -> bool:
    """Return whether two formulas agree at random points, where different formulas would differ."""
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
