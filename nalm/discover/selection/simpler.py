"""The simplest law that the rows do not clearly speak against: the evidence is itself an estimate from few rows."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import special

from nalm.discover.law.expression import Array, Input, Node, Sum, roles, size, used
from nalm.discover.selection.evidence import Fitted, unsettled
from nalm.discover.selection.rows import NoiseKind

CLEAR = 3.0  # standard errors of a difference of likelihoods, of many rows; forms were tried, so 2 are no surprise
EXPONENTS = 4  # that are tried of a column
MOST = 100  # rows: with more, the evidence speaks for itself
LOOKED_AT = 40  # laws, best first


def simpler(
    order: Sequence[Fitted], best: Fitted, sound: Callable[[Fitted], bool]
) -> tuple[Fitted, float] | None:
    """Return the smallest sound law that fits less well than the best one, but not clearly, and by how much.

    The difference of -2 log likelihood is a sum over rows; it is compared with the standard error of that sum (Vuong's
    test).
    """
    if len(best.rows) > MOST:
        return None
    found = []
    for k, law in enumerate(order):
        if (k < LOOKED_AT or is_straight(law.node)) and _is_simpler(law, best):
            off = clearly(law, best)
            if off < _clear(law, best):
                found.append((size(law.node), not is_straight(law.node), law.score, off, law))
    for *_, off, law in sorted(found, key=lambda f: f[:3]):
        if sound(law):
            return law, off
    return None


def _is_simpler(law: Fitted, best: Fitted) -> bool:
    """Return whether a law has fewer symbols or fitted numbers than the best one, and more of neither.

    A law with a fitted exponent is not simpler.

    A straight line may have more of its numbers fitted: it is simpler than a curve whose numbers are nice by chance.
    """
    if is_straight(law.node) and not is_straight(best.node):
        numbers = [int(unsettled(f.node, f.rows.x).sum()) for f in (law, best)]
        return (size(law.node), numbers[0]) <= (size(best.node), numbers[1])
    own, other = (size(law.node), law.count), (size(best.node), best.count)
    return own != other and own[0] <= other[0] and own[1] <= other[1] and not _has_fitted_exponent(law)


def is_straight(node: Node) -> bool:
    """Return whether a law is a straight line, a + b x.

    >>> is_straight(Sum((Input(0),), (2.0,), 1.0)), is_straight(Sum((Input(0), Input(1)), (2.0, 1.0)))
    (True, False)
    """
    return isinstance(node, Sum) and len(node.terms) == 1 and isinstance(node.terms[0], Input)


def _has_fitted_exponent(law: Fitted) -> bool:
    """Return whether a law has an exponent that was fitted: it can imitate a law of another form."""
    return any(free and role == "exponent" for free, role in zip(law.free, roles(law.node), strict=True))


def _clear(law: Fitted, best: Fitted) -> float:
    """Return the standard errors by which the best law must be better than a simpler one to be clearly so.

    A column that the simpler law leaves out was measured for a reason: by chance one of the m columns that it leaves
    out, with one of a few exponents, makes a law better by sqrt(2 log(4 m)).
    """
    if used(law.node) >= used(
        best.node
    ):  # as improbable as CLEAR standard errors, which few rows estimate badly
        return float(special.stdtrit(max(len(law.rows) - 1, 1), special.ndtr(CLEAR)))
    return float(np.sqrt(2 * np.log(EXPONENTS * (law.rows.x.shape[1] - len(used(law.node))))))


def clearly(law: Fitted, best: Fitted) -> float:
    """Return by how many standard errors a law is less likely than the best one; infinite without a value."""
    differences = _of_rows(law) - _of_rows(best)
    spread = float(np.sqrt(len(differences)) * np.std(differences))
    if not np.isfinite(spread):
        return np.inf
    return float(np.sum(differences)) / max(spread, 1e-300)


def _of_rows(law: Fitted) -> Array:
    """Return -2 log likelihood of each row, at the size of the noise that the law leaves."""
    rows = law.rows
    square = rows.residual(law.node) ** 2
    size_of = max(1.0 if rows.noise == NoiseKind.GIVEN else float(np.mean(square)), 1e-300)
    return np.asarray(square / size_of + np.log(size_of) + 2 * np.log(rows.stretched))
