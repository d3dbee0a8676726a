"""Units of measurement: which terms may be added, and which exponents a product may have.

Only the dimension of a unit counts, not its scale: mm and m are both lengths. The numbers of a law have none, so a
law between mm and m holds up to a number, and a constant of nature is a column like the others.
"""

import ast
import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np

from nalm.discover.law.expression import Array
from nalm.errors import NALMError, unknown

Dimension = tuple[Fraction, ...]  # exponents of m, kg, s, A, K, mol, cd

BASE = ("m", "kg", "s", "A", "K", "mol", "cd")
NONE: Dimension = (Fraction(0),) * len(BASE)
DERIVED = """
    g=kg L=m^3 l=m^3 Hz=1/s N=kg*m/s^2 Pa=N/m^2 bar=Pa J=N*m eV=J W=J/s C=A*s V=W/A F=C/V ohm=V/A Ω=V/A
    S=A/V Wb=V*s T=Wb/m^2 H=Wb/A lm=cd lx=cd/m^2 Bq=1/s Gy=J/kg Sv=J/kg kat=mol/s rad=1 sr=1
"""
MADE_OF = dict(pair.split("=") for pair in DERIVED.split())
ALONE = {  # without a prefix
    **dict.fromkeys(("min", "h", "d", "day", "yr", "year"), "s"),
    **dict.fromkeys(("AU", "au", "pc", "kpc", "Mpc", "ly", "ft", "inch", "mi"), "m"),
    **dict.fromkeys(("atm", "mmHg", "torr", "Torr", "psi"), "Pa"),
    **{"deg": "1", "percent": "1", "cal": "J", "kcal": "J", "lb": "kg", "t": "kg", "M": "mol/L"},
}
SHIFTED = re.compile(
    r"°\s*[CF]|℃|℉|\bdeg\s*[CF]\b|\b[cC]elsius\b|\b[fF]ahrenheit\b"
)  # a zero point of their own
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
PREFIXES = ("", *"QRYZEPTGMkhdcmunpfazyrqµμ", "da")
LONGEST, LARGEST = 100, 20  # characters, and power
MARK = "unit_"


def dimension(text: str | None) -> Dimension:
    """Return the dimension of a unit of measurement, whatever its scale; empty text and 1 have none.

    >>> print(described(dimension("J/(mol*K)")), described(dimension("km/h")), described(dimension("m^0.5")))
    m^2*kg/s^2/K/mol m/s m^(1/2)
    """
    if text is None or (isinstance(text, str) and not text.strip()):
        return NONE
    if not isinstance(text, str) or len(text) > LONGEST:
        got = f"{len(text)} characters" if isinstance(text, str) else repr(text)
        raise NALMError(f"A unit of measurement is text of at most {LONGEST} characters, got {got}.")
    if SHIFTED.search(text):
        raise NALMError(f"The zero of {text.strip()!r} is not that of nature: convert the column to K.")
    try:  # names are marked, since as (attosecond) is a word of Python
        marked = re.sub(r"[^\W\d_]+", rf"{MARK}\g<0>", spelled(text))
        return _read(ast.parse(marked, mode="eval").body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise error if isinstance(error, NALMError) else _unreadable(text) from None


def spelled(text: str) -> str:
    """Write a unit as a product of powers; tables often have forms such as m s-1, m3 and m².

    >>> spelled("m s-1"), spelled("kg m²"), spelled("W/m2"), spelled("%"), spelled("J/(mol*K)")
    ('m*s**-1', 'kg*m**2', 'W/m**2', 'percent', 'J/(mol*K)')
    """
    text = text.strip().replace("^", "**").replace("·", "*").replace("%", "percent")
    text = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda m: m[0].translate(RAISED), text)
    text = re.sub(r"(?<![\w.])([^\W\d_]+)(-?\d+)", r"\1**\2", text)
    return re.sub(r"(?<=[\w)])\s+(?=[^\W\d_(]|\()", "*", text)


def in_header(name: str) -> str | None:
    """Return the unit that a column's header ends with, in brackets; None if there is none.

    >>> in_header("T [K]"), in_header("V (m3)"), in_header("speed / (m/s)"), in_header("count")
    ('K', 'm3', 'm/s', None)
    """
    found = re.fullmatch(r"\s*[^\[(]*[\[(](.+)[\])]\s*", name)
    return None if found is None else found[1].strip()


def _read(node: ast.AST, text: str) -> Dimension:
    match node:
        case ast.Name(id=name):
            return _named(name.removeprefix(MARK))
        case ast.Constant(value=int() | float() as value) if value > 0:
            return NONE  # a scale
        case ast.BinOp(op=ast.Mult() | ast.Div() as op, left=left, right=right):
            return product(
                [_read(left, text), _read(right, text)], [1, 1 if isinstance(op, ast.Mult) else -1]
            )
        case ast.BinOp(op=ast.Pow(), left=left, right=right):
            return product([_read(left, text)], [_power(right, text)])
    raise _unreadable(text)


