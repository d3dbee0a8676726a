"""Mistry 2023, chapter 4: noise that moves the NMU out of its local optima (the stochastic NMU).

Mistry 2023: An Investigation into Neural Arithmetic Logic Modules, PhD thesis. Mistry 2022c: Improving the
robustness of neural multiplication units with reversible stochasticity, arXiv:2211.05624.
"""

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Range, Recipe, Threshold, points
from nalm.experiments import madsen2020 as madsen
from nalm.experiments.published import Name, claims, once, tied
from nalm.experiments.thesis.ch3 import PLAIN, RANGES, SEEDS, sparse

NMU, SNMU = Layer("NMU"), Layer("SNMU")  # whose noise is U[1,5]
BATCH = Layer("SNMU", options=(("noise_range", "batch"),))
STG = Layer("StgNMU")
LAMBDAS = (0.001, 0.01, 0.1, 1, 10)  # the plotted values are not listed; "0.1 or under" works
ETAS = (0.01, 0.1, 1, 10)  # only 10 is named


def gates(recipe: Recipe, weight: float) -> Recipe:
    """Add a penalty on every open gate to a recipe."""
    return recipe.replace(penalties=(*recipe.penalties, ("l0", Ramp(weight))))


def nine(layer: Layer, recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of one unit that multiplies two inputs, over the nine ranges."""
    return tuple(Case((layer,), Arithmetic("multiply", train, test), recipe) for train, test in RANGES)


def sums(layer: Layer, recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of a NAU that finds two sums among 100 inputs and a unit that multiplies them."""
    model = (Layer("NAU", 2), layer)
    return tuple(madsen.task(model, recipe, "multiply", train, test) for train, test in RANGES)


def named(name: str, cases: tuple[Case, ...]) -> dict[Name, Case]:
    """Name cases as the tables do: by unit and training range."""
    return {(name, "multiply", str(case.train)): case for case in cases}


PLAIN_NMU, PLAIN_SNMU = nine(NMU, sparse(10)), nine(SNMU, sparse(10))
SINGLE = (
    *PLAIN_NMU,
    *PLAIN_SNMU,
    *nine(BATCH, sparse(10)),
    *(case for weight in LAMBDAS for case in nine(STG, gates(PLAIN, weight))),
    *(case for eta in ETAS for case in nine(NMU, sparse(10).replace(gradient_noise=eta))),
)

GRID = tuple(
    Case(
        (layer,),
        Arithmetic("multiply", points(-2, -1.8), Range(-6, -2), threshold=Threshold("fixed")),
        Recipe(steps=2_500, batch=1, optimiser="sgd", grid=21),
    )
    for layer in (NMU, SNMU)
)

LONG, SHORT = madsen.PRODUCT, madsen.PRODUCT.replace(steps=2_000_000)  # 5M in the table, 2M in the scripts
LONG_NMU, SHORT_SNMU, SHORT_BATCH = sums(NMU, LONG), sums(SNMU, SHORT), sums(BATCH, SHORT)
ARITHMETIC = (
    *LONG_NMU,
    *SHORT_SNMU,
    *SHORT_BATCH,
    *sums(STG, gates(LONG, 0.01)),  # of what the single unit does best with, the quickest
    *sums(NMU, LONG.replace(gradient_noise=0.01)),
)
NOISE = ((0.01, 0.05), (0.1, 0.5), (1, 2), (1, 5), (5, 10), (10, 20))
NOISES = (
    *(
        case
        for ends in NOISE
        for case in (
            SHORT_SNMU if ends == (1, 5) else sums(Layer("SNMU", options=(("noise_range", ends),)), SHORT)
        )
    ),
    *SHORT_BATCH,
)

TWO_INPUTS, SUMS = "single-module, 2 inputs", "arithmetic dataset (100 inputs, 20 seeds)"
NOISY = "NAU-sNMU U[1,5]"
EXPERIMENTS = (
    Experiment(
        "thesis/ch4/single",
        "Which noise gets the NMU out of its local optima? (thesis 4.4, Figs 4.4 to 4.6)",
        SINGLE,
        SEEDS,
        once(tied(claims(TWO_INPUTS), named("NMU", PLAIN_NMU) | named("SNMU", PLAIN_SNMU))),
    ),
    Experiment(
        "thesis/ch4/start-grid",
        "From which initial weights is -2 x -1.8 learnt? (thesis Fig. 4.3)",
        GRID,
        tuple(range(21 * 21)),
    ),
    Experiment(
        "thesis/ch4/arithmetic",
        "Does noise help two layers find and multiply sums among 100 inputs? (thesis 4.5, Fig. 4.7)",
        ARITHMETIC,
        tuple(range(20)),
        once(tied(claims(SUMS), named("NAU-NMU", LONG_NMU) | named(NOISY, SHORT_SNMU))),
    ),
    Experiment(
        "thesis/ch4/noise-ranges",
        "Which noise range does the stochastic NMU need? (thesis 4.5, Fig. 4.8)",
        NOISES,
        tuple(range(20)),
        once(tied(claims(SUMS, units=(NOISY,)), named(NOISY, SHORT_SNMU))),
    ),
)
