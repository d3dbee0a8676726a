"""Training: ``train(cases, seeds)`` trains populations of runs and returns their results.

``trainer.py`` chooses the trainer by the kind of task: numbers/, systems/ or images/. This room may import units,
networks, formulas, config, tasks and results.
"""

from collections.abc import Callable, Sequence

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
    seeds: Sequence[int],
    device: str = "auto",
    *,
    compiled: bool = True,
    progress: Callable[[Trainer], None] | None = None,
) -> Runs:
    """Train every case with every seed; the result's rows are cases in order, seeds within.

    Runs that differ in numbers only share one compiled program, and no run depends on its neighbours.
    ``progress`` is called after every block of steps with the population in training.
    """
    cases = [cases] if isinstance(cases, Case) else list(cases)
    if not cases or not len(seeds):
        raise NALMError(f"Training needs at least one case and one seed, got {len(cases)} and {len(seeds)}.")
    check(cases)
    where = device_for(device)
    parts = []
    for runs in populations(product(cases, list(seeds)), NUMBERS[where.type == "cuda"]):
        training = trainer(runs, where, compiled=compiled)
        while not training.finished:
            training.advance()
            if progress is not None:
                progress(training)
        parts.append(([run.index for run in runs], training.results()))
    return joined(parts)
