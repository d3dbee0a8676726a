"""Future work of Mistry 2023, sections 7.4 and 8.1.1: selecting operations and their inputs by gradients alone.

The tasks are the 16 compositions op2(op1(a, b), c) of `thesis/ch7`. Each way changes one setting of another way, from
the frozen selector there with Adam: clipped gradients; an error on a scale that divisions do not disturb; a choice of
its own for every row; gradients of less variance; a penalty that makes choices sure late; a mixture without draws.
Experts, one for each pair of operations, differ in the network, the loss and the recipe.
"""

from typing import NamedTuple

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


class Way(NamedTuple):
    """A way of selecting, and the name of the way that it is compared with."""

    layer: Layer
    recipe: Recipe
    beside: str = ""


WAYS = {
    "Adam": Way(Layer("FrozenSelector"), ADAM.replace(clip_norm=0, norm="plain")),
    "clipped": Way(Layer("FrozenSelector"), ADAM, "Adam"),
    "clipped, asinh": Way(Layer("FrozenSelector"), SAFE, "clipped"),
    "clipped, rows": Way(routed("straight"), ADAM, "clipped"),
    "clipped, rows, Rao-Blackwell": Way(routed("rao"), ADAM, "clipped, rows"),
    "clipped, rows, asinh": Way(routed("straight"), SAFE, "clipped, rows"),
    "clipped, rows, asinh, Rao-Blackwell": Way(routed("rao"), SAFE, "clipped, rows, asinh"),
    "clipped, rows, asinh, entropy": Way(routed("straight"), SURE, "clipped, rows, asinh"),
    "clipped, mixture, asinh": Way(routed("soft"), SAFE, "clipped, rows, asinh"),
    "clipped, mixture, asinh, entropy": Way(routed("soft"), SURE, "clipped, mixture, asinh"),
    "16 experts": Way(experts(1), BALANCED, "clipped, mixture, asinh"),
    "64 experts": Way(experts(4), BALANCED, "16 experts"),
}

EXPERIMENTS = (
    Experiment(
        "beyond/selection",
        "What lets a selector find all 16 compositions by gradients alone? (thesis 7.4 and 8.1.1)",
        tuple(
            Case((layer,), Arithmetic(formula, TRAIN, TEST, inputs=4, subsets=4), recipe)
            for layer, recipe, _ in WAYS.values()
            for formula in FORMULAS
        ),
        tuple(range(25)),
    ),
)
