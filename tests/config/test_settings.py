"""Fields of recipes and tasks: what each means for the program and the name of a case stands beside it."""

import dataclasses

import pytest
from other_values import OTHER, TASKS

from nalm.config import Arithmetic, Case, Layer, Ramp, Range, Recipe, TwoDigits
from nalm.config.grouping import signature
from nalm.config.labels import COMBINED, aspects
from nalm.config.settings import equal, per_run, present

MODEL, TASK = (Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6))
FIELDS = dataclasses.fields(Recipe)


def case(**changes) -> Case:
    return Case(MODEL, TASK, Recipe(**changes))


def both(field: dataclasses.Field) -> list[Case]:
    """Two cases that differ in one field of their recipe."""
    task = TwoDigits("multiply") if field.name == "weight_decay" else TASK  # no other trainer knows it
    first = Recipe(then="pcc", switch=1)
    return [Case(MODEL, task, r) for r in (first, first.replace(**{field.name: OTHER[Recipe][field.name]}))]


def undeclared(kind) -> list[str]:
    """The fields of a recipe without a declaration."""
    return [f.name for f in dataclasses.fields(kind) if not {"groups", "label"} <= f.metadata.keys()]


def test_every_field_of_a_recipe_declares_what_it_means():
    assert undeclared(Recipe) == []

    @dataclasses.dataclass(frozen=True)
    class Longer(Recipe):
        forgotten: int = 0

    assert undeclared(Longer) == ["forgotten"]
    for f in FIELDS:
        label = f.metadata["label"]
        assert callable(label) or label == "" or label in COMBINED, f.name


@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f.name)
def test_cases_share_a_program_as_the_field_declares(field):
    one, other = both(field)
    groups = field.metadata["groups"]
    assert (signature(one) == signature(other)) == (groups is per_run)
    assert groups in (equal, present, per_run) or field.name in ("penalties", "normal_starts")


def test_numbers_of_a_penalty_are_of_each_run_and_its_presence_is_not():
    penalties = [(), (("a", Ramp(1)),), (("a", Ramp(2, 3, 4)),), (("b", Ramp(1)),)]
    first, one, other, third = (signature(case(penalties=p)) for p in penalties)
    assert one == other and len({first, one, third}) == 3
    assert signature(case(clip_norm=1.0)) == signature(case(clip_norm=2.0)) != signature(case())


@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f.name)
def test_a_field_with_a_label_is_named_and_others_are_not(field):
    one, other = map(aspects, both(field))
    changed = {name for name, text in other.items() if text != one[name]}
    label = field.metadata["label"]
    if callable(label):
        assert changed == {field.name}
    elif label:
        assert label in changed
    else:
        assert changed == set()


@pytest.mark.parametrize("task", TASKS, ids=lambda t: type(t).__name__)
def test_a_field_of_a_task_shapes_the_program_unless_it_is_of_each_run(task):
    for name, value in TASKS[task].items():
        changes = {name: value} | ({"lengths": (1, 2)} if name == "length" else {})
        other = task.replace(**changes)
        shared = signature(Case(MODEL, task)) == signature(Case(MODEL, other))
        assert not shared or name in task.per_run, name
