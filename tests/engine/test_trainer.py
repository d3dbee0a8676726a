"""Every kind of task has a trainer, and every trainer what others ask of it."""

import inspect

import pytest
import torch
from layouts import CASES

from nalm.config import KINDS, Arithmetic, Case, Layer, Range, Recipe
from nalm.engine import Run, trainer
from nalm.engine.trainer import TRAINERS, Trainer
from nalm.experiments.heim2020 import SYSTEMS

CPU = torch.device("cpu")
SYSTEM = SYSTEMS["RealNPU", 6, 0.0]
SMALL = {
    "numbers": Case(
        (Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=3, batch=4)
    ),
    "systems": SYSTEM.replace(recipe=SYSTEM.recipe.replace(steps=2, polish=0)),
    "images": CASES["pair"].replace(recipe=CASES["pair"].recipe.replace(steps=2)),
}
ASKED = [name for name in vars(Trainer) if not name.startswith("_") or name == "__init__"]


def test_every_kind_of_task_has_a_trainer():
    assert TRAINERS.keys() == set(KINDS)


@pytest.mark.parametrize("kind", dict.fromkeys(TRAINERS.values()), ids=lambda k: k.__module__)
@pytest.mark.parametrize("name", ASKED)
def test_a_trainer_has_every_method_with_the_same_parameters(kind, name):
    asked = inspect.getattr_static(Trainer, name)
    if not inspect.isfunction(asked) and not isinstance(asked, staticmethod):
        return  # a property may be an attribute: the next test reads it
    own = list(inspect.signature(getattr(kind, name)).parameters)
    assert own == list(inspect.signature(getattr(Trainer, name)).parameters)


@pytest.mark.parametrize("name", SMALL)
def test_a_population_is_trained_saved_and_put_back_through_the_protocol(name):
    case = SMALL[name]
    runs = [Run(case, 0, 0), Run(case, 1, 1)]
    training, again = (trainer(runs, CPU, compiled=False) for _ in range(2))
    assert training.at == 0 and not training.finished
    while not training.finished:
        training.advance()
    assert training.at == case.recipe.steps and len(training.solved_now()) == 2
    assert (training.final_state() is None) == (not case.task.extends)
    again.restore(training.state())
    assert again.finished and again.at == training.at
    assert again.results().lines()[0].test == training.results().lines()[0].test
    assert not type(training).was_compiled(training.results().modes[0])
