"""Logic: rules of truth values (NLRL), comparisons (NSR), and status registers in a loop.

Reimann 2019 (Neural logic rule layers, arXiv:1907.00878) for `logic/rules`, Faber 2020 (Neural status registers,
arXiv:2004.07085) for the others; Mistry 2023, sections 2.2.6, 2.2.7 and D.3.

Both papers state findings without numbers that could be compared, so there are no claims; the titles state what they
report. "Addition with division" (D.3.1) is not defined further. It is taken as (a + b) / 2, which stays between 0 and
1 and which one NLRL is exactly, halfway between AND and OR: (ab + a + b - ab) / 2. Settings are ours. A run is solved
if it makes no mistake on 10,000 test rows (or is below a fixed error).
"""

from nalm.config import (
    Arithmetic,
    Case,
    Experiment,
    Layer,
    Lists,
    Ramp,
    Range,
    Recipe,
    Threshold,
    TwoDigits,
    grid,
)

SEEDS = tuple(range(10))
RIGHT = Threshold("fixed", value=1e-5, metric="mistakes")
RULE = Threshold("fixed", value=1e-5, metric="rule")

TRUTH = grid(0, 2)
RULES = ("and", "or", "not", "xor", "implies", "iff", "select", "true", "false")
WIDTHS = (1, 2, 4, 8, 16)

INTEGERS, FLOATS = grid(-9, 10), grid(-1, 1, 0.1)
COMPARISONS = ("less", "greater", "less_equal", "greater_equal", "equal", "not_equal")
COMPARING = Recipe(steps=2_000, lr=1e-2, batch=64, loss="bce")


def pressed(steps: int, lr: float, weight: float) -> Recipe:
    """Make a recipe with decreasing steps and a penalty on the weights that grows in the middle of training."""
    ramp = Ramp(weight, 0.3 * steps, 0.7 * steps)
    return Recipe(steps=steps, lr=lr, batch=64, schedule="cosine", penalties=(("weight", ramp),))


def calculating(train: Range) -> tuple[Case, ...]:
    """Make the cases of two layers that calculate with degrees of truth of this range, tested on all of [0, 1)."""
    return tuple(
        Case(
            (Layer(unit, width), Layer(unit)),
            Arithmetic(operation, train, Range(0, 1), threshold=Threshold("fixed", value=1e-5)),
            Recipe(steps=20_000, lr=1e-2, batch=64, schedule="cosine"),
        )
        for unit in ("NLRL", "AndNLRL")
        for width in WIDTHS
        for operation in ("multiply", "mean")
    )


def comparing(train: Range, test: Range, inputs: int, redundancy: int, scale: float) -> tuple[Case, ...]:
    """Make the cases of the six comparisons of two among several inputs."""
    model = (Layer("NSR", 1, (("redundancy", redundancy), ("scale", scale))),)
    return tuple(
        Case(model, Arithmetic(operation, train, test, inputs=inputs, threshold=RIGHT), COMPARING)
        for operation in COMPARISONS
    )


def looping(
    network: str,
    operation: str,
    ranges: tuple[Range, Range],
    lengths: tuple[int, ...],
    recipe: Recipe,
    copies: int,
) -> tuple[Case, ...]:
    """Make the cases of a network that is trained on short lists of the first range.

    It is tested on longer lists of both ranges, with its weights as trained and snapped.
    """
    first, *longer = lengths
    return tuple(
        Case(
            (Layer(network, 1, (("redundancy", copies),)),),
            Lists(operation, ranges[0], test, inputs=first, test_inputs=length, threshold=threshold),
            recipe,
        )
        for length in longer
        for threshold in (RIGHT, RULE)
        for test in ranges
    )


def seeing(layer: Layer, operation: str) -> Case:
    """Make the case of a layer behind a reader of two digits, for 30 epochs; it is tested on unseen pairs."""
    mistakes = Threshold("fixed", value=0.05, metric="mistakes")
    task = TwoDigits(operation, threshold=mistakes, exact="rounded")
    return Case((layer,), task, Recipe(steps=30 * task.epoch(128), loss="bce"))


