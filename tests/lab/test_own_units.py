"""The place and the recipe of a user's unit in a published experiment."""

import numpy as np
import pytest

from nalm.config.labels import unit_of, without_hash
from nalm.engine import check, train
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.names import names
from nalm.lab.request import Changes, experiments

MINE = """
import nalm
from nalm.config import Recipe

class Mine(nalm.NMU):
    '''Somebody's unit.'''

class Summing(nalm.NAU):
    '''Another one.'''

class Bringing(nalm.NMU):
    recipe = Recipe(lr=0.02, steps=100, penalties=(("weight", nalm.config.Ramp(3, 50, 60)),))
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "my_unit.py"
    path.write_text(MINE)
    return path


def own(name, **changes):
    (found,), notes = experiments([name], "", Changes(**changes))
    return [case for case in found.cases if "@" in unit_of(case)], notes


def test_in_a_model_of_two_layers_it_takes_the_place_of_the_layer_it_is_like(mine):
    (case,), notes = own("madsen/simple", units=[f"{mine}:Mine"])
    assert without_hash(unit_of(case)) == "NAU-Mine" and case.model[0].out == 2
    theirs = next(c for c in EXPERIMENTS["madsen/simple"].cases if unit_of(c) == "NAU-NMU")
    assert case.recipe == theirs.recipe and case.task == theirs.task
    assert notes[0].startswith("Mine stands for NMU and has the recipe of NAU-NMU: ")
    (case,), _ = own("madsen/simple", units=[f"{mine}:Summing"])
    assert without_hash(unit_of(case)) == "Summing-NMU"
    check([case])


def test_a_model_is_named_layer_by_layer(mine):
    (case,), _ = own("madsen/simple", models=[f"NAU,{mine}:Mine"])
    assert without_hash(unit_of(case)) == "NAU-Mine" and [layer.out for layer in case.model] == [2, 1]
    (case,), _ = own("madsen/simple", models=[f"NAC:3,{mine}:Mine"])
    assert [layer.out for layer in case.model] == [3, 1]
    with pytest.raises(NALMError, match="No published model of this task has 3 layers, so say how wide"):
        own("madsen/simple", models=[f"NAU,NAU,{mine}:Mine"])
    with pytest.raises(NALMError, match="Did you mean 'NAU'"):
        own("madsen/simple", models=[f"NAUU,{mine}:Mine"])


def test_it_is_not_put_where_it_can_only_fail(mine):
    name = next(name for name in EXPERIMENTS if name.startswith("thesis/ch7"))
    with pytest.raises(NALMError, match=r"Mine has no clear place in the models of thesis/ch7.*--model NAU,"):
        own(name, units=[f"{mine}:Mine"])


def test_a_unit_that_brings_its_recipe_is_trained_by_it(mine):
    cases, notes = own("thesis/ch3/mul", units=[f"{mine}:Bringing"], only=["range=1:2"])
    (recipe,) = {case.recipe for case in cases}
    assert recipe.lr == 0.02 and recipe.steps == 50_000
    assert dict(recipe.penalties)["weight"].start == 25_000  # in proportion
    assert "has its own recipe: adam, lr 0.02" in notes[0]


@pytest.mark.slow
def test_every_experiment_on_numbers_has_a_place_for_a_unit_or_says_so(mine):
    for name, experiment in EXPERIMENTS.items():
        try:
            cases, _ = own(name, units=[f"{mine}:Mine"])
        except NALMError as error:
            assert "has no clear place" in str(error), name
            continue
        assert cases, name
        check(cases[:1])
        assert {c.task.operation for c in cases} <= {c.task.operation for c in experiment.cases}


def test_names_leave_out_the_hash_unless_two_versions_are_compared(mine, tmp_path):
    first, _ = own("quick", units=[f"{mine}:Mine"], only=["range=1:2"])
    assert list(names("quick", first).labels.values()) == ["Mine"]
    changed = tmp_path / "my_unit.py"
    changed.write_text(MINE + "\n# changed\n")
    second, _ = own("quick", units=[f"{changed}:Mine"], only=["range=1:2"])
    both = list(names("quick", [*first, *second]).labels.values())
    assert len(set(both)) == 2 and all(name.startswith("Mine@") for name in both)


def test_a_model_with_a_users_unit_is_selected_by_its_name_without_hash(mine):
    (case,), _ = own("madsen/simple", units=[f"{mine}:Mine"], only=["unit=NAU-Mine"])
    assert without_hash(unit_of(case)) == "NAU-Mine"


def test_shorter_training_scales_its_schedule_and_says_so():
    (found,), notes = experiments(["quick"], "", Changes(only=["unit=NMU"], steps=5_000))
    ramp = dict(found.cases[0].recipe.penalties)["weight"]
    assert (ramp.start, ramp.end) == (2_000, 3_500)
    assert notes == ["Schedules are scaled from 50,000 to 5,000 steps; --keep-schedule keeps their steps."]
    assert set(names("quick", found.cases).labels.values()) == {"NMU"}
    (kept,), notes = experiments(["quick"], "", Changes(only=["unit=NMU"], steps=5_000, keep_schedule=True))
    assert dict(kept.cases[0].recipe.penalties)["weight"].start == 20_000
    assert notes == [
        "The penalty 'weight' starts at step 20,000 and never acts in a training of 5,000 steps."
    ]
    (_,), notes = experiments(["quick"], "", Changes(only=["unit=NACMul"], steps=5_000))
    assert notes == []
    _, notes = experiments(["madsen/simple"], "", Changes(steps=20_000))
    assert notes and not any("never acts" in note for note in notes)  # nor does it as published


def both(mine, compiled):
    """The NMU and a copy of it, trained side by side."""
    (found,), _ = experiments(
        ["quick"], "", Changes(units=[f"{mine}:Mine"], only=["unit=NMU", "unit=Mine", "range=1:2"], steps=20)
    )
    runs = train(found.cases, range(3), "cpu", compiled=compiled)
    return [runs.of(case) for case in found.cases]


def test_a_copy_of_a_published_unit_has_the_same_runs(mine):
    nmu, copy = both(mine, compiled=False)
    for name in ("validation", "test", "sparsity"):
        for a, b in zip(getattr(nmu, name), getattr(copy, name), strict=True):
            assert np.array_equal(a, b)
    assert nmu.formulas == copy.formulas


@pytest.mark.slow
def test_a_users_unit_is_compiled(mine):
    """Its module was not registered before it was executed, so that torch.compile could not import it."""
    nmu, copy = both(mine, compiled=True)
    assert nmu.modes == copy.modes == ["compiled"] * 3
    assert all(np.array_equal(a, b) for a, b in zip(nmu.test, copy.test, strict=True))
