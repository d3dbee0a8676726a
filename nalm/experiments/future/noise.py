"""Future work of Mistry 2023, section 4.7: reversible noise for units that divide, and other noise than uniform.

Each unit is trained with the recipe that the thesis has for it without noise, on the same tasks, so that
`thesis/ch5/main` and `thesis/ch4/single` are the runs to compare with. Sums and products of powers need no runs: there
the noise cancels for all weights, which the tests of nalm/units/reversible.py check.
"""

from nalm.config import Case, Experiment, Layer
from nalm.experiments.thesis.ch3 import RANGES, SEEDS, sparse
from nalm.experiments.thesis.ch4 import nine
from nalm.experiments.thesis.ch5 import TEN, TWO, divide

WITHOUT_NOISE = {"SNMRU": "NMRU", "SNRU": "NRU", "SModifiedRealNPU": "ModifiedRealNPU"}
OTHER = ("lognormal", "learnt")


def noisy(unit: str, distribution: str) -> Layer:
    """Make a unit with noise of another distribution than the uniform one."""
    return Layer(unit, options=(("distribution", distribution),))


def dividing() -> tuple[Case, ...]:
    """Make the cases of chapter 5 with noise: two inputs and ten, over the nine ranges."""
    return tuple(
        case
        for inputs, recipes in ((10, TEN), (2, TWO))
        for unit, plain in WITHOUT_NOISE.items()
        for case in divide(unit, recipes[plain], inputs, RANGES)
    )


EXPERIMENTS = (
    Experiment(
        "beyond/reversible-noise",
        "Does reversible noise take units that divide out of their local optima? (thesis 4.7)",
        dividing(),
        SEEDS,
    ),
    Experiment(
        "beyond/noise-distributions",
        "Is uniform noise the best, or a lognormal one, or one whose width is learnt? (thesis 4.7)",
        tuple(
            case
            for name in OTHER
            for case in (
                *nine(noisy("SNMU", name), sparse(10)),
                *divide(noisy("SNMRU", name), TEN["NMRU"], 10, RANGES),
            )
        ),
        SEEDS,
    ),
)
