"""Mistry 2023, chapter 5: variants with ten inputs, mixed signs, other distributions, and division by small numbers.

Mistry 2023: An Investigation into Neural Arithmetic Logic Modules, PhD thesis.
"""

from nalm.config import (
    Arithmetic,
    Case,
    Claim,
    Layer,
    Range,
    Recipe,
    Threshold,
    mirrored,
    parted,
    split,
    truncated,
)
from nalm.experiments.published import claims, once
from nalm.experiments.thesis.ch3 import RANGES
from nalm.experiments.thesis.ch5 import NEW, TEN, TWO, both, divide, study, summary

BENFORD = (Range(10, 100, "benford"), Range(100, 1000, "benford"))
NORMALS = (  # thesis Table 5.3
    (truncated(-5, 10, -1, 3), truncated(-15, -5, -10, 3)),
    (truncated(-5, 5, 0, 1), truncated(5, 15, 10, 1)),
    (truncated(-10, 5, 1, 3), truncated(5, 15, 10, 3)),
)
LARGE = (
    (Range(-100, 100), mirrored(-200, -100, 100, 200)),
    (Range(-50, 50), mirrored(-100, -50, 50, 100)),
)
SIGNS = (  # a and b in training, and in the test (thesis Table 5.2, sets 1, 2, 4, 5)
    ((-2, -0.1, 0.1, 2), (-6, -2, 2, 6)),
    ((-2, -1, 1, 2), (-6, -2, 2, 6)),
    ((0.1, 2, -2, -0.1), (2, 6, -6, -2)),
    ((1, 2, -2, -1), (2, 6, -6, -2)),
)
EITHER = RANGES[4:5]  # set 3: both signs for both operands, also in the test, as in the code


def mixed() -> tuple[Case, ...]:
    """Make the cases as published: half of the columns have one sign, half the other; operands are neighbours.

    With ten inputs only the fifth and sixth column differ in sign, which the authors' seeds choose twice in 25.
    """
    cases = both(NEW, [(split(*train), split(*test)) for train, test in SIGNS])
    return tuple(c.replace(data="authors") for c in cases) + both(NEW, EITHER)


def corrected() -> tuple[Case, ...]:
    """Make the cases in which the operands always differ in sign."""
    ranges = [(parted(*train), parted(*test)) for train, test in SIGNS]
    return tuple(c for unit in NEW for c in divide(unit, TEN[unit], 10, ranges))


def mixed_claims() -> tuple[Claim, ...]:
    """Return the claims of the rows of Table 5.6 about mixed signs: all five sets."""
    ranges = (*(split(*train) for train, _ in SIGNS), EITHER[0][0])
    return summary(2, "Mixed-signs / Uniform", ranges) + summary(10, "Mixed-signs / Uniform", ranges)


def other_claims() -> tuple[Claim, ...]:
    """Return the claims of the text of section 5.7, and of the rows of Table 5.6 about these distributions.

    The table's 0.61 for the modified Real NPU on truncated normals contradicts the text's 0.48, 0.08 and 0.64.
    """
    found = claims("single-module div, 2 inputs", places=("Sec 5.7",))
    found += claims("single-module div, 10 inputs", places=("Sec 5.7",))
    for inputs in (2, 10):
        found += summary(inputs, "Mixed-signs / Truncated Normal", [train for train, _ in NORMALS])
        found += summary(inputs, "Large magnitude / Uniform", [train for train, _ in LARGE])
        found += summary(inputs, "Large magnitude / Benford", BENFORD[:1])
        found += summary(inputs, "Close to 0 / Truncated Normal", [NORMALS[1][0]])
    return once(found)


# -- division by small numbers (thesis 5.8) -----------------------------------------------------

SMALL = tuple(Range(0, top) for top in (1e-4, 1e-3, 1e-2, 1e-1, 1))


def bare(recipe: Recipe) -> Recipe:
    """Return the recipe with 5,000 steps and without penalties."""
    return recipe.replace(steps=5_000, penalties=(), l1=None)


def small() -> tuple[Case, ...]:
    """Make the cases of 1/a from a, 1/a from a and b, and a/b; trained and tested on the same range."""
    cases = []
    for unit in NEW:
        for operation, inputs in (("reciprocal", 1), ("reciprocal", 2), ("divide", 2)):
            cases += [
                Case(
                    (Layer(unit),),
                    Arithmetic(
                        operation,
                        inside,
                        inside,
                        inputs=inputs,
                        subsets=inputs,
                        threshold=Threshold("gold"),
                        data="authors",
                    ),
                    bare(TWO[unit]) if inputs == 1 else TWO[unit],
                )
                for inside in SMALL
            ]
    return tuple(cases)


