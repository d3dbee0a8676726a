"""A unit of our own in every cell of Mistry 2023, chapters 3 to 5: the NSPU with one recipe for all of them.

The tasks are those of the chapters, taken from their experiments, so that the shipped runs of the published units are
the runs to compare with. Products of 10 and 100 inputs, quotients of 100 and small magnitudes are added.

Products of two sums need two layers: there the NSPU stands behind a NAU, and the published NAU and NMU are trained with
a loss that leaves a linear trend free, and late a penalty.
"""

from collections.abc import Iterable

from nalm.config import Arithmetic, Case, Experiment, Layer, Ramp, Recipe, Threshold
from nalm.experiments import madsen2020
from nalm.experiments.thesis import ch3, ch4, ch5, ch5_ablations

RECIPE = Recipe(steps=5_000, lr=1e-2, schedule="cosine", loss="paths", clip_value=1)
STEPS = 3_000
LATE = Ramp(1, 0.75 * STEPS, 0.9 * STEPS)
TREND_FREE = RECIPE.replace(steps=STEPS, loss="projected", penalties=(("weight", LATE),))
CHAPTERS = (
    *ch3.EXPERIMENTS,
    *(e for e in ch4.EXPERIMENTS if e.name == "thesis/ch4/single"),
    *(e for e in ch5.EXPERIMENTS if e.name == "thesis/ch5/main"),
    *(
        e
        for e in ch5_ablations.EXPERIMENTS
        if e.name.removeprefix("thesis/ch5/") in ("mixed", "mixed-corrected", "distributions", "small")
    ),
)
SMALL = tuple((inside, inside) for inside in ch5_ablations.SMALL)


def ours(tasks: Iterable[Arithmetic]) -> tuple[Case, ...]:
    """Make the cases of the unit on some tasks, each once."""
    return tuple(dict.fromkeys(Case((Layer("NSPU"),), task, RECIPE) for task in tasks))


def sums(unit: str, recipe: Recipe) -> tuple[Case, ...]:
    """Make the cases of a unit behind a NAU that finds two sums among 100 inputs, over the nine ranges."""
    model = (Layer("NAU", 2), Layer(unit))
    return tuple(madsen2020.task(model, recipe, "multiply", train, test) for train, test in ch3.RANGES)


def everywhere() -> list[Arithmetic]:
    """Return the tasks of all four operations with 2, 10 and 100 inputs, on the nine ranges and on small magnitudes."""
    return [
        Arithmetic(
            operation,
            train,
            test,
            inputs=inputs,
            threshold=ch5.FIXED if operation == "divide" else Threshold(),
        )
        for inputs in (2, 10, 100)
        for operation in ("add", "subtract", "multiply", "divide")
        for train, test in (*ch3.RANGES, SMALL[0], SMALL[-1])
    ]


TASKS = [case.task for e in CHAPTERS for case in e.cases if isinstance(case.task, Arithmetic)]
UNIFORM = ours([*(t for t in TASKS if t.train.family == "box" and t.data == "draws"), *everywhere()])
EXPERIMENTS = (
    Experiment(
        "beyond/own-unit",
        "Does one unit with one recipe learn all four operations, from 2 to 100 inputs, on every range?",
        UNIFORM,
        ch3.SEEDS,
    ),
    Experiment(
        "beyond/own-unit-divisions",
        "Does the NSPU divide numbers of mixed signs, other distributions and close to 0? (cells of thesis 5.6 to 5.8)",
        tuple(case for case in ours(TASKS) if case not in UNIFORM),
        ch3.SEEDS,
    ),
    Experiment(
        "beyond/own-unit-sums",
        "Does the NSPU multiply two sums behind a NAU, or do published units with another loss? (cells of thesis 4.5)",
        (*sums("NSPU", RECIPE), *sums("NMU", TREND_FREE)),
        ch3.SEEDS,
    ),
)
