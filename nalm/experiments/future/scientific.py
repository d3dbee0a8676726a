"""Future work of Mistry 2023, section 8.1.3: numbers as sign, mantissa and exponent, for wide and large ranges.

`beyond/scientific`: division among ten inputs, on the nine ranges, on the large ones of thesis 5.7, and on numbers from
10 to 1e18 that are spread evenly over the orders of magnitude. The modified Real NPU computes the same function by
logarithms.

`beyond/scientific-factors`: products of all of a hundred inputs, whose squares leave the range of float32.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe, mirrored
from nalm.experiments.thesis.ch3 import RANGES, SEEDS
from nalm.experiments.thesis.ch5_ablations import BENFORD, LARGE

WIDE = (Range(10, 1e18, "benford"), Range(1e18, 1e36, "benford"))
PLAIN = Recipe(steps=10_000, lr=1e-2, schedule="cosine")
SHORT = PLAIN.replace(steps=2_000)
UNITS = ("ScientificNPU", "ModifiedRealNPU", "NaiveNPU")
FACTORS = 100
FACTOR_RANGES = (  # in training the median product is between 1e-26 and 1e17
    (Range(1, 2), Range(0.5, 1)),
    (Range(-2, -1), Range(-1, -0.5)),
    (Range(0.5, 1), Range(1, 1.8)),
    (Range(-1.5, 1.5), mirrored(-1, -0.5, 0.5, 1)),
)

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
    Experiment(
        "beyond/scientific-factors",
        "Do products of a hundred factors become solvable by scientific encoding, or by the loss? (thesis 8.1.3)",
        tuple(
            Case((Layer(unit),), Arithmetic("multiply", train, test, FACTORS, subsets=FACTORS), recipe)
            for recipe in (SHORT, SHORT.replace(loss="log"))
            for unit in (*UNITS, "NMU", "NMRU")
            for train, test in FACTOR_RANGES
        ),
        SEEDS,
    ),
)
