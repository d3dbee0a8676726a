"""Support: which rows lie in the tested domain, near a singularity, or where the law has no value."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Function, Node, Power, evaluate, parts, used
from nalm.discover.law.functions import FUNCTIONS

NEAR = 0.1  # share of the smallest denominator in the data


def denominators(node: Node) -> Iterator[Node]:
    """Yield the denominators of a law, from the root down, and what is 0 at the poles of its functions."""
    match node:
        case Power(factors, exponents):
            for f, p in zip(factors, exponents, strict=True):
                if p < 0:
                    yield f
                yield from denominators(f)
            return
        case Function(name, argument) if FUNCTIONS[name].pole == "cos":
            yield Function("cos", argument)
        case Function(name, argument) if FUNCTIONS[name].pole == "log":
            # has no value where the argument is negative: no pole, but undefined
            yield Power((argument,), (0.5,))
    for part in parts(node):
        yield from denominators(part)


def nearest(law: Law, x: Array) -> list[float]:
    """Return the smallest size of each denominator of the law on these rows.

    >>> from nalm.discover.law.expression import Input
    >>> nearest(Law(Power((Input(0), Input(1)), (1.0, -1.0)), ("a", "b")), np.array([[1.0, 3.0], [1.0, -2.0]]))
    [2.0]
    """
    with np.errstate(all="ignore"):
        return [float(np.abs(evaluate(d, x)).min(initial=np.inf)) for d in denominators(law.expression)]


def support(
    law: Law, domain: Mapping[str, tuple[float, float]], seen: list[float], x: Array
) -> NDArray[np.str_]:
    """Return a word for each row: inside or outside the domain, singular, overflow, or undefined.

    singular: something the law divides by is below a tenth of the smallest size it had in the data.
    overflow: the law, or a part of it, is too large for float64. undefined: a root or a logarithm of a negative
    number, or an inverse sine or cosine of more than 1.
    """
    word = np.full(len(x), "inside", dtype="<U9")
    with np.errstate(all="ignore"):
        for i in sorted(used(law.expression)):
            low, high = domain.get(law.names[i], (-np.inf, np.inf))
            word[(x[:, i] < low) | (x[:, i] > high)] = "outside"
        values = [evaluate(node, x) for node in _parts(law.expression)]
        lost = np.isnan(values).any(0)
        large = np.isinf(values).any(0)
        close = np.zeros(len(x), bool)
        for d, least in zip(denominators(law.expression), seen, strict=True):
            close |= np.abs(evaluate(d, x)) < NEAR * least
    word[lost] = "undefined"
    word[large] = "overflow"
    word[close] = "singular"
    return word


def _parts(node: Node) -> Iterator[Node]:
    yield node
    for part in parts(node):
        yield from _parts(part)
