"""Cases of images that cannot be trained as they are asked for: each is a sentence, before anything is trained."""

import pytest
import torch
from layouts import CASES

from nalm.config import Growth, Layer, Threshold, grid
from nalm.engine import check
from nalm.engine.images.program import ImageProgram, Member
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.lab.run import run

WRONG = {
    "l1 or schedule": ("pair", {"recipe": {"l1": Growth(1e-9, 1e-7), "schedule": "cosine"}}),
    "no field of Case called 'scaling'": ("pair", {"scaling": "minmax"}),
    r"grid\(FIRST, 10\); got \[0,5\)": ("pair", {"train": grid(0, 5)}),
    r"two of them at least.*got \[9,10\)": ("pair", {"train": grid(9, 10)}),
    "fixed threshold, got one of kind 'single'": ("pair", {"threshold": Threshold()}),
    "no field of Case called 'inputs'": ("pair", {"inputs": 3}),
    "chosen='last' or 'train'": ("pair", {"chosen": "validation"}),
    "held out for validation, got 0": ("colour", {"validation": 0.0}),
    "not to 'divide'": ("sum", {"operation": "divide"}),
    r"all but zero.*got \[5,10\)": ("sum", {"train": grid(5, 10)}),
    "one layer as its cell, got 2": ("sum", {"model": (Layer("NAU"), Layer("NAU"))}),
    "1 of an image and its own 2: 3 inputs; got 2": ("sum", {"model": (Layer("NAU", 2),)}),
    "'add' has 1 results, the cell NAU gives 2": ("sum", {"model": (Layer("NAU", 2),), "inputs": 3}),
    "'count' has 10 results, the cell NAU gives 1": ("count", {"model": (Layer("NAU"),), "inputs": 11}),
}


def changed(case, changes):
    for name, value in changes.items():
        new = getattr(case, name).replace(**value) if isinstance(value, dict) else value
        case = case.replace(**{name: new})
    return case


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_trained_is_a_sentence(words):
    name, changes = WRONG[words]
    check([CASES[name]])
    with pytest.raises(NALMError, match=words):
        check([changed(CASES[name], changes)])


@pytest.mark.system
def test_all_experiments_pass():
    for experiment in EXPERIMENTS.values():
        check(experiment.cases)


def test_a_run_is_refused_before_it_makes_a_folder(tmp_path):
    odd = EXPERIMENTS["mnist/smoke"].replace(cases=(changed(CASES["sum"], {"inputs": 3}),))
    with pytest.raises(NALMError, match="2 inputs; got 3"):
        run([odd], tmp_path / "out", device="cpu")
    assert not (tmp_path / "out").exists()


def test_starts_and_rmsprops_decay_are_as_asked_for():
    recipe = CASES["pair"].recipe.replace(starts=(("0.weight", 0.25, 0.25),), optimiser="rmsprop", decay=0.5)
    program = ImageProgram(CASES["pair"].replace(recipe=recipe), "", torch.device("cpu"), False)
    member = Member(program, 0)
    assert member.params["arithmetic.layers.0.weight"].tolist() == [[0.25, 0.25]]
    assert program.optimiser.decay == 0.5
