"""Operations by name, each with its formula, which works on tensors and on SymPy symbols."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nalm.errors import unknown


@dataclass(frozen=True)
class Operation:
    """A formula of its operands; logic works on the numbers 0 and 1."""

    name: str
    sign: str
    arity: int
    kind: str  # arithmetic, logic, comparison, composition, piecewise or list
    formula: Callable[..., Any]


def _symbolic(a: Any) -> bool:
    import sympy  # not at the top: naming an operation must not load it

    return isinstance(a, sympy.Basic)


def _indicator(holds: Any, like: Any) -> Any:
    """Return 1 where a relation holds and 0 elsewhere."""
    if _symbolic(like):
        import sympy

        return sympy.Piecewise((1, holds), (0, True))
    return holds.to(like.dtype)


def _equal(a: Any, b: Any) -> Any:
    if _symbolic(a):
        import sympy

        return sympy.Eq(a, b)
    return a == b


def _either(holds: Any, yes: Any, no: Any) -> Any:
    """Return one value where a relation holds and another elsewhere."""
    if _symbolic(yes):
        import sympy

        return sympy.Piecewise((yes, holds), (no, True))
    return yes.where(holds, no)


def _sqrt(a: Any) -> Any:
    import sympy

    return sympy.sqrt(a) if _symbolic(a) else a**0.5


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("add", "+", 2, "arithmetic", lambda a, b: a + b),
        Operation("subtract", "-", 2, "arithmetic", lambda a, b: a - b),
        Operation("multiply", "×", 2, "arithmetic", lambda a, b: a * b),
        Operation("divide", "÷", 2, "arithmetic", lambda a, b: a / b),
        Operation("mean", "mean", 2, "arithmetic", lambda a, b: (a + b) / 2),
        Operation("reciprocal", "1/x", 1, "arithmetic", lambda a: 1 / a),
        Operation("square", "x²", 1, "arithmetic", lambda a: a * a),
        Operation("sqrt", "√x", 1, "arithmetic", _sqrt),
        Operation("select", "x", 1, "arithmetic", lambda a: a),
        Operation("and", "∧", 2, "logic", lambda a, b: a * b),
        Operation("or", "∨", 2, "logic", lambda a, b: a + b - a * b),
        Operation("not", "¬", 1, "logic", lambda a: 1 - a),
        Operation("xor", "⊕", 2, "logic", lambda a, b: a + b - 2 * a * b),
        Operation("implies", "→", 2, "logic", lambda a, b: 1 - a + a * b),
        Operation("iff", "↔", 2, "logic", lambda a, b: 1 - a - b + 2 * a * b),
        Operation("less", "<", 2, "comparison", lambda a, b: _indicator(a < b, a)),
        Operation("greater", ">", 2, "comparison", lambda a, b: _indicator(a > b, a)),
        Operation("less_equal", "≤", 2, "comparison", lambda a, b: _indicator(a <= b, a)),
        Operation("greater_equal", "≥", 2, "comparison", lambda a, b: _indicator(a >= b, a)),
        Operation("equal", "=", 2, "comparison", lambda a, b: _indicator(_equal(a, b), a)),
        Operation("not_equal", "≠", 2, "comparison", lambda a, b: 1 - _indicator(_equal(a, b), a)),
        Operation("true", "⊤", 1, "logic", lambda a: 0 * a + 1),
        Operation("false", "⊥", 1, "logic", lambda a: 0 * a),
        Operation("minimum", "min", 2, "piecewise", lambda a, b: _either(a < b, a, b)),
        Operation("maximum", "max", 2, "piecewise", lambda a, b: _either(a > b, a, b)),
        Operation("distance", "dist", 2, "piecewise", lambda a, b: _either(a > b, a - b, b - a)),
        Operation("jump", "jump", 2, "piecewise", lambda a, b: _either(a > b, a - b, a + b)),
    )
}

# Operations on a whole list; the formula is one step, for an element x and the state h so far.
LISTS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("smallest", "min x", 2, "list", lambda x, h: _either(x < h, x, h)),
        Operation("count", "#", 3, "list", lambda x, q, h: h + _indicator(_equal(x, q), x)),
        Operation("shortest_path", "⇝", 3, "list", lambda x, d, h: _either(d + x < h, d + x, h)),
    )
}


# with coefficients that are on no grid, for units that learn them
WEIGHTED: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("weighted_sum", "w+", 2, "arithmetic", lambda a, b: 0.37 * a + 2.6 * b),
        Operation("fractional_sum", "f+", 2, "arithmetic", lambda a, b: 0.37 * a + 0.6 * b),
        Operation("weighted_ratio", "w÷", 2, "arithmetic", lambda a, b: 2.6 * a / b),
    )
}

SYSTEMS = ("fractional_sir",)  # differential equations to be found from a trajectory


# Mistry 2023, chapter 7: "sub" negates the whole sum, "div" inverts the whole product.
CUMULATIVE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: -a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: 1 / (a * b),
}


def composition(*names: str) -> Operation:
    """Return cumulative operations one after another: op2(op1(a, b), c), and so on.

    >>> composition("add", "mul").formula(1, 2, 5)
    15
    """

    def formula(first: Any, *others: Any) -> Any:
        for name, other in zip(names, others, strict=True):
            first = CUMULATIVE[name](first, other)
        return first

    return Operation("-".join(names), "∘", len(names) + 1, "composition", formula)


COMPOSITIONS: dict[str, Operation] = {
    made.name: made
    for n in (2, 3)
    for names in itertools.product(CUMULATIVE, repeat=n)
    for made in [composition(*names)]
}


def outputs(name: str) -> list[str]:
    """Return the operations of a task, one per output of its model.

    >>> outputs("add, sqrt")
    ['add', 'sqrt']
    """
    return name.split(", ")


def operation(name: str) -> Operation:
    """Return the operation of that name; the error for an unknown name suggests the nearest one.

    >>> operation("multiply").arity
    2
    """
    if name in COMPOSITIONS:
        return COMPOSITIONS[name]
    known = OPERATIONS | LISTS | WEIGHTED
    if name not in known:
        raise unknown("operation", name, known)
    return known[name]
