"""The published treatment of each unit while it trains: weights of its penalties and bounds of its gradient."""

from nalm.config import Ramp, Recipe
from nalm.units import (
    IMNAC,
    INAC,
    INALU,
    NMRU,
    InputGatedINALU,
    ModifiedNPU,
    ModifiedRealNPU,
    Trainable,
)

STEPS = 50_000  # of the published trainings; ramps are stretched to the length of another
FROM, TO = 0.4 * STEPS, 0.7 * STEPS  # Mistry 2023, section 3.3
PENALTIES = {  # penalties that depend on inputs, and rewards for large parameters, are left to explicit recipes
    "weight": Ramp(10, FROM, TO),  # Mistry 2023, Table E.1
    "gate": Ramp(1, FROM, TO),  # Mistry 2023, Table 5.1
    "bounds": Ramp(1),  # from the first step on: it stands for the projection
    "l0": Ramp(0.1),
}
SLIGHT = Ramp(
    0.05, FROM, TO
)  # Schlör et al. 2020: the penalty of a saturating weight is a hundred times as large
SATURATING = (INALU, INAC, IMNAC, InputGatedINALU)
MODIFIED = (ModifiedRealNPU, ModifiedNPU)


def published(unit: Trainable) -> Recipe:
    """Return the treatment of a unit as a recipe of 50,000 steps; a user's unit may bring its own.

    >>> from nalm.units import NMU
    >>> published(NMU(2, 1)).penalties
    (('weight', Ramp(weight=10.0, start=20000.0, end=35000.0)),)
    """
    own = getattr(unit, "recipe", None)
    if isinstance(own, Recipe):
        return own
    found = {name: PENALTIES[name] for name in unit.penalties() if name in PENALTIES}
    if isinstance(unit, SATURATING):
        found["weight"] = SLIGHT
    if isinstance(unit, MODIFIED):
        found["weight"] = PENALTIES["gate"]
    return Recipe(
        steps=STEPS,
        penalties=tuple(found.items()),
        clip_norm=1.0 if isinstance(unit, NMRU) else 0.0,
        clip_value=0.1 if isinstance(unit, INALU) else 0.0,
    )
