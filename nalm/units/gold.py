"""Gold weights that several units share: rows of the effective weight, by operation.

Inputs after the ones listed get the neutral value of the grid, so that the unit leaves them out.
"""

from nalm.units.base import Gold

GOLD_SUM: Gold = {
    "add": {"weight": (1.0, 1.0)},
    "subtract": {"weight": (1.0, -1.0)},
    "select": {"weight": (1.0,)},
}
GOLD_POWER: Gold = {
    "multiply": {"weight": (1.0, 1.0)},
    "divide": {"weight": (1.0, -1.0)},
    "reciprocal": {"weight": (-1.0,)},
    "sqrt": {"weight": (0.5,)},
    "select": {"weight": (1.0,)},
}
GOLD_PRODUCT: Gold = {"multiply": {"weight": (1.0, 1.0)}, "select": {"weight": (1.0,)}}
