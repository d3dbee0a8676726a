"""Look-alikes: other functions, or another frequency, that the data cannot tell from the one in a law."""

from collections.abc import Callable, Iterator

import numpy as np

from nalm.discover.fit.least_squares import TINY, tangent
from nalm.discover.law.constants import is_plain
from nalm.discover.law.expression import Array, Function, Node, Sum, evaluate, numbers, parts, with_parts
from nalm.discover.law.functions import FUNCTIONS

DEGREE = 3  # of the polynomials that a function must differ from
STEPS = 10  # of an evenly spaced column within one period, at least
ALIASES = 20  # of a frequency on such a column that are looked at
ROUNDING = 1e-7  # of differences, over the range of a column, when a common divisor is looked for
FINEST = 1e-5  # spacing over the range of a column below which it counts as continuous
# Each is a sum of another and its slope: changing the numbers inside looks like the other, and is not
FAMILIES = [{"sin", "cos"}, {"asin", "acos"}, {"exp", "sinh", "cosh"}]


def has_look_alikes(node: Node, x: Array, differs: Callable[[Array, Array], bool]) -> bool:
    """Return whether another function in place of one of the law's would fit as well, with other numbers.

    ``differs(slopes, missing)`` tests whether every missing term is visible beside what numbers can absorb. The
    numbers are those of the law and, for its function, a factor and an offset inside and outside.
    """
    for function, law in _loosened(node):
        v = evaluate(function.argument, x)
        if FUNCTIONS[function.name].period < np.inf and aliased(function.argument, x):
            return True
        _, slopes = tangent(law, x)
        slopes = np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0)
        outside = slopes[:, [numbers(law).index(TINY)]]  # the effect of adding a number to the function
        with np.errstate(all="ignore"):
            own = outside * FUNCTIONS[function.name].value(v)[:, None]
            others = {name: f.value(v) for name, f in FUNCTIONS.items() if name != function.name}
        kin = next((f for f in FAMILIES if function.name in f), set())
        size = _size(FUNCTIONS[function.name].value(v))
        scaled = {name: g * size / _size(g) for name, g in others.items() if np.isfinite(g).all()}
        near = [g for name, g in scaled.items() if name in kin]
        far = [g for name, g in scaled.items() if name not in kin]
        powers = [(v / _size(v)) ** k for k in range(DEGREE + 1)]
        if not differs(slopes, outside * np.stack(far, 1)) or not differs(outside * np.stack(powers, 1), own):
            return True
        if near and not differs(own, outside * np.stack(near, 1)):
            return True
    return False


def aliased(argument: Node, x: Array) -> bool:
    """Return whether evenly spaced rows allow a periodic function of this argument another frequency."""
    weights = argument.weights if isinstance(argument, Sum) else (1.0,)
    terms = argument.terms if isinstance(argument, Sum) else (argument,)
    for term, weight in zip(terms, weights, strict=True):
        values = evaluate(term, x)
        step = spacing(values)
        if not step:
            continue
        if abs(weight) * step > 2 * np.pi / STEPS:
            return True
        others = [k * 2 * np.pi / step + sign * weight for k in range(1, ALIASES) for sign in (1, -1)]
        if not is_plain(weight) and any(is_plain(float(f"{w:.12g}")) for w in others):
            return True
    return False


def spacing(values: Array) -> float:
    """Return the largest number of which all differences of these values are multiples; 0 if there is none.

    >>> spacing(np.array([0.5, 2.0, 3.5, 8.0])), spacing(np.random.default_rng(0).uniform(0, 1, 99))
    (1.5, 0.0)
    """
    d = np.unique(np.abs(values - values[0]))
    least, finest = ROUNDING * d[-1], FINEST * d[-1]
    step = d[-1]
    while len(d := d[d > least]):
        step = d[0]
        rest = d % step
        d = np.unique(np.minimum(rest, step - rest))
    return float(step) if step > finest and values.size > 2 else 0.0


def _loosened(node: Node) -> Iterator[tuple[Function, Node]]:
    """Yield each function of a law, with the law in which it has a factor and an offset inside and outside.

    The offset outside is TINY, the one inside twice that: neither changes the value.
    """
    for function, rebuilt in _places(node):
        inner = Function(function.name, Sum((function.argument,), (1.0,), 2 * TINY))
        law = rebuilt(Sum((inner,), (1.0,), TINY))
        yield function, law


def _places(node: Node) -> Iterator[tuple[Function, Callable[[Node], Node]]]:
    """Yield each function inside an expression, and the expression as a function of what stands there."""
    if isinstance(node, Function):
        yield node, lambda new: new
    inner = parts(node)
    for i, part in enumerate(inner):
        for function, rebuilt in _places(part):

            def outer(new: Node, i: int = i, rebuilt: Callable[[Node], Node] = rebuilt) -> Node:
                return with_parts(node, [rebuilt(new) if k == i else p for k, p in enumerate(inner)])

            yield function, outer


def _size(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) or 1.0
