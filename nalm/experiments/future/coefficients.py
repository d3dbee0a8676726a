"""Future work of Mistry 2023, sections 8.1.2 and 2.3.3: coefficients beside discrete gates, the cost of discreteness.

`beyond/coefficients`: 0.37 a + 2.6 c and 2.6 a / c among ten inputs. The `CoefficientUnit` selects inputs by gates with
an L0 penalty and learns coefficients; beside it stand a linear layer, one with L1, and a power unit with a factor.
`beyond/discreteness`: sums with noise on the training targets, tested without noise, where the true weights are on the
grid of the NAU and where they are between its numbers. There is no threshold that noise lets a run pass: errors are
compared.
"""

from nalm.config import Arithmetic, Case, Experiment, Growth, Layer, Ramp, Range, Recipe, Threshold
from nalm.experiments.thesis.ch3 import RANGES, SEEDS

STEPS = 20_000
PLACES = ((0, 1), (2, 3))  # the operands are a and c
MEASURED = (RANGES[4], RANGES[6], RANGES[8])  # U[-2,2), U[1,2), U[10,20)
POSITIVE = (RANGES[5], RANGES[6], RANGES[8])
PLAIN = Recipe(steps=STEPS, lr=1e-2, schedule="cosine", clip_value=1)
SUMS = PLAIN.replace(loss="centred", then="mse", switch=STEPS // 4)
POWERS = PLAIN.replace(loss="log", then="mse", switch=STEPS // 4)
L0 = (("l0", Ramp(0.01)),)
SNAPPED = PLAIN.replace(penalties=(("weight", Ramp(1, STEPS / 2, STEPS * 3 / 4)),))
NOISES = (0.01, 0.1, 1.0)


def coefficients(operation: str, model: tuple[Layer, ...], recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of a model on three ranges; a quotient has no range that contains 0."""
    ranges = MEASURED if operation == "weighted_sum" else POSITIVE
    threshold = Threshold("fixed", value=1e-4)
    return tuple(
        Case(
            model,
            Arithmetic(operation, train, test, inputs=10, operands=PLACES, threshold=threshold),
            recipe,
        )
        for train, test in ranges
    )


def noisy(unit: str, recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of a unit with noise on the targets."""
    return tuple(
        Case(
            (Layer(unit),),
            Arithmetic(operation, Range(-2, 2), Range(-2, 2), inputs=10, operands=PLACES, noise=noise),
            recipe,
        )
        for operation in ("add", "fractional_sum")
        for noise in NOISES
    )


def unit(form: str) -> tuple[Layer, ...]:
    """Make a unit with coefficients."""
    return (Layer("CoefficientUnit", 1, (("form", form),)),)


EXPERIMENTS = (
    Experiment(
        "beyond/coefficients",
        "Do gates with an L0 penalty find the inputs while coefficients are learnt beside them? (thesis 8.1.2)",
        (
            *coefficients("weighted_sum", unit("sum"), SUMS.replace(penalties=L0)),
            *coefficients("weighted_sum", (Layer("Linear", options=(("bias", False),)),), SUMS),
            *coefficients(
                "weighted_sum",
                (Layer("Linear", options=(("bias", False),)),),
                SUMS.replace(l1=Growth(1e-4, 1e-3, 5_000)),
            ),
            *coefficients("weighted_ratio", unit("product"), POWERS.replace(penalties=L0)),
            *coefficients("weighted_ratio", (Layer("ModifiedRealNPU"), Layer("Affine")), POWERS),
        ),
        SEEDS,
    ),
    Experiment(
        "beyond/discreteness",
        "What does discreteness cost where targets are noisy, or the true weights not on the grid? (thesis 2.3.3)",
        (*noisy("NAU", SNAPPED), *noisy("NAU", PLAIN), *noisy("Linear", PLAIN)),
        SEEDS,
    ),
)
