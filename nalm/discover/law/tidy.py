"""The tidy form of an expression: no zero terms, no sum of sums, no product of products, signs outside."""

from dataclasses import replace

from nalm.discover.law.expression import Function, Input, Node, Power, Sum, powered, scalar_power, weighted
from nalm.discover.law.functions import FUNCTIONS


def tidied(node: Node) -> Node:
    """Drop zero terms and zeroth powers, and join sums of sums and products of products."""
    match node:
        case Input():
            return node
        case Sum(terms, weights, bias):
            parts: dict[Node, float] = {}
            for t, w in zip(map(tidied, terms), weights, strict=True):
                joined = t if isinstance(t, Sum) else Sum((t,), (1.0,))
                bias += w * joined.bias
                for s, v in zip(joined.terms, joined.weights, strict=True):
                    s, v = _unscaled(s, v)
                    if isinstance(s, Power) and not s.factors:  # a number
                        bias += w * v
                    else:
                        parts[s] = parts.get(s, 0.0) + w * v
            return weighted(list(parts), list(parts.values()), bias)
        case Power(factors, exponents, coefficient):
            bases: dict[Node, float] = {}
            for f, p in zip(map(tidied, factors), exponents, strict=True):
                joins = float(p).is_integer()  # the root of a square is not its base
                inner = f if isinstance(f, Power) and joins else Power((f,), (1.0,))
                coefficient *= scalar_power(inner.coefficient, p)
                for g, q in zip(inner.factors, inner.exponents, strict=True):
                    if isinstance(g, Sum) and not g.terms:  # a number
                        coefficient *= scalar_power(g.bias, p * q)
                        continue
                    if isinstance(g, Sum) and len(g.terms) == 1 and g.bias == 0 and float(p * q).is_integer():
                        coefficient *= scalar_power(g.weights[0], p * q)
                        g = g.terms[0]
                    if isinstance(g, Sum) and float(p * q).is_integer() and _mostly_negative(g):
                        coefficient *= (-1.0) ** (p * q)
                        g = Sum(g.terms, tuple(-w for w in g.weights), -g.bias)
                    bases[g] = bases.get(g, 0.0) + p * q
            bases = _one_exponential(bases)
            return powered(list(bases), list(bases.values()), coefficient)
        case Function(name, argument):
            return _of(name, tidied(argument))


def _one_exponential(bases: dict[Node, float]) -> dict[Node, float]:
    """Join the powers of exponentials among factors into one exponential."""
    rates = {b.argument: p for b, p in bases.items() if isinstance(b, Function) and b.name == "exp"}
    if not rates or list(rates.values()) == [1.0]:
        return bases
    others = {b: p for b, p in bases.items() if not (isinstance(b, Function) and b.name == "exp")}
    joined = tidied(Sum(tuple(rates), tuple(rates.values())))
    return {**others, _of("exp", joined): 1.0}


def _of(name: str, argument: Node) -> Node:
    """Build a function; the sign of its argument moves out, or away, where it is odd or even."""
    match argument:
        case Sum((Power(factors, exponents, coefficient),), (weight,), 0.0):  # one scale, not two
            argument = powered(factors, exponents, weight * coefficient)
        case Power((factor,), (1.0,), coefficient):
            argument = Sum((factor,), (coefficient,))
    parity = FUNCTIONS[name].parity
    if parity and isinstance(argument, Sum) and _mostly_negative(argument):
        argument = weighted(argument.terms, [-w for w in argument.weights], -argument.bias)
    elif parity and isinstance(argument, Power) and argument.coefficient < 0:
        argument = powered(argument.factors, argument.exponents, -argument.coefficient)
    else:
        parity = 1
    return Function(name, argument) if parity > 0 else Power((Function(name, argument),), (1.0,), -1.0)


def _mostly_negative(node: Sum) -> bool:
    """Return whether a sum reads better with all signs reversed."""
    signs = [w > 0 for w in node.weights] + ([node.bias > 0] if node.bias else [])
    return bool(signs) and (2 * sum(signs), signs[0]) < (len(signs), True)


def _unscaled(node: Node, weight: float) -> tuple[Node, float]:
    """Move the coefficient of a term into its weight."""
    if isinstance(node, Power) and node.coefficient != 1:
        return tidied(replace(node, coefficient=1.0)), weight * node.coefficient
    return node, weight
