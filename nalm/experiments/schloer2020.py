"""Schlör 2020: iNALU: Improved neural arithmetic logic unit. Its five experiments, with the settings of its code.

Daniel Schlör, Markus Ring, Andreas Hotho, Frontiers in Artificial Intelligence 3:71, 2020,
doi:10.3389/frai.2020.00071; described in Mistry 2023, section D.1.

Ten seeds, 100,000 steps on batches of 64 out of 64,000 rows. The released tables hold seven of the eighteen
distributions.

``schloer/code/*`` trains as the released code does, and the released numbers are tied to it: both units start around
(1, -1, 0) with deviation 0.1, weights and gates are trained in turns, the penalty has steps of its own, and runs
begin again from U(-2, 2) (see ``nalm/engine/numbers/schloer.py``). Departures from it: batches are drawn from the
sample at random, not in its order; a run counts at its best validation error, not at its last; ``function`` gives the
operands 50 and 25 neighbouring inputs, the code each input to one of them or to none with odds 2 : 1 : 1.
``function`` is solved below 1e-3, since products of sums are only exact to 1e-4 in float32. The code that ran ``start``
was not released; operands, ranges and the model are those of its plan, and its tables are not compared.

``schloer/minimal``, ``magnitude`` and ``simple`` are the same tasks with the recipes of Mistry 2023, chapter 3: weights
and gates together, no start and no penalty of its own for the NALU, restarts of the iNALU from its first weights.
"""

import itertools

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe, Threshold, truncated
from nalm.config.labels import unit_of
from nalm.experiments.published import claims, tied
from nalm.experiments.thesis.ch3 import INALU

STEPS = Recipe(steps=100_000, batch=64, lr=1e-2, optimiser="rmsprop", clip_value=0.1)
MODELS = (
    (Layer("NALU"), STEPS),
    (Layer("INALU", options=(("means", (1.0, -1.0, 0.0)), ("std", 0.1))), STEPS.replace(inalu=INALU.inalu)),
)
CODE = STEPS.replace(optimiser="tf_rmsprop", decay=0.9, rules="schloer")
RAW = {  # the parameters behind a unit's weights, their choices and its gates
    "NALU": (("w_hat",), ("m_hat",), ("gate",)),
    "INALU": (("add_w_hat", "multiply_w_hat"), ("add_m_hat", "multiply_m_hat"), ("gate_hat",)),
}
BEST, DEVIATION = (1.0, -1.0, 0.0), 0.1  # means of weights, choices and gates
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


def begun(unit: str, layers: int, means: tuple[float, ...] = BEST, deviation: float = DEVIATION) -> Recipe:
    """Make the recipe of the released code for layers of a unit that start around these means."""
    around = tuple(
        (f"{i}.{name}", mean, deviation)
        for i in range(layers)
        for names, mean in zip(RAW[unit], means, strict=True)
        for name in names
    )
    return CODE.replace(normal_starts=around)


AS_CODED = tuple((Layer(unit), begun(unit, 1)) for unit in RAW)


def cases(
    inputs: int,
    ranges: tuple[tuple[Range, Range], ...],
    models: tuple[tuple[Layer, Recipe], ...] = MODELS,
) -> tuple[Case, ...]:
    """Make the cases of both units on the four operations."""
    return tuple(
        Case(
            (layer,),
            Arithmetic(
                operation, train, test, inputs=inputs, sample=64_000, threshold=Threshold("fixed", value=1e-5)
            ),
            recipe,
        )
        for layer, recipe in models
        for operation in OPERATIONS
        for train, test in ranges
    )


def sums(unit: str, recipe: Recipe, train: Range, test: Range) -> tuple[Case, ...]:
    """Make the cases of two layers that combine two sums of 100 inputs by each of the four operations."""
    return tuple(
        Case(
            (Layer(unit, 2), Layer(unit)),
            Arithmetic(
                *(operation, train, test),
                inputs=100,
                operands=((0, 50), (50, 75)),
                sample=64_000,
                threshold=Threshold("fixed", value=1e-3),
            ),
            recipe,
        )
        for operation in OPERATIONS
    )


def coded(name: str, title: str, own: tuple[Case, ...], task: str = "") -> Experiment:
    """Make an experiment with the released code's training; the claims of ``task`` are its rates of success."""
    named = {(unit_of(case), case.operation, str(case.train)): case for case in own}
    return Experiment(f"schloer/code/{name}", title, own, SEEDS, tied(claims(task), named))


FUNCTION = ((Range(-3, 3), Range(-5, -3)), (normal(-3, 3), normal(3, 4)))
CENTRED, FAR = truncated(-2, 2, 0, 1), Range(kind="normal", mean=10, sd=1)


EXPERIMENTS = (
    Experiment(
        "schloer/minimal",
        "On which distributions of two inputs do NALU and iNALU learn to calculate?",
        cases(2, DISTRIBUTIONS),
        SEEDS,
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
    ),
    coded(
        "minimal",
        "On which distributions of two inputs do NALU and iNALU learn to calculate, trained as in the code?",
        cases(2, DISTRIBUTIONS, AS_CODED),
        "iNALU paper, 2 inputs",
    ),
    coded(
        "simple",
        "On which distributions do NALU and iNALU find two operands among ten inputs, trained as in the code?",
        cases(10, DISTRIBUTIONS, AS_CODED),
        "iNALU paper, 10 inputs",
    ),
    coded(
        "function",
        "Do two layers of NALU or iNALU find two sums among 100 inputs and combine them?",
        tuple(
            case
            for unit in RAW
            for train, test in FUNCTION
            for case in sums(unit, begun(unit, 2), train, test)
        ),
        "iNALU paper, sums of 100 inputs",
    ),
    coded(
        "start",
        "From which initial weights do two layers of iNALU learn? (the paper recommends means 1, -1, 0)",
        tuple(
            case
            for means in itertools.product((-1.0, 0.0, 1.0), repeat=3)
            for deviation in (0.1, 0.5)
            for case in sums("INALU", begun("INALU", 2, means, deviation), CENTRED, FAR)
        ),
    ),
)
