"""Training: ``train(cases, seeds)`` trains populations of runs and returns their results.

``trainer.py`` chooses the trainer by the kind of task: numbers/, systems/ or images/. This room may import units,
networks, formulas, config, tasks and results.
"""

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nalm.config import Case
from nalm.engine.check import check as check
from nalm.engine.compiler import NotCompiled as NotCompiled
from nalm.engine.device import device_for as device_for
from nalm.engine.plan import Run as Run
from nalm.engine.plan import populations as populations
from nalm.engine.plan import product as product
from nalm.engine.trainer import Trainer as Trainer
from nalm.engine.trainer import trainer as trainer
from nalm.errors import NALMError
from nalm.results.runs import Runs as Runs
from nalm.results.runs import joined

NUMBERS = (2**24, 2**27)  # of a population's batches that fit in memory: on a CPU, on a GPU


def train(
    cases: Sequence[Case] | Case,
    seeds: Sequence[int] | int,
    device: str = "auto",
    *,
    compiled: bool = True,
    progress: Callable[[Trainer], None] | None = None,
) -> Runs:
    """Train every case with every seed; the result's rows are cases in order, seeds within. 3 means the seeds 0, 1, 2.

    Runs that differ in numbers only share one compiled program, and no run depends on its neighbours.
    ``progress`` is called after every block of steps with the population in training.
    """
    cases, seeds = _cases(cases), as_seeds(seeds)
    if not cases or not len(seeds):
        raise NALMError(f"Training needs at least one case and one seed, got {len(cases)} and {len(seeds)}.")
    check(cases)
    where = device_for(device)
    parts = []
    for runs in populations(product(cases, seeds), NUMBERS[where.type == "cuda"]):
        training = trainer(runs, where, compiled=compiled)
        while not training.finished:
            training.advance()
            if progress is not None:
                progress(training)
        parts.append(([run.index for run in runs], training.results()))
    return joined(parts)


def as_seeds(seeds: object) -> list[int]:
    """Return the seeds; a number n means 0 to n-1.

    >>> as_seeds(3)
    [0, 1, 2]
    """
    each: Iterable[Any] = (
        seeds if isinstance(seeds, Iterable) else range(seeds) if isinstance(seeds, int) else (None,)
    )
    try:
        return [operator.index(seed) for seed in each]
    except TypeError:
        raise NALMError(f"Seeds are a number of seeds, or whole numbers, got {_kind(seeds)}.") from None


def _cases(cases: object) -> list[Case]:
    """Return the cases; refuse rows and modules with a sentence that names the function for them."""
    found: list[Any] = list(cases) if isinstance(cases, Iterable) else [cases]
    for case in found:
        if not isinstance(case, Case):
            raise NALMError(
                f"nalm.train trains cases of drawn numbers, got {_kind(case)}: "
                "for rows of your own call nalm.fit_units(X, y, model)."
            )
    return found


def _kind(value: object) -> str:
    """Return the name of a value's type, with its article."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
