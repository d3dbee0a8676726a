"""Other ways to write a law: expanded products, and common factors taken out of sums."""

from collections import Counter
from collections.abc import Iterator

from nalm.discover.fit.snap import whole
from nalm.discover.law.constants import recognised
from nalm.discover.law.expression import (
    Function,
    Input,
    Node,
    Power,
    Sum,
    parts,
    powered,
    size,
    weighted,
    with_parts,
)
from nalm.discover.law.tidy import tidied


def rewritten(node: Node) -> Iterator[Node]:
    """Yield the law as it is, expanded, factored, and expanded then factored."""
    plain = tidied(whole(node))
    wide = expanded(plain)
    yield from (plain, wide, factored(plain), factored(wide))


def expanded(node: Node) -> Node:
    """Expand terms c f (t_1 + t_2 + ...) of a sum; products within rounding of a simple number become that number.

    >>> a, b = Input(0), Input(1)
    >>> expanded(Sum((Power((a, Sum((a, b), (1.0, 0.2))), (1.0, 1.0)), b), (5.0, 1.0)))
    Sum(terms=(Power(factors=(Input(index=0),), exponents=(2.0,), coefficient=1.0),
               Power(factors=(Input(index=0), Input(index=1)), exponents=(1.0, 1.0), coefficient=1.0),
               Input(index=1)), weights=(5.0, 1.0, 1.0), bias=0.0)
    """
    if isinstance(node, Power):
        node = Sum((node,), (1.0,))
    if isinstance(node, Input | Function):
        return with_parts(node, [expanded(p) for p in parts(node)])
    terms: list[Node] = []
    weights: list[float] = []
    for term, weight in zip(node.terms, node.weights, strict=True):
        bases = _bases(term)
        inner = next((b for b, p in bases.items() if isinstance(b, Sum) and p == 1), None)
        scale = weight * (term.coefficient if isinstance(term, Power) else 1.0)
        if inner is None or inner.bias:
            terms.append(term)
            weights.append(weight)
            continue
        others = {b: p for b, p in bases.items() if b != inner}
        for t, w in zip(inner.terms, inner.weights, strict=True):
            number = recognised(scale * w, 4e-15 * abs(scale * w))
            terms.append(Power((*others, t), (*others.values(), 1.0)))
            weights.append(scale * w if number is None else number)
    return tidied(Sum(tuple(terms), tuple(weights), node.bias))


def factored(node: Node) -> Node:
    """Factor out common factors of sums where that makes the expression shorter.

    >>> a, b, c = Input(0), Input(1), Input(2)
    >>> factored(Sum((Power((a, c), (1.0, -1.0)), Power((b, c), (1.0, -1.0))), (1.0, 1.0)))
    Power(factors=(Sum(terms=(Input(index=0), Input(index=1)), weights=(1.0, 1.0), bias=0.0), Input(index=2)),
          exponents=(1.0, -1.0), coefficient=1.0)
    """
    node = with_parts(node, [factored(p) for p in parts(node)])
    if not isinstance(node, Sum):
        return node
    shorter = _taken_out(node)
    return factored(shorter) if shorter is not None and size(shorter) < size(node) else node


def _bases(term: Node) -> dict[Node, float]:
    """Return the bases of a term with their exponents."""
    if isinstance(term, Power):
        return dict(zip(term.factors, term.exponents, strict=True))
    return {term: 1.0}


def _taken_out(node: Sum) -> Node | None:
    """Factor out the most common factor of a sum, to the power -1 or 1; return None if no two terms share one.

    A polynomial of one column stays as it is: a**2 + 3*a is easier to read than a*(a + 3).
    """
    shared = Counter(
        (base, 1.0 if p > 0 else -1.0) for t in node.terms for base, p in _bases(t).items() if abs(p) >= 1
    )
    (base, sign), count = max(shared.items(), key=lambda item: item[1], default=((None, 0.0), 0))
    if base is None or count < 2:
        return None
    if isinstance(base, Input) and all(_bases(t).keys() <= {base} for t in node.terms):
        return None
    inside: list[tuple[Node, float]] = []
    beside: list[tuple[Node, float]] = []
    for term, weight in zip(node.terms, node.weights, strict=True):
        bases = _bases(term)
        if sign * bases.get(base, 0.0) < 1:
            beside.append((term, weight))
            continue
        rest = bases | {base: bases[base] - sign}
        scale = weight * (term.coefficient if isinstance(term, Power) else 1.0)
        inside.append((powered(list(rest), list(rest.values())), scale))
    inner = weighted([t for t, _ in inside], [w for _, w in inside])
    product = Power((inner, base), (1.0, sign))
    terms = [product, *(t for t, _ in beside)]
    return tidied(weighted(terms, [1.0, *(w for _, w in beside)], node.bias))
