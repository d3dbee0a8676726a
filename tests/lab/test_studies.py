"""Experiments of the user: by nalm.study, and in files."""

import pytest

from nalm import NMU, study
from nalm.config import Ramp, Recipe
from nalm.config.labels import unit_of, without_hash
from nalm.engine import check
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.lab.request import experiments
from nalm.lab.studies import LOADED

MINE = "import nalm\n\n\nclass Mine(nalm.NMU):\n    pass\n\n\n"


@pytest.fixture(autouse=True)
def forget():
    yield
    for name in LOADED:
        del EXPERIMENTS[name]
    LOADED.clear()


def test_a_study_is_every_unit_on_every_task_with_every_recipe():
    fast, slow = Recipe(lr=1e-2, steps=10), Recipe(steps=10)
    ranges = [((1, 2), (2, 6)), ((-2, 2), (2, 6))]
    found = study(
        "mine/a",
        "Why?",
        units=["NMU", NMU, ("NAU", "NMU")],
        inputs=(2, 4),
        ranges=ranges,
        recipes=[fast, slow],
    )
    assert len(found.cases) == 2 * 2 * 2 * 2 and found.seeds == tuple(range(10))
    assert {unit_of(c) for c in found.cases} == {"NMU", "NAU-NMU"}
    check(found.cases)


def test_without_recipes_units_are_trained_as_published():
    found = study("mine/b", "Why?", units=["NMU", "NMRU", ("NAC", "NMU")])
    recipes = {unit_of(c): c.recipe for c in found.cases}
    assert recipes["NMU"].penalties == recipes["NAC-NMU"].penalties == (("weight", Ramp(10, 20_000, 35_000)),)
    assert recipes["NMRU"].clip_norm == 1
    named = study("mine/c", "Why?", units=["NMU", "NAU"], recipes={"NMU": Recipe(lr=0.5)}, operations=["add"])
    assert [c.recipe.lr for c in named.cases] == [0.5, 1e-3]


def test_a_file_is_an_experiment_with_its_own_units(tmp_path):
    path = tmp_path / "my_study.py"
    path.write_text(MINE + 'STUDY = nalm.study("mine/file", "Why?", units=[Mine, "NMU"], seeds=3)\n')
    (found,), _ = experiments([str(path)])
    assert [without_hash(unit_of(c)) for c in found.cases] == ["Mine", "NMU"]
    assert found.seeds == (0, 1, 2) and EXPERIMENTS["mine/file"] == found
    assert experiments([str(path)])[0] == [found]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "defines no experiment: write STUDY = nalm.study"),
        (
            'import nalm\nS = nalm.study("quick", "?", units=["NMU"])',
            "calls its experiment 'quick', which is a published",
        ),
        ('import nalm\nS = nalm.study("mine/x", "?", units=["NMUU"])', "Did you mean 'NMU'"),
        ("1 / 0", "could not be imported: ZeroDivisionError"),
    ],
)
def test_files_without_a_proper_experiment_are_sentences(tmp_path, text, words):
    path = tmp_path / "study.py"
    path.write_text(text)
    with pytest.raises(NALMError, match=words):
        experiments([str(path)])


def test_a_file_that_is_not_there_is_a_sentence():
    with pytest.raises(
        NALMError, match=r"There is no file nowhere\.py: `nalm new experiment NAME` writes one"
    ):
        experiments(["nowhere.py"])
