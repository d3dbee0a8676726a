"""Laws and certificates as plain JSON values, and strict readers of them; numbers keep every digit."""

import math
from typing import Any

from nalm.discover.certificate import Certificate
from nalm.discover.certificate.verdict import Verdict
from nalm.discover.law import Law
from nalm.discover.law.expression import Function, Input, Node, Power, Sum
from nalm.discover.law.functions import FUNCTIONS
from nalm.discover.law.names import check_names
from nalm.errors import NALMError
from nalm.operating_system import json_number

DEEPEST, LARGEST = 50, 20_000  # levels and symbols of a law that is read


def plain_node(node: Node) -> Any:
    """Convert an expression to nested lists.

    >>> plain_node(Power((Input(0), Input(1)), (1.0, -1.0), 0.5))
    ['power', [['input', 0], ['input', 1]], [1.0, -1.0], 0.5]
    """
    match node:
        case Input(index):
            return ["input", index]
        case Sum(terms, weights, bias):
            return ["sum", [plain_node(t) for t in terms], list(weights), bias]
        case Power(factors, exponents, coefficient):
            return ["power", [plain_node(f) for f in factors], list(exponents), coefficient]
        case Function(name, argument):
            return ["function", name, plain_node(argument)]


def node_of(value: Any, inputs: int) -> Node:
    """Read what ``plain_node`` wrote; refuse anything else."""
    left = [LARGEST]

    def read(value: Any, depth: int) -> Node:
        left[0] -= 1
        if left[0] < 0 or depth > DEEPEST:
            raise NALMError(f"A law has at most {LARGEST} symbols on {DEEPEST} levels, this one has more.")
        match value:
            case ["input", int(index)] if not isinstance(index, bool) and 0 <= index < inputs:
                return Input(index)
            case ["sum" | "power" as kind, list(parts), list(values), last] if len(parts) == len(values):
                nodes = tuple(read(p, depth + 1) for p in parts)
                own = tuple(number(v) for v in values)
                return Sum(nodes, own, number(last)) if kind == "sum" else Power(nodes, own, number(last))
            case ["function", str(name), argument] if name in FUNCTIONS:
                return Function(name, read(argument, depth + 1))
        raise NALMError(f"This is no part of a law of {inputs} inputs: {str(value)[:80]!r}.")

    return read(value, 0)


def number(value: Any) -> float:
    """Return a finite number as float; refuse anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        raise NALMError(f"A law is made of finite numbers, got {str(value)[:80]!r}.")
    return float(value)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return False


def plain_law(law: Law) -> dict[str, Any]:
    """Convert a law to plain values: formula and source for people, the expression for reading back."""
    return {
        "formula": str(law),
        "python": law.python(),
        "names": list(law.names),
        "expression": plain_node(law.expression),
    }


def law_of(value: Any) -> Law:
    """Read what ``plain_law`` wrote."""
    match value:
        case {"names": list(names), "expression": expression} if all(isinstance(n, str) for n in names):
            return Law(node_of(expression, len(names)), check_names(names, len(names)))
    raise NALMError(f"This is no law: it needs names and an expression, got {str(value)[:80]!r}.")


def plain_certificate(certificate: Certificate) -> dict[str, Any]:
    """Convert a certificate to plain values; numbers that are not finite become null."""
    return {
        "verdict": certificate.verdict.value,
        "tested": certificate.tested,
        "rows": certificate.rows,
        "error": json_number(certificate.error),
        "bound": json_number(certificate.bound),
        "precision": certificate.precision,
        "noise": certificate.noise,
        "domain": {name: list(ends) for name, ends in certificate.domain.items()},
        "alternatives": list(certificate.alternatives),
        "advice": certificate.advice,
        "outliers": list(certificate.outliers),
    }


def certificate_of(value: Any) -> Certificate:
    """Read what ``plain_certificate`` wrote."""
    match value:
        case {
            "verdict": str(verdict),
            "tested": str(tested),
            "rows": int(rows),
            "error": int() | float() | None as error,
            "bound": int() | float() | None as bound,
            "precision": "float32" | "float64" as precision,
            "noise": int() | float() | None as noise,
            "domain": dict(domain),
        } if verdict in list(Verdict) and all(
            isinstance(ends, list) and len(ends) == 2 for ends in domain.values()
        ):
            return Certificate(
                Verdict(verdict),
                tested,
                rows,
                math.inf if error is None else number(error),
                math.inf if bound is None else number(bound),
                precision,
                None if noise is None else number(noise),
                {str(name): (number(ends[0]), number(ends[1])) for name, ends in domain.items()},
                tuple(map(str, value.get("alternatives", ()))),
                str(value.get("advice", "")),
                tuple(row for row in value.get("outliers", ()) if isinstance(row, int)),
            )
    raise NALMError(f"This is no certificate: {str(value)[:80]!r}.")
