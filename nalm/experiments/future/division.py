"""Future work of Mistry 2023, section 5.11: a quotient of two sums, learnt by two layers.

The task is that of the arithmetic dataset (two sums over overlapping subsets of the inputs) with ten inputs and a
quotient at the end. The loss `log` leaves a factor free and shows magnitudes to the network, `projected` leaves a
linear trend free; both are followed by squared errors, which leave nothing free.

On U[-2,2) some denominators of the published test range are close to 0, and the simulated threshold is too large to
decide anything. The study with a penalty trains on that range and tests it on U[2,6), where sums have one sign.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Range, Recipe, Threshold
from nalm.experiments.thesis.ch3 import RANGES

UNITS = ("NRU", "NMRU", "ModifiedRealNPU")
PLAIN = Recipe(steps=100_000, lr=1e-2, schedule="cosine", clip_norm=1, norm="scaled")
LATE = Ramp(1, 0.75 * PLAIN.steps, 0.9 * PLAIN.steps)  # after the inputs have been found
BOTH_SIGNS = Range(-2, 2)
POSITIVE = tuple((train, Range(2, 6) if train == BOTH_SIGNS else test) for train, test in RANGES)

RECIPES = (
    PLAIN,
    *(PLAIN.replace(loss=loss, then="mse", switch=PLAIN.steps // 2) for loss in ("log", "projected")),
)


def quotients(recipe: Recipe, ranges: tuple[tuple[Range, Range], ...]) -> tuple[Case, ...]:
    """Make the cases of a NAU and each unit that divides, over ranges of training and test."""
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
        for train, test in ranges
    )


def settled(case: Case) -> Case:
    """Add a late penalty on the weights of a case that are off the grid, and on gates if its unit has them."""
    names = ("weight", "gate") if case.model[-1].unit == "ModifiedRealNPU" else ("weight",)
    return case.replace(recipe=case.recipe.replace(penalties=tuple((name, LATE) for name in names)))


EXPERIMENTS = (
    Experiment(
        "beyond/two-layer-division",
        "Do two layers learn a quotient of two sums, and does another loss help? (thesis 5.11)",
        tuple(case for recipe in RECIPES for case in quotients(recipe, RANGES)),
        tuple(range(25)),
    ),
    Experiment(
        "beyond/two-layer-penalty",
        "Do two layers learn a quotient of two sums if a late penalty moves their weights to the grid? (thesis 5.11)",
        tuple(settled(case) for recipe in RECIPES for case in quotients(recipe, POSITIVE)),
        tuple(range(25)),
    ),
)
