"""Future work of Mistry 2023, section 5.11: a quotient of two sums, learnt by two layers.

The task is that of the arithmetic dataset (two sums over overlapping subsets of the inputs) with ten inputs and a
quotient at the end. The loss `log` leaves a factor free and shows magnitudes to the network, `projected` leaves a
linear trend free; both are followed by squared errors, which leave nothing free.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Recipe, Threshold
from nalm.experiments.thesis.ch3 import RANGES

UNITS = ("NRU", "NMRU", "ModifiedRealNPU")
PLAIN = Recipe(steps=100_000, lr=1e-2, schedule="cosine", clip_norm=1, norm="scaled")
HALF = PLAIN.steps // 2


def quotients(recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of a NAU and each unit that divides, over the nine ranges."""
    return tuple(
        Case(
            (Layer("NAU", 2), Layer(unit)),
            Arithmetic(
                "divide",
                train,
                test,
                inputs=10,
                subset=4,
                overlap=2,
                threshold=Threshold("sums", widened=True),
            ),
            recipe,
        )
        for unit in UNITS
        for train, test in RANGES
    )


EXPERIMENTS = (
    Experiment(
        "beyond/two-layer-division",
        "Do two layers learn a quotient of two sums, and does another loss help? (thesis 5.11)",
        (
            *quotients(PLAIN),
            *quotients(PLAIN.replace(loss="log", then="mse", switch=HALF)),
            *quotients(PLAIN.replace(loss="projected", then="mse", switch=HALF)),
        ),
        tuple(range(25)),
    ),
)
