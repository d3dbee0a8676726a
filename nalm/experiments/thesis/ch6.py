"""Mistry 2023, chapter 6: do scaled inputs help a unit, and do other losses than the squared error?

Mistry 2023: An Investigation into Neural Arithmetic Logic Modules, PhD thesis.

Equation 6.1 prints max(X) and min(X) beside the mean of the training inputs X_tr. Read to the letter
(``minmax-evaluated``), a test set is scaled by its own width, which the model has never seen, and no run can succeed
outside the training range: the published 0 on all ranges. With the width of the training data (``minmax``) the
factors and offsets are learnt and many runs succeed. Claims are tied to the first reading.
"""

from nalm.config import Arithmetic, Case, Claim, Experiment, Layer, Recipe, split
from nalm.experiments.published import claims, summed
from nalm.experiments.thesis.ch3 import SEEDS, single, sparse
from nalm.experiments.thesis.ch4 import LONG, NMU, SHORT, SNMU, sums
from nalm.experiments.thesis.ch5 import NEW, TEN, divide

FREE, PRESSED = Recipe(), sparse(10)
FEYN = (Layer("Affine", 2), NMU, Layer("Affine"))  # the learnt factors and offsets around the unit


def scaled(model: tuple[Layer, ...], scaling: str, recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of a model that multiplies two scaled inputs, over the nine ranges."""
    return tuple(case.replace(model=model, scaling=scaling) for case in single("NMU", "multiply", recipe))


def scaling_claims() -> tuple[Claim, ...]:
    """Return the claims that no run succeeds with either scaling, with the regulariser or without.

    They are tied to equation 6.1 as it is printed: the mean of the training inputs, the width of the inputs at hand.
    """
    names = {"NMU z-score": "NMU (zscore", "NMU Feyn min-max": "Affine-NMU-Affine (minmax-evaluated"}
    return tuple(
        c.replace(unit=names[c.unit] + rest)
        for c in claims("feature scaling, single-module 2 inputs")
        for rest in (")", ", weight 10)")
    )


# Table 6.1: one batch; the published widths and means of both inputs and nothing else about them.
BATCH = split(2.15035 - 1 / 0.649115, 2.15035 + 1 / 0.649115, 5.67394 - 1 / 0.261765, 5.67394 + 1 / 0.261765)
TABLE = Case(FEYN, Arithmetic("multiply", BATCH, BATCH, sample=128, scaling="minmax"), Recipe())
TABLES = {"Learnt NMU": TABLE, "Fixed NMU": TABLE.replace(model=(FEYN[0], Layer("Fixed"), FEYN[2]))}


def table_claim(unit: str) -> Claim:
    """Sum up a column of Table 6.1: do its factors spell x1 x2? They have many solutions, so none is compared alone."""
    found = [c for c in claims("Feyn-normalised NMU") if c.unit == unit]
    named = {(c.metric, c.where): c.value for c in found}
    coefficient = named["w_out", "element 1"] * named["(ymax-ymin)/2", "element 1"]
    for x in ("element 1", "element 2"):
        coefficient *= named["2/(max-min)", x] * named["w_in", x] * named["NMU_weight", x]
    spelled = abs(coefficient - 1) < 1e-3  # printed with six digits
    return summed(found, "success_rate", float(spelled)).replace(n=1, cases=(TABLES[unit].hash,))


def losses(recipe: Recipe, switch: int) -> tuple[Recipe, ...]:
    """Return a recipe with each of the four losses of the chapter."""
    return (
        recipe,
        recipe.replace(loss="pcc"),
        recipe.replace(loss="mape"),
        recipe.replace(loss="pcc", then="mse", switch=switch),
    )


def arithmetic(layer: Layer, recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of the two-layer task of chapter 4 with each loss."""
    return tuple(c for one in losses(recipe, 750_000) for c in sums(layer, one))


def arithmetic_claims() -> tuple[Claim, ...]:
    """Return the claims: relative errors solve nothing; correlation, then squares, something on every range."""
    names = {
        "NAU-NMU MAPE": "NAU-NMU (mape)",
        "NAU-sNMU MAPE": "NAU-SNMU (mape)",
        "NAU-NMU PCC-MSE": "NAU-NMU (pcc, then mse)",
    }
    return tuple(c.replace(unit=names[c.unit], n=20) for c in claims("losses, arithmetic dataset"))


EXPERIMENTS = (
    Experiment(
        "thesis/ch6/scaling",
        "Does scaling the inputs help the NMU? (thesis 6.1, Fig. 6.1)",
        (
            *scaled((NMU,), "", FREE),
            *scaled((NMU,), "", PRESSED),
            *scaled(FEYN, "minmax", FREE),
            *scaled(FEYN, "minmax", PRESSED),
            *scaled(FEYN, "minmax-evaluated", FREE),
            *scaled(FEYN, "minmax-evaluated", PRESSED),
            *scaled((NMU,), "zscore", FREE),
            *scaled((NMU,), "zscore", PRESSED),
        ),
        SEEDS,
        scaling_claims(),
    ),
    Experiment(
        "thesis/ch6/feyn",
        "What do learnt factors around an NMU become, its weights fixed or learnt? (thesis Table 6.1)",
        tuple(TABLES.values()),
        SEEDS,
        tuple(map(table_claim, TABLES)),
    ),
    Experiment(
        "thesis/ch6/losses/division",
        "Which loss finds a / b among 10 inputs? (thesis 6.3.3)",
        tuple(c for unit in NEW for recipe in losses(TEN[unit], 25_000) for c in divide(unit, recipe, 10)),
        SEEDS,
        tuple(c.replace(unit="ModifiedRealNPU") for c in claims("losses, div 10 inputs")),
    ),
    Experiment(
        "thesis/ch6/losses/arithmetic",
        "Which loss finds the product of two sums of 100 inputs? (thesis 6.3.1)",
        (*arithmetic(NMU, LONG), *arithmetic(SNMU, SHORT)),
        tuple(range(20)),
        arithmetic_claims(),
    ),
)
