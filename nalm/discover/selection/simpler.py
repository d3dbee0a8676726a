"""The simplest law that the rows do not clearly speak against: the evidence is itself an estimate from few rows."""

from collections.abc import Callable, Sequence

import numpy as np

from nalm.discover.law.expression import Array, size
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rows import NoiseKind

CLEAR = (
    2.5  # standard errors of a difference of likelihoods; many forms were tried, so that 2 are no surprise
)
MOST = 100  # rows: with more, the evidence speaks for itself
LOOKED_AT = 40  # laws, best first


def simpler(
    order: Sequence[Fitted], best: Fitted, sound: Callable[[Fitted], bool]
) -> tuple[Fitted, float] | None:
    """Return the smallest sound law that fits less well than the best one, but not clearly, and by how much.

    The law has fewer symbols and no more fitted numbers than the best one. The difference of -2 log likelihood is a
    sum over rows; it is compared with the standard error of that sum (Vuong's test).
    """
    if len(best.rows) > MOST:
        return None
    found = []
    for law in order[:LOOKED_AT]:
        if size(law.node) < size(best.node) and law.count <= best.count and law.rows.noise == best.rows.noise:
            off = clearly(law, best)
            if off < CLEAR:
                found.append((size(law.node), law.score, off, law))
    for _, _, off, law in sorted(found, key=lambda f: f[:2]):
        if sound(law):
            return law, off
    return None


def clearly(law: Fitted, best: Fitted) -> float:
    """Return by how many standard errors a law is less likely than the best one; infinite without a value."""
    differences = _of_rows(law) - _of_rows(best)
    spread = float(np.sqrt(len(differences)) * np.std(differences))
    if not np.isfinite(spread):
        return np.inf
    return float(np.sum(differences)) / max(spread, 1e-300)


def _of_rows(law: Fitted) -> Array:
    """Return -2 log likelihood of each row, at the size of the noise that the law leaves."""
    square = law.rows.residual(law.node) ** 2
    size_of = 1.0 if law.rows.noise == NoiseKind.GIVEN else float(np.mean(square))
    return np.asarray(
        square / max(size_of, 1e-300) + np.log(max(size_of, 1e-300)) + 2 * np.log(law.rows.error)
    )
