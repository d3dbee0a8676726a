"""Where to measure next: the point at which two laws that the data cannot tell apart differ most."""

from collections.abc import Sequence

import numpy as np

from nalm.discover.law.expression import Node, evaluate, used
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rows import NoiseKind

POINTS = 4000  # looked at
BEYOND = 0.5  # of the range of a column: how far outside the data a measurement is proposed
SEED = 0


def next_measurement(law: Fitted, other: Fitted, names: Sequence[str], text: str) -> str:
    """Return a sentence: the point at which two laws differ most beside the noise, in and near the range of the data.

    Columns that no law uses do not matter. The sentence is empty where the laws differ nowhere.
    """
    columns = sorted(used(law.node) | used(other.node))
    x, rng = law.rows.x, np.random.default_rng(SEED)
    low, high = x.min(0), x.max(0)
    wide = BEYOND * (high - low)
    least = np.where(low > 0, low / (1 + BEYOND), low - wide)  # a column above 0 stays there
    points = np.tile(np.median(x, 0), (POINTS, 1))
    points[:, columns] = rng.uniform(least[columns], high[columns] + wide[columns], (POINTS, len(columns)))
    apart = _apart(law, other, points)
    if not np.isfinite(apart).any() or np.nanmax(np.where(np.isfinite(apart), apart, np.nan)) <= 0:
        return ""
    best = int(np.nanargmax(np.where(np.isfinite(apart), apart, -1.0)))
    where = ", ".join(f"{names[j]} = {points[best, j]:.3g}" for j in columns)
    return f"Measure next near {where}: there {text} differs most, by {apart[best]:.2g} times the noise."


def _apart(law: Fitted, other: Fitted, points: np.ndarray) -> np.ndarray:
    """Return how far two laws are apart at points, over the size of the noise."""

    def value(node: Node) -> np.ndarray:
        return evaluate(node, points)

    with np.errstate(all="ignore"):
        if law.rows.noise == NoiseKind.RELATIVE:
            return np.asarray(np.abs(np.log(value(law.node) / value(other.node))) / law.scatter)
        noise = law.scatter * float(np.median(law.rows.error))
        return np.asarray(np.abs(value(law.node) - value(other.node)) / noise)
