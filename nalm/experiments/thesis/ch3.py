"""Mistry 2023, chapter 3: can one unit learn one operation? Nine training ranges, 25 seeds, units as published.

Mistry 2023: An Investigation into Neural Arithmetic Logic Modules, PhD thesis. The chapter repeats the benchmark
of Mistry 2022a: A primer for neural arithmetic logic modules, arXiv:2101.09530.
"""

from nalm.config import Case, Experiment, Growth, Layer, Ramp, Range, Recipe, mirrored
from nalm.experiments.published import claims

RANGES = (  # training, and the range beyond it (thesis Table 3.2)
    (Range(-20, -10), Range(-40, -20)),
    (Range(-2, -1), Range(-6, -2)),
    (Range(-1.2, -1.1), Range(-6.1, -1.2)),
    (Range(-0.2, -0.1), Range(-2, -0.2)),
    (Range(-2, 2), mirrored(-6, -2, 2, 6)),
    (Range(0.1, 0.2), Range(0.2, 2)),
    (Range(1, 2), Range(2, 6)),
    (Range(1.1, 1.2), Range(1.2, 6)),
    (Range(10, 20), Range(20, 40)),
)
SEEDS = tuple(range(25))

PLAIN = Recipe()


def sparse(weight: float, start: float = 20_000, end: float = 35_000) -> Recipe:
    """Add a penalty on the weights to the plain recipe; it grows between two steps."""
    return PLAIN.replace(penalties=(("weight", Ramp(weight, start, end)),))


def power(start: float, end: float) -> Recipe:
    """Make the recipe of the power units: a larger learning rate, and L1 on all parameters that grows tenfold."""
    return PLAIN.replace(lr=5e-3, l1=Growth(start, end))


INALU = PLAIN.replace(clip_value=0.1, inalu=True)
GATED = {"NALU": PLAIN, "INALU": INALU, "GNALU": PLAIN}
SUMS = {"NAC": PLAIN, "NAU": sparse(0.01)} | GATED  # 0.01 in the code behind the figures, 10 in Table E.1
PRODUCTS = {
    "NACMul": PLAIN,
    "NMU": sparse(10),
    "NPU": power(1e-7, 1e-5),
    "RealNPU": power(1e-7, 1e-5),
} | GATED
QUOTIENTS = {
    "NACMul": PLAIN,
    "NPU": power(1e-9, 1e-7),
    "RealNPU": power(1e-9, 1e-7),
} | GATED  # as in the code


def single(unit: str, operation: str, recipe: Recipe, inputs: int = 2) -> tuple[Case, ...]:
    """Make the cases of one unit on one operation over the nine ranges."""
    return tuple(
        Case((Layer(unit),), operation, train, test, recipe, inputs=inputs) for train, test in RANGES
    )


def chapter(name: str, operation: str, sign: str, recipes: dict[str, Recipe]) -> Experiment:
    """Make the experiment with all units of the chapter on one operation."""
    return Experiment(
        f"thesis/ch3/{name}",
        f"Which unit learns a {sign} b from two inputs? (thesis 3.3.2)",
        tuple(case for unit, recipe in recipes.items() for case in single(unit, operation, recipe)),
        SEEDS,
        claims("single-module, 2 inputs", operation, ("Sec 3.3.2", "Figure"), (*recipes, " vs ", " minus ")),
    )


LONG = sparse(0.01, 50_000, 75_000).replace(steps=100_000)

EXPERIMENTS = (
    chapter("add", "add", "+", SUMS),
    chapter("sub", "subtract", "-", SUMS),
    chapter("mul", "multiply", "x", PRODUCTS),
    chapter("div", "divide", "/", QUOTIENTS),
    Experiment(
        "thesis/ch3/redundancy",
        "Does it still find the two operands among 10 or 100 inputs? (thesis 3.3.2, Figs 3.6 to 3.8)",
        (
            *single("NAU", "add", LONG, 10),
            *single("NAU", "subtract", LONG, 10),
            *single("NAU", "add", LONG, 100),
            *single("NAU", "subtract", LONG, 100),
            *single("INALU", "add", INALU, 10),
        ),
        SEEDS,
        claims("single-module, 10 inputs") + claims("single-module, 100 inputs"),
    ),
)