EXPERIMENTS = (
    Experiment(
        "logic/rules",
        "Which rules do two layers learn, how many units wide, with AND and OR or with AND alone? (thesis D.3.1)",
        tuple(
            Case(
                (Layer(unit, width), Layer(unit)),
                Arithmetic(operation, TRUTH, TRUTH, threshold=RIGHT),
                Recipe(steps=8_000, lr=1e-3, batch=16),
            )
            for unit in ("NLRL", "AndNLRL")
            for width in WIDTHS
            for operation in RULES
        ),
        SEEDS,
    ),
    Experiment(
        "logic/arithmetic",
        "Do two layers of logic learn a x b and (a + b) / 2 of numbers from 0 to 1? (thesis D.3.1)",
        (*calculating(Range(0, 1)), *calculating(Range(0.25, 0.75))),
        SEEDS,
    ),
    Experiment(
        "logic/comparisons",
        "Does an NSR learn to compare integers and floats, also two among 10? Do copies help? (thesis D.3.2)",
        tuple(
            case
            for train, test, scale in (
                (INTEGERS, grid(991, 1010), 1.0),
                (FLOATS, grid(9, 11, 0.1), 10.0),
            )
            for inputs in (2, 10)
            for redundancy in (1, 10)
            for case in comparing(train, test, inputs, redundancy, scale)
        ),
        SEEDS,
    ),
    Experiment(
        "logic/scale",
        "Which scale suits numbers that differ by at least one? (thesis 2.2.7: the inverse of their difference)",
        tuple(
            case
            for scale in (0.1, 0.3, 3.0, 10.0)
            for case in comparing(INTEGERS, grid(991, 1010), 2, 1, scale)
        ),
        SEEDS,
    ),
    Experiment(
        "logic/piecewise",
        "Does an NSR before a NAU learn pieces that meet, and pieces that do not? (thesis D.3.2: only the former)",
        tuple(
            Case(
                (Layer("NSRNAU", 1, (("redundancy", copies), ("scale", 10.0))),),
                Arithmetic(operation, Range(-1, 1), Range(-2, 2), threshold=Threshold("fixed", value=1e-3)),
                pressed(3_000, 2e-2, 0.3),
            )
            for copies in (1, 10)
            for operation in ("distance", "minimum", "maximum", "jump")
        ),
        SEEDS,
    ),
    Experiment(
        "logic/minimum",
        "Does the minimum of 3 numbers carry over to 20 and 100, and to larger ones? (thesis D.3.2: perfectly)",
        looping(
            "Smallest",
            "smallest",
            (grid(-10, 10), grid(-1000, 1000)),
            (3, 20, 100),
            pressed(1_500, 5e-2, 1),
            10,
        ),
        SEEDS,
    ),
    Experiment(
        "logic/count",
        "Does counting a number among 5 carry over to 20 and 50? (thesis D.3.2: the longer, the worse)",
        looping("Counter", "count", (grid(0, 10), grid(0, 100)), (6, 21, 51), pressed(3_000, 2e-2, 1), 1),
        SEEDS,
    ),
    Experiment(
        "logic/paths",
        "Do shortest paths among 3 nodes carry over to 5 and 8? (thesis D.3.2: better with larger edges)",
        looping(
            "Paths", "shortest_path", (grid(1, 10), grid(1, 1000)), (9, 25, 64), pressed(1_500, 5e-2, 1), 10
        ),
        SEEDS,
    ),
    Experiment(
        "logic/digits",
        "Does an NSR compare two images of digits? (thesis D.3.2: about as well as a perceptron in its place)",
        tuple(
            seeing(layer, operation)
            for layer in (
                Layer("NSR", 1, (("redundancy", 1), ("scale", 1.0))),
                Layer("NSR", 1, (("redundancy", 10), ("scale", 1.0))),
                Layer("MLP"),
            )
            for operation in COMPARISONS
        ),
        SEEDS,
    ),
)
