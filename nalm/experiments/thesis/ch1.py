"""Mistry 2023, section 1.4, and Mistry 2022c, Table 1: what a multilayer perceptron learns about arithmetic.

Mistry 2023: An Investigation into Neural Arithmetic Logic Modules, PhD thesis. Mistry 2022c: Improving the
robustness of neural multiplication units with reversible stochasticity, arXiv:2211.05624.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe, Threshold
from nalm.experiments.published import Name, claims, tied
from nalm.experiments.thesis.ch3 import PLAIN, SEEDS, sparse

OPERATIONS = ("add", "subtract", "multiply", "divide")
LONG = PLAIN.replace(steps=2_000_000)


def case(layer: Layer, operation: str, recipe: Recipe) -> Case:
    """Make a case that is trained between 1 and 2 and tested between 2 and 6; its threshold is 1e-5."""
    return Case(
        (layer,),
        Arithmetic(operation, Range(1, 2), Range(2, 6), threshold=Threshold("fixed", value=1e-5)),
        recipe,
    )


def mlp(width: int, bias: bool = True) -> Layer:
    """Make a perceptron with one hidden layer and ReLU."""
    return Layer("MLP", options=(("hidden", (width,)), *(() if bias else (("bias", False),))))


NARROW = {operation: case(mlp(1), operation, PLAIN) for operation in OPERATIONS}
FOUR = {operation: case(mlp(4, bias=False), operation, PLAIN) for operation in ("add", "subtract")}
WIDE = {operation: case(mlp(100), operation, LONG) for operation in OPERATIONS}
NAU = case(Layer("NAU"), "add", sparse(0.01))
NMU = case(Layer("NMU"), "multiply", sparse(10))

TABLE: dict[Name, Case] = {
    ("MLP(1)", "multiply", "25 seeds"): NARROW["multiply"],
    ("MLP(100)", "multiply", "25 seeds"): WIDE["multiply"],
    ("NMU", "multiply", "25 seeds"): NMU,
}
SURFACES: dict[Name, Case] = {
    (name, operation, "U[1,2)->U[2,6)"): found
    for name, cases in (("MLP(1)", NARROW), ("MLP(100)", WIDE))
    for operation, found in cases.items()
}

EXPERIMENTS = (
    Experiment(
        "thesis/ch1/mlp",
        "Does a perceptron learn arithmetic beyond its training range? (thesis 1.4.1)",
        (*NARROW.values(), *FOUR.values(), *WIDE.values(), NAU, NMU),
        SEEDS,
        tied(claims("MLP vs NMU, U[1,2)->U[2,6), 2 inputs"), TABLE)
        + tied(claims("MLP vs NALM surface"), SURFACES),
    ),
)
