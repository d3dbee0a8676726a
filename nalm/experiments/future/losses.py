"""How much of the NSPU's success is its loss, and how much the unit: both exchanged on the same cells.

The NSPU is trained with squared errors, and the NAU and the modified Real NPU with the losses that `paths` is made of,
beside squared errors, all with the recipe of `beyond/own-unit`. `beyond/own-unit` has the NSPU with its own loss.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Threshold
from nalm.experiments.future.unit import RECIPE
from nalm.experiments.thesis.ch3 import RANGES, SEEDS
from nalm.experiments.thesis.ch5 import FIXED

SUMS, PRODUCTS = ("add", "subtract"), ("multiply", "divide")
EXCHANGED = (
    ("NSPU", "mse", (*SUMS, *PRODUCTS)),
    ("NAU", "mse", SUMS),
    ("NAU", "centred", SUMS),
    ("ModifiedRealNPU", "mse", PRODUCTS),
    ("ModifiedRealNPU", "log", PRODUCTS),
)


def cells(operation: str) -> tuple[Arithmetic, ...]:
    """Make the tasks of `beyond/own-unit` with ten inputs, on the nine ranges."""
    threshold = FIXED if operation == "divide" else Threshold()
    return tuple(Arithmetic(operation, train, test, inputs=10, threshold=threshold) for train, test in RANGES)


EXPERIMENTS = (
    Experiment(
        "beyond/own-unit-losses",
        "How much of the NSPU's success is its loss, and how much the unit?",
        tuple(
            Case((Layer(unit),), task, RECIPE.replace(loss=loss))
            for unit, loss, operations in EXCHANGED
            for operation in operations
            for task in cells(operation)
        ),
        SEEDS,
    ),
)
