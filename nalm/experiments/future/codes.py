"""Future work of Mistry 2023, section 2.5: what a unit does to the network before it.

A reader of digits behind a divider learnt 9/digit, which divides as well as the digits do. Here a small reader of codes
is trained through a unit, and the formula of a run names the code that it learnt (see ``nalm.networks.CodedUnit``).
A run is solved if its error is below a thousandth of the variance of the results.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Range, Recipe, Threshold

DIGITS = Range(1, 10, "grid", sd=1)
VARIANCES = {"add": 13.33, "multiply": 377.8, "divide": 2.947}  # of the results for digits 1 to 9
STEPS = 10_000
PLAIN = Recipe(steps=STEPS, lr=3e-3, schedule="cosine", clip_norm=1, norm="scaled")
LATE = Ramp(10, STEPS / 2, STEPS * 0.8)
SPARSE = PLAIN.replace(penalties=(("weight", LATE),))
GATED = PLAIN.replace(penalties=(("weight", LATE), ("gate", LATE)))
POWERS = "ModifiedRealNPU"
Sizes = tuple[tuple[str, int], ...]
ONE_LAYER: Sizes = ()  # of 32 units, as CodedUnit has it
ARCHITECTURES: dict[str, Sizes] = {
    "no hidden layer": (("depth", 0),),
    "8": (("hidden", 8),),
    "128": (("hidden", 128),),
    "32, 32": (("depth", 2),),
}


def cases_of(
    unit: str,
    recipe: Recipe,
    *operations: str,
    readers: str = "shared",
    value: str = "free",
    sizes: Sizes = ONE_LAYER,
) -> tuple[Case, ...]:
    """Make the cases of a unit, or of a given operation, behind readers of one kind."""
    layer = Layer("CodedUnit", 1, (("unit", unit), ("readers", readers), ("value", value), *sizes))
    return tuple(
        Case(
            (layer,),
            Arithmetic(name, DIGITS, DIGITS, threshold=Threshold("fixed", value=VARIANCES[name] / 1_000)),
            recipe,
        )
        for name in operations
    )


EXPERIMENTS = (
    Experiment(
        "beyond/code-before-unit",
        "Which code does a reader learn behind a unit, and what makes it the intended one? (thesis 2.5)",
        (
            *cases_of("NAU", SPARSE, "add"),
            *cases_of("NMU", SPARSE, "multiply"),
            *cases_of("NRU", SPARSE, "multiply", "divide"),
            *cases_of("NSPU", PLAIN.replace(loss="paths"), "add", "multiply", "divide"),
            *cases_of(POWERS, GATED, "multiply", "divide"),
            *cases_of(POWERS, GATED, "multiply", "divide", readers="separate"),
            *cases_of(POWERS, GATED, "multiply", "divide", value="bounded"),
            *cases_of(POWERS, GATED, "multiply", "divide", value="softargmax"),
            *cases_of("divide", PLAIN, "divide"),
            *cases_of("divide", PLAIN, "divide", value="softargmax"),
        ),
        tuple(range(25)),
    ),
    Experiment(
        "beyond/code-architectures",
        "Does the width or depth of a reader change which code it learns? (thesis 2.5)",
        tuple(
            case
            for sizes in ARCHITECTURES.values()
            for case in (
                *cases_of("NAU", SPARSE, "add", sizes=sizes),
                *cases_of("NMU", SPARSE, "multiply", sizes=sizes),
                *cases_of("NRU", SPARSE, "divide", sizes=sizes),
                *cases_of(POWERS, GATED, "multiply", "divide", sizes=sizes),
                *cases_of(POWERS, GATED, "divide", value="softargmax", sizes=sizes),
                *cases_of("divide", PLAIN, "divide", value="softargmax", sizes=sizes),
            )
        ),
        tuple(range(25)),
    ),
)
