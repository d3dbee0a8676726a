"""Future work of Mistry 2023, section 8.1.3: numbers as sign, mantissa and exponent, for wide and large ranges.

Division among ten inputs, on the nine ranges, on the large ones of thesis 5.7, and on numbers from 10 to 1e18 that are
spread evenly over the orders of magnitude. The modified Real NPU computes the same function by logarithms.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe
from nalm.experiments.thesis.ch3 import RANGES, SEEDS
from nalm.experiments.thesis.ch5_ablations import BENFORD, LARGE

WIDE = (Range(10, 1e18, "benford"), Range(1e18, 1e36, "benford"))
PLAIN = Recipe(steps=10_000, lr=1e-2, schedule="cosine")
UNITS = ("ScientificNPU", "ModifiedRealNPU")

EXPERIMENTS = (
    Experiment(
        "beyond/scientific",
        "Does scientific encoding make large and wide ranges solvable, or does the loss? (thesis 8.1.3)",
        tuple(
            Case((Layer(unit),), Arithmetic("divide", train, test, inputs=10), recipe)
            for recipe in (PLAIN, PLAIN.replace(loss="log"))
            for unit in UNITS
            for train, test in (*RANGES, *LARGE, BENFORD, WIDE)
        ),
        SEEDS,
    ),
)
