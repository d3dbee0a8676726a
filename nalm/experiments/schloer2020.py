"""Schlör 2020: iNALU: Improved neural arithmetic logic unit. Its three small tasks, with the settings of its code.

Daniel Schlör, Markus Ring, Andreas Hotho, Frontiers in Artificial Intelligence 3:71, 2020,
doi:10.3389/frai.2020.00071; described in Mistry 2023, section D.1.

Ten seeds, 100,000 steps on batches of 64 out of 64,000 rows. Departures from the code: weights and gates are trained
together and not in turns, and the iNALU restarts from its first weights, by the rules of Mistry 2023, chapter 3.
The released tables hold seven of the eighteen distributions.
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
    """Make a normal distribution that is cut three deviations from its mean."""
    return truncated(low, high, (low + high) / 2, (high - low) / 6)


def exponential(scale: float) -> Range:
    """Make an exponential distribution with this mean."""
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
# The sources do not state the magnitudes. These are powers of ten, tested on up to three times the largest input.
MAGNITUDES = tuple((Range(m, 2 * m), Range(2 * m, 6 * m)) for m in (0.01, 0.1, 1, 10, 100))


def cases(inputs: int, ranges: tuple[tuple[Range, Range], ...]) -> tuple[Case, ...]:
    """Make the cases of both units on the four operations."""
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
    """Make an experiment with both units; the claims of ``task`` are the shares of released runs below 1e-5."""
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
