"""A unit of our own in every cell of Mistry 2023, chapters 3 to 5: the NSPU with one recipe for all of them.

The tasks are those of the chapters, taken from their experiments, so that the shipped runs of the published units are
the runs to compare with. Products of 10 and 100 inputs, quotients of 100 and small magnitudes are added.
"""

from collections.abc import Iterable

from nalm.config import Arithmetic, Case, Experiment, Layer, Recipe, Threshold
from nalm.experiments.thesis import ch3, ch4, ch5, ch5_ablations

RECIPE = Recipe(steps=5_000, lr=1e-2, schedule="cosine", loss="paths", clip_value=1)
CHAPTERS = (
    *(e for e in ch3.EXPERIMENTS),
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
        for train, test in (*ch3.RANGES, *SMALL[:: len(SMALL) - 1])
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
        "Does it divide numbers of mixed signs, of other distributions and close to 0? (cells of thesis 5.6 to 5.8)",
        tuple(case for case in ours(TASKS) if case not in UNIFORM),
        ch3.SEEDS,
    ),
)
