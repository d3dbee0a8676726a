"""Each part of a recipe does something, at its time."""

import pytest
import torch

from nalm.config import Arithmetic, Case, Growth, Layer, Ramp, Range, Recipe
from nalm.engine import Run, train
from nalm.engine.numbers import NumberTrainer

CPU = torch.device("cpu")
ONE = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=20, batch=16))


def eager(case, seeds=(0,)):
    return train(case, seeds, "cpu", compiled=False)


SHORT = Recipe(steps=300, batch=32, lr=1e-3)


@pytest.fixture(scope="module")
def plain():
    return eager(ONE.replace(recipe=SHORT), range(2))


@pytest.mark.parametrize(
    "change",
    [
        {"l1": Growth(1e-7, 1e-5)},
        {"l2": Growth(1e-3, 1e-1)},
        {"clip_norm": 1.0},
        {"clip_value": 0.1},
        {"gradient_noise": 0.01},
        {"schedule": "cosine"},
        {"optimiser": "sgd", "momentum": 0.9, "lr": 1e-3},
        {"optimiser": "rmsprop"},
        {"loss": "pcc", "then": "mse", "switch": 150},
        {"penalties": (("weight", Ramp(1, 0, 10)), ("inputs", Ramp(0.01)))},
    ],
    ids=lambda c: next(iter(c)),
)
def test_every_part_of_a_recipe_trains(change, plain):
    runs = eager(ONE.replace(recipe=SHORT.replace(**change)), range(2))
    assert all(v[-1] < v[0] for v in runs.validation)
    assert any(a[-1] != b[-1] for a, b in zip(runs.validation, plain.validation, strict=True))


def test_the_loss_switches_at_its_step():
    case = ONE.replace(recipe=Recipe(steps=1_200, loss="pcc", then="mse", switch=700))
    training, used = NumberTrainer([Run(case, 0, 0)], CPU, compiled=False), []
    original = training.program.advance
    training.program.advance = lambda steps, name: (used.append((steps, name)), original(steps, name))[1]
    while not training.finished:
        training.advance()
    assert used == [(700, "pcc"), (500, "mse")]


@pytest.mark.system
def test_growing_weights_change_on_the_host_at_evaluations():
    case = ONE.replace(recipe=Recipe(steps=3_000, batch=8, l1=Growth(1e-3, 1e-1, every=1_000)))
    training, seen = NumberTrainer([Run(case, 0, 0)], CPU, compiled=False), []
    while not training.finished:
        training.advance()
        seen.append(round(float(training.program.settings["l1"][0]), 6))
    assert seen == [1e-3, 1e-2, 1e-1]
