"""The iNALU paper's three small tasks (Schlör et al. 2020; thesis D.1), with the settings of its released code.

Inputs are drawn from other distributions than those the chapters use; ten seeds; 100,000 steps on batches of 64 out of
64,000 rows. Departs from that code: weights and gates are trained together and not in turns, and the iNALU starts
again where it started, by the rules of thesis chapter 3. The released tables hold seven of the eighteen distributions.
"""

from nalm.config import Case, Experiment, Layer, Range, Recipe, Threshold, truncated
from nalm.config.labels import unit_of
from nalm.experiments.published import claims, tied
from nalm.experiments.thesis.ch3 import INALU

STEPS = Recipe(steps=100_000, batch=64, lr=1e-2, optimiser="rmsprop", clip_value=0.1)
MODELS = (
    (Layer("NALU"), STEPS),
    (Layer("INALU", options=(("means", (1.0, -1.0, 0.0)), ("std", 0.1))), STEPS.replace(inalu=INALU.inalu)),
)
OPERATIONS = ("add", "subtract", "multiply", "divide")
SEEDS = tuple(range(10))


def normal(low: float, high: float) -> Range:
    """Three deviations wide to either side."""
    return truncated(low, high, (low + high) / 2, (high - low) / 6)


def exponential(scale: float) -> Range:
    """Above 0, with this mean."""
    return Range(kind="exponential", sd=scale)


NORMALS = tuple(normal(*ends) for ends in ((-3, 3), (-2, 4), (-4, 2), (2, 8), (-8, -2)))
UNIFORMS = tuple(
    Range(*ends) for ends in ((0, 1), (-1, 0), (-1, 1), (0, 5), (-5, 0), (-5, 5), (2, 3), (-3, -2))
)
EXPONENTIALS = tuple(exponential(scale) for scale in (0.2, 0.4, 0.6, 0.8, 1))
DISTRIBUTIONS = (
    *((train, normal(8, 10)) for train in NORMALS),
    *((train, Range(-10, -5)) for train in UNIFORMS),
    *((train, exponential(0.5)) for train in EXPONENTIALS),
)
# Magnitudes are not stated in the sources at hand: powers of ten, tested on up to three times the largest input.
MAGNITUDES = tuple((Range(m, 2 * m), Range(2 * m, 6 * m)) for m in (0.01, 0.1, 1, 10, 100))


def cases(inputs: int, ranges: tuple[tuple[Range, Range], ...]) -> tuple[Case, ...]:
    """Both units on the four operations."""
    return tuple(
        Case(
            (layer,),
            operation,
            train,
            test,
            recipe,
            inputs=inputs,
            sample=64_000,
            threshold=Threshold("fixed", value=1e-5),
        )
        for layer, recipe in MODELS
        for operation in OPERATIONS
        for train, test in ranges
    )


def study(
    name: str, title: str, inputs: int, ranges: tuple[tuple[Range, Range], ...], task: str = ""
) -> Experiment:
    """Both units on some distributions, with the released runs of a task as claims."""
    own = cases(inputs, ranges)
    named = {(unit_of(case), case.operation, str(case.train)): case for case in own}
    return Experiment(f"schloer/{name}", title, own, SEEDS, tied(claims(task), named))


EXPERIMENTS = (
    study(
        "minimal",
        "On which distributions of two inputs do NALU and iNALU learn to calculate?",
        2,
        DISTRIBUTIONS,
        "iNALU paper, 2 inputs",
    ),
    study(
        "magnitude",
        "Up to which size of two inputs do NALU and iNALU learn to calculate?",
        2,
        MAGNITUDES,
    ),
    study(
        "simple",
        "On which distributions do NALU and iNALU find two operands among ten inputs?",
        10,
        DISTRIBUTIONS,
        "iNALU paper, 10 inputs",
    ),
)
