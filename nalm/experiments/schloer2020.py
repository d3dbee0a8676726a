"""The iNALU paper's three small tasks (Schlör et al. 2020; thesis D.1), with the settings of its released code.

Inputs are drawn from other distributions than those the chapters use; ten seeds; 100,000 steps on batches of 64 out of
64,000 rows. Departs from that code: weights and gates are trained together and not in turns, and the iNALU starts
again where it started, by the rules of thesis chapter 3. The released tables hold seven of the eighteen distributions.
"""

from collections.abc import Mapping, Sequence

from nalm.config import Arithmetic, Case, Claim, Experiment, Layer, Range, Recipe, Threshold, truncated
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
            Arithmetic(
                operation, train, test, inputs=inputs, sample=64_000, threshold=Threshold("fixed", value=1e-5)
            ),
            recipe,
        )
        for layer, recipe in MODELS
        for operation in OPERATIONS
        for train, test in ranges
    )


INALU_NAME = "INALU (means 1 -1 0, std 0.1)"
# Runs of ten below 1e-5 in the end: add, subtract, multiply, divide.
MINIMAL = {
    "NALU": (
        (exponential(0.2), (0, 0, 7, 0)),
        (exponential(0.8), (10, 0, 10, 0)),
        (normal(-2, 4), (10, 0, 8, 0)),
        (normal(-3, 3), (0, 0, 0, 0)),
        (normal(-4, 2), (0, 0, 0, 0)),
        (Range(-1, 1), (10, 0, 8, 0)),
        (Range(-5, 5), (0, 0, 0, 0)),
    ),
    INALU_NAME: (
        (exponential(0.2), (10, 10, 0, 0)),
        (exponential(0.8), (10, 10, 10, 7)),
        (normal(-2, 4), (10, 10, 10, 5)),
        (normal(-3, 3), (10, 10, 10, 3)),
        (normal(-4, 2), (10, 10, 0, 3)),
        (Range(-1, 1), (10, 10, 10, 3)),
        (Range(-5, 5), (10, 10, 10, 3)),
    ),
}
SIMPLE = {
    "NALU": (
        (exponential(0.2), (7, 0, 10, 0)),
        (exponential(0.8), (0, 0, 7, 0)),
        (normal(-2, 4), (10, 1, 0, 0)),
        (normal(-3, 3), (0, 0, 0, 0)),
        (normal(-4, 2), (0, 0, 0, 0)),
        (Range(-1, 1), (10, 0, 0, 0)),
        (Range(-5, 5), (0, 0, 0, 0)),
    ),
    INALU_NAME: (
        (exponential(0.2), (10, 10, 10, 0)),
        (exponential(0.8), (10, 10, 10, 0)),
        (normal(-2, 4), (10, 10, 10, 2)),
        (normal(-3, 3), (10, 10, 10, 1)),
        (normal(-4, 2), (10, 10, 0, 0)),
        (Range(-1, 1), (10, 10, 10, 1)),
        (Range(-5, 5), (10, 10, 10, 2)),
    ),
}
Table = Mapping[str, Sequence[tuple[Range, tuple[int, int, int, int]]]]


def counted(table: Table, inputs: int, folder: str) -> tuple[Claim, ...]:
    """The released runs as claims."""
    return tuple(
        Claim(
            "daschloer/inalu:experiment_runs",
            "success_rate",
            count / 10,
            n=10,
            note="runs of ten whose last error on the test set is below 1e-5",
            place=f"{folder}, results_ext.csv",
            task=f"iNALU paper, {inputs} inputs",
            unit=unit,
            operation=operation,
            where=str(train),
        )
        for unit, rows in table.items()
        for train, counts in rows
        for operation, count in zip(OPERATIONS, counts, strict=True)
    )


EXPERIMENTS = (
    Experiment(
        "schloer/minimal",
        "On which distributions of two inputs do NALU and iNALU learn to calculate?",
        cases(2, DISTRIBUTIONS),
        SEEDS,
        counted(MINIMAL, 2, "exp1"),
    ),
    Experiment(
        "schloer/magnitude",
        "Up to which size of two inputs do NALU and iNALU learn to calculate?",
        cases(2, MAGNITUDES),
        SEEDS,
    ),
    Experiment(
        "schloer/simple",
        "On which distributions do NALU and iNALU find two operands among ten inputs?",
        cases(10, DISTRIBUTIONS),
        SEEDS,
        counted(SIMPLE, 10, "exp2"),
    ),
)
