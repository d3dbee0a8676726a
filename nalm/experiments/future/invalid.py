"""Future work of Mistry 2023, sections 2.5 and 5.11: a zero denominator as an output that is plainly invalid.

Whole numbers are divided, some of them by 0. The loss `valid` leaves out rows whose target is no finite number; squared
errors do not. A run is solved if its snapped unit, in its exact form, gives finite results exactly and no number that
looks like a result for a quotient by 0.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Recipe, Threshold, grid

STEPS = 10_000
PLAIN = Recipe(steps=STEPS, lr=1e-2, schedule="cosine", loss="valid")
LATE = Ramp(1, STEPS / 2, STEPS * 3 / 4)
SPARSE = PLAIN.replace(penalties=(("weight", LATE),))
GATED = PLAIN.replace(penalties=(("weight", LATE), ("gate", LATE)))
RANGES = ((grid(0, 5), grid(0, 10)), (grid(-4, 5), grid(-9, 10)))  # training and test: with and without signs
UNITS = (
    ("ModifiedRealNPU", GATED),
    ("ModifiedRealNPU", GATED.replace(loss="mse")),
    ("NRU", SPARSE),
    ("NMRU", SPARSE),
)

EXPERIMENTS = (
    Experiment(
        "beyond/invalid-outputs",
        "Does a unit learn to divide from rows of which some divide by 0, and say so? (thesis 2.5 and 5.11)",
        tuple(
            Case(
                (Layer(unit),),
                Arithmetic("divide", train, test, threshold=Threshold("fixed", metric="valid")),
                recipe,
            )
            for unit, recipe in UNITS
            for train, test in RANGES
        ),
        tuple(range(25)),
    ),
)
