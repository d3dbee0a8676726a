"""Future work of Mistry 2023, sections 7.4 and 8.1.1: selecting operations and their inputs by gradients alone.

The tasks are the 16 compositions op2(op1(a, b), c) of `thesis/ch7`. Each way changes something of the frozen selector
there: the optimiser and clipped gradients; a choice of its own for every row; gradients of less variance; an error on a
scale that divisions do not disturb; a mixture without draws whose choices become sure late; experts of equal load.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Recipe
from nalm.experiments.thesis.ch7 import FORMULAS, TEST, TRAIN

STEPS = 10_000
ADAM = Recipe(steps=STEPS, lr=3e-2, schedule="cosine", clip_norm=1, norm="scaled")
SAFE = ADAM.replace(loss="asinh")
SURE = SAFE.replace(penalties=(("entropy", Ramp(1, STEPS / 2, STEPS)),))
BALANCED = ADAM.replace(steps=3_000, lr=0.1, loss="experts", penalties=(("weight", Ramp(0.3, 1_200, 2_100)),))


def routed(gradient: str) -> Layer:
    """Make a selector whose rows choose for themselves."""
    return Layer("RoutedSelector", 1, (("gradient", gradient),))


def experts(copies: int) -> Layer:
    """Make a mixture of experts."""
    return Layer("ExpertSelector", 1, (("copies", copies),))


WAYS: dict[str, tuple[Layer, Recipe]] = {
    "Adam, clipped gradients": (Layer("FrozenSelector"), ADAM),
    "and a draw for every row": (routed("straight"), ADAM),
    "and a loss that divisions do not disturb": (routed("straight"), SAFE),
    "and Rao-Blackwellised gradients": (routed("rao"), SAFE),
    "no draws, entropy penalised late": (routed("soft"), SURE),
    "16 experts of equal load": (experts(1), BALANCED),
    "64 experts of equal load": (experts(4), BALANCED),
}

EXPERIMENTS = (
    Experiment(
        "beyond/selection",
        "What lets a selector find all 16 compositions by gradients alone? (thesis 7.4 and 8.1.1)",
        tuple(
            Case((layer,), Arithmetic(formula, TRAIN, TEST, inputs=4, subsets=4), recipe)
            for layer, recipe in WAYS.values()
            for formula in FORMULAS
        ),
        tuple(range(25)),
    ),
)
