"""The one loop: cases and seeds in, runs out, a thousand at a time."""

from collections.abc import Callable, Sequence

import torch

from nalm.config import Case
from nalm.engine.compiler import NotCompiled as NotCompiled
from nalm.engine.numbers.training import Training as Training
from nalm.engine.plan import Run as Run
from nalm.engine.plan import populations as populations
from nalm.engine.plan import product as product
from nalm.engine.systems.training import Fitting as Fitting
from nalm.errors import NALMError
from nalm.losses import loss as find_loss
from nalm.operations import SYSTEMS, outputs
from nalm.operations import operation as find_operation
from nalm.results.runs import Runs as Runs
from nalm.results.runs import joined

NUMBERS = (2**24, 2**27)  # of a population's batches that fit in memory: on a CPU, on a GPU


def device_for(name: str) -> torch.device:
    """auto, cpu or cuda as a device; an error that says so if there is no GPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = torch.device("meta")
    if device.type not in ("cpu", "cuda"):
        raise NALMError(f"There is no device called {name!r}: use 'auto', 'cpu' or 'cuda'.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise NALMError(f"There is no CUDA device {device} on this machine: use device='cpu' or 'auto'.")
    return device


def training_of(runs: Sequence[Run], device: torch.device, *, compiled: bool = True) -> Training | Fitting:
    """The training of a population: on batches of examples, or of systems on a trajectory."""
    kind = Fitting if runs[0].case.operation in SYSTEMS else Training
    return kind(runs, device, compiled=compiled)


def check(cases: Sequence[Case]) -> None:
    """Resolve every name of the cases, so that a mistake is found before anything is trained."""
    from nalm.engine.model import Network

    for case in dict.fromkeys(cases):
        for name in () if case.operation in SYSTEMS else outputs(case.operation):
            find_operation(name)
        for name in (case.recipe.loss, case.recipe.then):
            if name:
                find_loss(name)
        network = Network(case.model, case.inputs, bool(case.times))
        count = case.inputs if case.operation in SYSTEMS else len(outputs(case.operation))
        if case.model[-1].out != count and not (case.digits and case.digits.length):
            wanted = "one target" if count == 1 else f"{count} targets"
            raise NALMError(
                f"A task has {wanted}, the model of {case.name!r} ends in {case.model[-1].out} outputs."
            )
        if case.recipe.starts:
            network.starts([0], torch.zeros(1), between=case.recipe.starts)
        x = torch.ones(2, network.parts()[0].in_features)
        have = {
            n for part in network.parts() for n in part.penalties(x if part is network.parts()[0] else None)
        }
        have |= (
            {"inputs"}
            if any("inputs" in p.penalties(torch.ones(2, p.in_features)) for p in network.parts())
            else set()
        )
        for name, _ in case.recipe.penalties:
            if name not in have:
                known = ", ".join(sorted(have)) or "none"
                raise NALMError(
                    f"The model of {case.name!r} has no penalty called {name!r}. It has: {known}."
                )
        if case.recipe.inalu and "weight" not in have:
            raise NALMError(f"The iNALU's rule needs a penalty called 'weight', which {case.name!r} has not.")


def train(
    cases: Sequence[Case] | Case,
    seeds: Sequence[int],
    device: str = "auto",
    *,
    compiled: bool = True,
    progress: Callable[[Training | Fitting], None] | None = None,
) -> Runs:
    """Train every case with every seed; the result's rows are cases in order, seeds within.

    Runs that differ in numbers only share one compiled program, and no run depends on its neighbours.
    ``progress`` is called after every block of steps with the population in training.
    """
    cases = [cases] if isinstance(cases, Case) else list(cases)
    if not cases or not len(seeds):
        raise NALMError(f"Training needs at least one case and one seed, got {len(cases)} and {len(seeds)}.")
    check(cases)
    place = device_for(device)
    parts = []
    for runs in populations(product(cases, list(seeds)), NUMBERS[place.type == "cuda"]):
        training = training_of(runs, place, compiled=compiled)
        while not training.finished:
            training.advance()
            if progress is not None:
                progress(training)
        parts.append(([run.place for run in runs], training.results()))
    return joined(parts)
