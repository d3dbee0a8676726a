"""Every operation by hand, and the same formula on tensors and in SymPy."""

import itertools
import math

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm.errors import NALMError
from nalm.operations import LISTS, OPERATIONS, operation

ORDERS = (-2.5, -1.0, 0.0, 1.0, 4.0)
GRID = {
    "arithmetic": (0.25, 1.0, 3.0, 4.0),
    "logic": (0.0, 1.0),
    "comparison": ORDERS,
    "piecewise": ORDERS,
    "list": ORDERS,
}
BY_HAND = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "mean": lambda a, b: a / 2 + b / 2,
    "reciprocal": lambda a: 1 / a,
    "square": lambda a: a**2,
    "sqrt": math.sqrt,
    "select": lambda a: a,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "xor": lambda a, b: a != b,
    "implies": lambda a, b: not a or b,
    "iff": lambda a, b: a == b,
    "less": lambda a, b: a < b,
    "greater": lambda a, b: a > b,
    "less_equal": lambda a, b: a <= b,
    "greater_equal": lambda a, b: a >= b,
    "equal": lambda a, b: a == b,
    "not_equal": lambda a, b: a != b,
    "true": lambda a: 1,
    "false": lambda a: 0,
    "minimum": min,
    "maximum": max,
    "distance": lambda a, b: abs(a - b),
    "jump": lambda a, b: a - b if a > b else a + b,
}
STEPS = {
    "smallest": lambda x, h: min(x, h),
    "count": lambda x, q, h: h + (x == q),
    "shortest_path": lambda x, d, h: min(d + x, h),
}
TRUTH = {  # over (0, 0), (0, 1), (1, 0), (1, 1)
    "and": (0, 0, 0, 1),
    "or": (0, 1, 1, 1),
    "xor": (0, 1, 1, 0),
    "implies": (1, 1, 0, 1),
    "iff": (1, 0, 0, 1),
    "less": (0, 1, 0, 0),
    "greater": (0, 0, 1, 0),
    "less_equal": (1, 1, 0, 1),
    "greater_equal": (1, 0, 1, 1),
    "equal": (1, 0, 0, 1),
    "not_equal": (0, 1, 1, 0),
}


def operands(found) -> torch.Tensor:
    """Every combination of the grid, (cases, arity)."""
    return torch.tensor(list(itertools.product(GRID[found.kind], repeat=found.arity)), dtype=torch.float64)


def on_tensors(found, x: torch.Tensor) -> torch.Tensor:
    return found.formula(*x.unbind(-1))


def in_sympy(found, x: torch.Tensor) -> torch.Tensor:
    """The formula of symbols, with numbers substituted afterwards."""
    letters = sympy.symbols("a b c")[: found.arity]
    formula = found.formula(*letters)
    values = [formula.subs(dict(zip(letters, map(sympy.Rational, row), strict=True))) for row in x.tolist()]
    return torch.tensor([float(v) for v in values], dtype=torch.float64)


def test_every_operation_is_tested_here():
    assert set(BY_HAND) == set(OPERATIONS) and set(STEPS) == set(LISTS)
    tabled = {name for name, o in OPERATIONS.items() if o.kind in ("logic", "comparison") and o.arity == 2}
    assert tabled == set(TRUTH)


@pytest.mark.parametrize("name", [*OPERATIONS, *LISTS])
def test_an_operation_is_what_its_name_says_on_tensors_and_in_sympy(name):
    found = operation(name)
    assert found.name == name
    x = operands(found)
    expected = torch.tensor([float((BY_HAND | STEPS)[name](*row)) for row in x.tolist()], dtype=torch.float64)
    torch.testing.assert_close(on_tensors(found, x), expected, rtol=1e-15, atol=0)
    torch.testing.assert_close(in_sympy(found, x), expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", TRUTH)
def test_logic_and_comparisons_have_their_truth_tables(name):
    x = torch.tensor(list(itertools.product((0.0, 1.0), repeat=2)))
    expected = list(map(float, TRUTH[name]))
    assert on_tensors(operation(name), x).tolist() == expected
    assert in_sympy(operation(name), x).tolist() == expected


def test_not_inverts_one_bit():
    x = torch.tensor([[0.0], [1.0]])
    assert on_tensors(operation("not"), x).tolist() == [1.0, 0.0]
    assert in_sympy(operation("not"), x).tolist() == [1.0, 0.0]


@given(
    st.sampled_from([n for n, o in OPERATIONS.items() if o.arity == 2]),
    st.integers(-64, 64),
    st.integers(-64, 64).filter(bool),
)
@settings(deadline=None, max_examples=60)
def test_tensors_and_sympy_agree_on_any_numbers(name, a, b):
    x = torch.tensor([[a / 8, b / 8]], dtype=torch.float64)  # eighths are exact in both
    found = operation(name)
    torch.testing.assert_close(on_tensors(found, x), in_sympy(found, x), rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_operation_keeps_the_precision_and_the_shape(name, dtype):
    found = operation(name)
    y = found.formula(*torch.ones(found.arity, 2, 3, dtype=dtype).unbind(0))
    assert y.dtype == dtype
    assert y.shape == (2, 3)


def test_an_unknown_operation_gets_a_suggestion():
    with pytest.raises(
        NALMError, match=r"There is no operation called 'Multiply'\. Did you mean 'multiply'\?"
    ):
        operation("Multiply")