def small_claims() -> tuple[Claim, ...]:
    """Return the claims of Table 5.6 for a/b, the published thresholds of all three tasks, and one of the text."""
    tasks = {
        "1/a from [a]": ("reciprocal", 1),
        "1/a from [a,b]": ("reciprocal", 2),
        "a/b from [a,b]": ("divide", 2),
    }
    found = list(summary(2, "Close to 0 / Uniform", SMALL))
    (false,) = claims("div by small magnitudes, [a,b]->1/a")
    found.append(false.replace(task="1/a from 2 inputs", unit="ModifiedRealNPU", where=str(SMALL[0])))
    for c in claims("div by small magnitudes"):
        operation, inputs = tasks[c.operation]
        found.append(
            c.replace(
                task=f"division by small magnitudes, {inputs} inputs",
                operation=operation,
                unit=c.unit.replace("RealNPU", "ModifiedRealNPU"),
                where=str(Range(0, float(c.where.split(",")[1].rstrip("]")))),
            )
        )
    return tuple(found)


# -- variants with ten inputs -------------------------------------------------------------------

DISCRETE = TEN["ModifiedRealNPU"]
FREE = TEN["NMRU"].replace(clip_norm=0)  # no bound on the gradient
GATED = TEN["NMRU"].replace(penalties=(*TEN["NMRU"].penalties, ("gate", DISCRETE.penalties[1][1])))


def safely_clipped() -> tuple[Case, ...]:
    """Make the NMRU's cases on large ranges and other distributions: its gradient clipped as published, and safely."""
    ranges = (*NORMALS, BENFORD, *LARGE, RANGES[0], RANGES[-1])
    return tuple(
        case
        for inputs, recipes in ((2, TWO), (10, TEN))
        for norm in ("plain", "scaled")
        for case in divide("NMRU", recipes["NMRU"].replace(norm=norm), inputs, ranges)
    )


def ablation_claims() -> tuple[Claim, ...]:
    """Return the claims about the NMRU without its sign, with a bounded gradient."""
    return tuple(c.replace(unit="NMRUNoSign (clip 1)") for c in claims("NMRU ablation"))


def optimiser_claims() -> tuple[Claim, ...]:
    """Return the claims that Adam and SGD are equal on two ranges and Adam is better on the others."""
    pair = "NMRU (adam) vs NMRU (sgd)"
    (equal,) = claims("NMRU optimiser")
    return equal.replace(unit=pair), equal.replace(unit=pair, metric="n_ranges_better", value=7)


EXPERIMENTS = (
    study(
        "complex",
        "Do complex weights help the modified Real NPU among 10 inputs? (thesis G.5)",
        divide("ModifiedRealNPU", DISCRETE, 10)
        + divide(Layer("ModifiedNPU", options=(("imaginary_part", "free"),)), DISCRETE, 10)
        + divide(Layer("ModifiedNPU", options=(("imaginary_part", "clip"),)), DISCRETE, 10),
    ),
    study(
        "ternary",
        "Should weights of closed gates be drawn to 0 as well? (thesis Fig. 5.16)",
        divide("ModifiedRealNPU", DISCRETE, 10)
        + divide(Layer("ModifiedRealNPU", options=(("towards", (-1.0, 0.0, 1.0)),)), DISCRETE, 10),
    ),
    study(
        "nmru-ablation",
        "What do the NMRU's sign, its bound on the gradient and a gate bring? (thesis Fig. G.6)",
        divide("NMRUNoSign", FREE, 10)
        + divide("NMRUNoSign", TEN["NMRU"], 10)
        + divide("NMRU", FREE, 10)
        + divide("NMRU", TEN["NMRU"], 10)
        + divide("NMRUGated", GATED, 10),
        ablation_claims(),
    ),
    study(
        "nmru-lr",
        "Which learning rate suits the NMRU? (thesis Fig. G.7)",
        tuple(c for lr in (1e-3, 1e-2, 1e-1) for c in divide("NMRU", TEN["NMRU"].replace(lr=lr), 10)),
    ),
    study(
        "nmru-optimiser",
        "Does plain gradient descent train the NMRU? (thesis Fig. G.8)",
        divide("NMRU", TEN["NMRU"], 10) + divide("NMRU", TEN["NMRU"].replace(optimiser="sgd"), 10),
        optimiser_claims(),
    ),
    study(
        "nmru-safe-clip",
        "Are large ranges hard for the NMRU, or does the norm that clips its gradient overflow? (thesis 5.7)",
        safely_clipped(),
    ),
    study(
        "nru-sign",
        "Does a sign computed apart help the NRU among 10 inputs? (thesis Fig. G.9)",
        divide("NRU", TEN["NRU"], 10) + divide("NRUSeparateSign", TEN["NRU"], 10),
    ),
    study(
        "mixed",
        "Which unit divides numbers of different signs? As published (thesis 5.6)",
        mixed(),
        mixed_claims(),
    ),
    study(
        "mixed-corrected",
        "Which unit divides numbers of different signs, found among 10 inputs? (thesis 5.6, operands mended)",
        corrected(),
    ),
    study(
        "distributions",
        "Which unit divides numbers that are large, or not uniform? (thesis 5.7)",
        both(NEW, (*NORMALS, BENFORD, *LARGE)),
        other_claims(),
    ),
    study(
        "small",
        "Which unit divides by numbers close to 0? (thesis 5.8)",
        small(),
        small_claims(),
    ),
)
