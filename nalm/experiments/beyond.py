"""Beyond the papers: tasks that they report as unsolved, and the future work of the thesis.

`beyond/losses` trains with losses that fit the structure of the task: plain Adam, float32, batches of 128, no
regulariser; a run is right if its formula after rounding is. The squared error of these tasks consists almost entirely
of a constant or a linear trend, which hides the rest from the gradient.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe, Threshold, mirrored, truncated
from nalm.experiments.thesis.ch3 import RANGES

NARROW = tuple(r for r in RANGES if r[0] in (Range(1.1, 1.2), Range(-1.2, -1.1)))
DIVISION = (
    (Range(-100, 100), mirrored(-200, -100, 100, 200)),
    (truncated(-5, 5, 0, 1), truncated(5, 15, 10, 1)),
    (Range(1.1, 1.2), Range(1.2, 6)),
    (Range(-20, -10), Range(-40, -20)),
    (Range(-2, 2), mirrored(-6, -2, 2, 6)),
)
PLAIN = Recipe(steps=3_000, lr=1e-2, schedule="cosine")


def losses(base: Recipe, *names: str) -> tuple[Recipe, ...]:
    """Return a recipe with each of the published losses, then with those named."""
    half = base.steps // 2
    published = (base, base.replace(loss="pcc"), base.replace(loss="pcc", then="mse", switch=half))
    return published + tuple(base.replace(loss=name) for name in names)


SUMS = tuple(
    Case((Layer("NAU"),), Arithmetic(operation, train, test, inputs=inputs), recipe)
    for operation, inputs in (("add", 10), ("subtract", 100))
    for recipe in losses(PLAIN, "centred")
    for train, test in NARROW
)
QUOTIENTS = tuple(
    Case((Layer("ModifiedRealNPU"),), Arithmetic("divide", train, test, inputs=10), recipe)
    for recipe in losses(PLAIN.replace(lr=2e-2, steps=5_000), "log")
    for train, test in DIVISION
)
PRODUCTS = tuple(
    Case(
        (Layer("NAU", 2), Layer("NMU")),
        Arithmetic(
            "multiply",
            train,
            test,
            inputs=100,
            subset=25,
            overlap=12,
            threshold=Threshold("sums", widened=True),
        ),
        recipe,
    )
    for recipe in losses(PLAIN, "centred", "projected")
    for train, test in RANGES
)

EXPERIMENTS = (
    Experiment(
        "beyond/losses",
        "Which loss solves the cells that no unit learns from squared errors?",
        (*SUMS, *QUOTIENTS, *PRODUCTS),
        tuple(range(20)),
    ),
)