def _power(node: ast.AST, text: str) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as value) if value <= LARGEST:
            return Fraction(str(value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_power(operand, text)
        case ast.BinOp(op=ast.Div(), left=left, right=right) if _power(right, text):
            return _power(left, text) / _power(right, text)
    raise _unreadable(text)


def _unreadable(text: str) -> NALMError:
    return NALMError(
        f"Cannot read the unit {text!r}: write units with * and /, and powers of at most {LARGEST}, "
        "as in 'kg*m/s^2' or 'J/(mol*K)'."
    )


@cache
def _named(name: str) -> Dimension:
    if name in BASE:
        return tuple(Fraction(name == b) for b in BASE)
    if name in ALONE or name in MADE_OF:
        return dimension((ALONE | MADE_OF)[name])
    for prefix in PREFIXES:
        rest = name.removeprefix(prefix)
        if name.startswith(prefix) and (rest in MADE_OF or (rest in BASE and rest != "kg")):
            return _named(rest)
    raise unknown("unit of measurement", name, [*BASE, *MADE_OF, *ALONE])


def described(dim: Dimension) -> str:
    """Format a dimension in base units."""
    above = "*".join(b + _raised(e) for b, e in zip(BASE, dim, strict=True) if e > 0)
    below = "".join("/" + b + _raised(-e) for b, e in zip(BASE, dim, strict=True) if e < 0)
    return (above or "1") + below


def _raised(e: Fraction) -> str:
    return "" if e == 1 else f"^{e}" if e.denominator == 1 else f"^({e})"


def product(dims: Sequence[Dimension], exponents: Sequence[Fraction | float]) -> Dimension:
    """Return the dimension of a product of powers; exponents within rounding of a fraction count as that fraction."""
    if not dims:
        return NONE
    return tuple(
        _near(sum(p * e for p, e in zip(exponents, column, strict=True)))
        for column in zip(*dims, strict=True)
    )


def _near(value: Fraction | float) -> Fraction:
    value = Fraction(value) if math.isfinite(value) else Fraction(10**6)
    near = value if value.denominator <= 1000 else value.limit_denominator(1000)
    return near if abs(near - value) < 1e-9 else value


def _eliminated(
    columns: Sequence[Dimension], wanted: Dimension, order: Sequence[int]
) -> dict[int, list[Fraction]] | None:
    r"""Return the row echelon form of :math:`\sum_i p_i \dim_i = \mathrm{wanted}`: rows by pivot, right side last."""
    rows = [[*(c[k] for c in columns), wanted[k]] for k in range(len(BASE))]
    pivots: dict[int, list[Fraction]] = {}
    for i in order:
        row = next((r for r in rows if r[i]), None)
        if row is None:
            continue
        rows.remove(row)
        row = [v / row[i] for v in row]
        rows = [[a - r[i] * b for a, b in zip(r, row, strict=True)] for r in rows]
        pivots = {j: [a - r[i] * b for a, b in zip(r, row, strict=True)] for j, r in pivots.items()}
        pivots[i] = row
    return None if any(r[-1] for r in rows) else pivots


def balanced(
    p: Array, columns: Sequence[Dimension], wanted: Dimension, away: Array | None = None
) -> Array | None:
    r"""Move exponents so that :math:`\sum_i p_i \dim_i = \mathrm{wanted}`; return None if that is impossible.

    Those furthest from a half, or ``away``, move; the others stay if that is possible.

    >>> balanced(np.array([0.97, 2.1]), [dimension("kg"), dimension("m/s")], dimension("J"))
    array([1., 2.])
    """
    away = np.abs(p - np.round(2 * p) / 2) if away is None else away
    pivots = _eliminated(columns, wanted, np.argsort(-away, kind="stable").tolist())
    if pivots is None or not np.isfinite(p).all():
        return None
    exact = [Fraction(repr(float(v))) for v in p]
    for i, row in pivots.items():
        exact[i] = row[-1] - sum(r * exact[j] for j, r in enumerate(row[:-1]) if j not in pivots)
    return np.array([float(v) for v in exact])


def halved(p: Array, columns: Sequence[Dimension], wanted: Dimension) -> Array | None:
    """Balance exponents as ``balanced`` does, with as many multiples of a half as possible."""
    halves = np.round(2 * p) / 2
    return balanced(halves, columns, wanted, np.abs(p - halves))


def null_space(columns: Sequence[Dimension]) -> Array:
    """Return changes (exponents, changes) of the exponents of a product that keep its dimension."""
    pivots = _eliminated(columns, NONE, range(len(columns))) or {}
    free = [i for i in range(len(columns)) if i not in pivots]
    moves = np.zeros((len(columns), len(free)))
    for k, i in enumerate(free):
        moves[i, k] = 1.0
        for j, row in pivots.items():
            moves[j, k] = -float(row[i])
    return moves
