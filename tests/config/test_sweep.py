"""Sweeps over fields of recipes and tasks, as a person writes them."""

import pytest

from nalm.config import Range
from nalm.config.sweep import swept
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS

CASES = [c for c in EXPERIMENTS["quick"].cases if c.model[0].unit == "NMU"][:2]


def test_every_combination_is_made_once():
    found = swept(CASES, ["recipe.lr=1e-4,1e-3", "task.inputs=2,4"])
    assert len(found) == 8 and {(c.recipe.lr, c.inputs) for c in found} == {
        (1e-4, 2),
        (1e-3, 2),
        (1e-4, 4),
        (1e-3, 4),
    }
    assert swept(CASES, ["recipe.lr=1e-3,0.001"]) == tuple(CASES)


def test_ranges_words_penalties_and_lengths():
    (first, *_) = swept(CASES[:1], ["task.train=-3:3"])
    assert first.train == Range(-3, 3)
    assert [c.recipe.loss for c in swept(CASES[:1], ["recipe.loss=mse,pcc"])] == ["mse", "pcc"]
    weights = [
        dict(c.recipe.penalties)["weight"].weight for c in swept(CASES[:1], ["recipe.penalties.weight=1,100"])
    ]
    assert weights == [1, 100]
    (short,) = swept(CASES[:1], ["recipe.steps=5000"])
    assert dict(short.recipe.penalties)["weight"].start == 2_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recipe.lr", "takes FIELD=VALUE,VALUE"),
        ("lr=1", "takes FIELD=VALUE,VALUE"),
        ("recipe.lr=", "takes FIELD=VALUE,VALUE"),
        ("recipe.ler=1", "Did you mean 'lr'"),
        ("model.out=1", "There is no part of a case to sweep"),
        ("recipe.lr=fast", "takes numbers, got 'fast'"),
        ("recipe.lr=-1", "A learning rate is positive"),
        ("recipe.batch=1.5", "is a whole number"),
        ("recipe.momentum=0.5,0.9", "momentum acts only with optimiser sgd, and a case has adam"),
        ("recipe.optimiser=adm", "Did you mean 'adam'"),
        ("recipe.penalties.gate=1", "has no penalty 'gate' to sweep; it has: recipe.penalties.weight"),
        ("recipe.starts=1", "cannot be swept on the command line"),
        ("task.inputs=1", "The operands take 2 inputs, there are 1"),
        ("task.train=1", "is written as A:B"),
        ("task.times=1:2", "There is no field of Arithmetic"),
        ("recipe.then=pcc", "needs a step to switch at"),
        ("recipe.lr=" + ",".join(map(str, range(1, 6_000))), "at most 10,000 are made"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(text, words):
    with pytest.raises(NALMError, match=words):
        swept(CASES, [text])
