"""Configurations: JSON there and back, hashes, changes and schedules; what is refused: test_config_errors."""

import dataclasses
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from other_values import CASE, FIRST, OTHER, TASKS

from nalm.config import (
    KINDS,
    Arithmetic,
    Case,
    Claim,
    Experiment,
    Growth,
    Layer,
    Ramp,
    Range,
    Recipe,
    SystemTask,
    Task,
    Threshold,
)

GOLDEN = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "golden_units.json").read_text("utf-8"))
}
quick = settings(deadline=None, database=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])

# -- any value ---------------------------------------------------------------------------------

number = st.floats(-1e9, 1e9)
positive = st.floats(1e-12, 1e9)
count = st.integers(1, 10**7)
pair = st.tuples(number, number).filter(lambda p: p[0] < p[1])
kinds = st.sampled_from(["uniform", "truncated", "normal", "exponential", "sobol", "mirrored", "split"])
ranges = st.builds(
    lambda kind, one, two, mean, sd: Range(*one, kind, *two, one[0] if kind == "truncated" else mean, sd),
    kinds,
    pair,
    pair,
    number,
    positive,
) | st.builds(
    lambda low, more: Range(10**low, 10 ** (low + more), "benford"), st.integers(1, 3), st.integers(1, 3)
)
plain = st.none() | st.booleans() | st.integers() | number | st.text(max_size=5)
options = st.lists(
    st.tuples(st.text(max_size=5), st.recursive(plain, lambda v: st.lists(v, max_size=3), max_leaves=5)),
    max_size=3,
).map(tuple)
layers = st.builds(Layer, st.text(max_size=5), count, options)
ramps = st.builds(lambda w, ends: Ramp(w, *ends), number, pair)
growths = st.builds(Growth, positive, positive, count)
penalties = st.dictionaries(st.text(max_size=4), ramps, max_size=3).map(lambda d: tuple(d.items()))
switches = st.just(("", 0)) | st.tuples(st.text(min_size=1, max_size=4), count)
recipes = st.builds(
    lambda switch, **fields: Recipe(then=switch[0], switch=switch[1], **fields),
    switches,
    steps=count,
    batch=count,
    lr=positive,
    optimiser=st.sampled_from(["adam", "sgd", "rmsprop"]),
    momentum=st.floats(0, 1),
    schedule=st.sampled_from(["constant", "cosine"]),
    penalties=penalties,
    l1=st.none() | growths,
    l2=st.none() | growths,
    clip_norm=st.floats(0, 1e3),
    gradient_noise=st.floats(0, 10),
    inalu=st.booleans(),
)
thresholds = st.builds(
    Threshold,
    st.sampled_from(["single", "sums", "fixed"]),
    st.floats(1e-9, 0.5),
    positive,
    widened=st.booleans(),
)


@st.composite
def any_case(draw) -> Case:
    subset, operands = draw(st.integers(1, 30)), draw(st.integers(1, 4))
    overlap, more = draw(st.integers(0, subset)), draw(st.integers(0, 50))
    return Case(
        model=tuple(draw(st.lists(layers, min_size=1, max_size=3))),
        task=Arithmetic(
            operation=draw(st.text(max_size=8)),
            train=draw(ranges),
            test=draw(ranges),
            inputs=subset + (operands - 1) * (subset - overlap) + more,
            subset=subset,
            overlap=overlap,
            subsets=operands,
            sample=draw(st.integers(0, 100)),
            threshold=draw(thresholds),
            data=draw(st.sampled_from(["draws", "authors"])),
        ),
        recipe=draw(recipes),
    )


cases = any_case()
claims = st.builds(
    Claim, st.text(max_size=5), st.text(max_size=5), number, st.none() | number, n=st.none() | count
)
experiments = st.builds(
    Experiment,
    st.text(max_size=5),
    st.text(max_size=5),
    st.lists(cases, max_size=2, unique=True).map(tuple),
    st.lists(st.integers(0, 2**32), max_size=4, unique=True).map(tuple),
    st.lists(claims, max_size=2).map(tuple),
)
values = st.one_of(ranges, layers, ramps, growths, recipes, thresholds, cases, claims)

# -- one of each, for what needs no chance -----------------------------------------------------

LISTED = [(task, name) for task, others in TASKS.items() for name in others]


# -- JSON and hashes ---------------------------------------------------------------------------


@given(values | experiments)
@quick
def test_a_value_written_and_read_is_the_same_value(value):
    back = type(value).from_json(value.json())
    assert back == value and repr(back) == repr(value)
    assert back.hash == value.hash and hash(back) == hash(value)


@given(values)
@quick
def test_a_value_is_read_from_the_fields_that_differ_from_their_defaults(value):
    brief = json.loads(json.dumps(value.brief()))
    back = type(value).read(brief, "the text")
    assert back == value and back.hash == value.hash


def test_brief_fields_are_those_that_were_chosen():
    assert CASE.brief() == {
        "model": [{"unit": "NMU"}],
        "operation": "multiply",
        "train": {"low": 1.0, "high": 2.0},
        "test": {"low": 2.0, "high": 6.0},
    }


@given(values)
@quick
def test_json_is_canonical_and_the_hash_is_its_digest(value):
    text = value.json()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    assert value.hash == hashlib.sha256(text.encode()).hexdigest()


@given(cases)
@quick
def test_keys_may_come_in_any_order_and_with_any_spaces(case):
    def backwards(v):
        if isinstance(v, dict):
            return {k: backwards(v[k]) for k in reversed(v)}
        return [backwards(entry) for entry in v] if isinstance(v, list) else v

    text = json.dumps(backwards(json.loads(case.json())), indent=3)
    assert text != case.json() and Case.from_json(text).json() == case.json()


def test_the_canonical_text_of_a_layer_is_this_one():
    layer = Layer("NMU", 2, (("b", [1, 2.5]), ("a", None)))
    assert layer.json() == '{"options":[["b",[1,2.5]],["a",null]],"out":2,"unit":"NMU"}'
    assert layer.options == (("b", (1, 2.5)), ("a", None))


def test_a_field_that_came_later_leaves_older_hashes_alone():
    assert "operands" not in CASE.json() and "grid" not in CASE.json()
    assert CASE.hash == "cc0f4fdb243e2e15cac3ef315a70414d37b7ecc0fba9d67f505f3dd9e56f8831"  # shipped so
    other = CASE.replace(operands=((0, 1), (0, 2)), recipe=Recipe(grid=5))
    assert '"operands":[[0,1],[0,2]]' in other.json() and Case.from_json(other.json()) == other


@pytest.mark.parametrize("value", FIRST, ids=lambda v: type(v).__name__)
def test_any_changed_field_changes_the_hash(value):
    others = OTHER[type(value)]
    fields = {f.name for f in dataclasses.fields(value)}
    # a metric other than the usual goes with a fixed threshold alone: tests/papers/test_logic.py
    assert set(others) == {f for f in fields if not (f == "metric" and isinstance(value, Threshold))}
    changed = {name: value.replace(**{name: other}) for name, other in others.items()}
    for name, other in changed.items():
        assert getattr(other, name) == others[name] and other != value, name
    assert len({value.hash, *(v.hash for v in changed.values())}) == len(changed) + 1


def test_there_is_a_task_of_every_kind_and_each_kind_is_listed():
    assert [type(task) for task in TASKS] == list(KINDS)
    kinds, more = set(), [Task]
    while more:  # every class below Task that is a kind of its own
        more += (found := more.pop()).__subclasses__()
        kinds |= {found} if not found.__subclasses__() else set()
    assert kinds == set(KINDS), "a task is a subclass of no other task, and stands in KINDS"
    for task, others in TASKS.items():
        fields = {f.name for f in dataclasses.fields(task)}
        # there is one system
        assert set(others) == fields - ({"operation"} if isinstance(task, SystemTask) else set())


@pytest.mark.parametrize(
    ("task", "name"), LISTED, ids=lambda v: v if isinstance(v, str) else type(v).__name__
)
def test_any_changed_field_of_a_task_changes_the_hash_of_its_case(task, name):
    changes = {name: TASKS[task][name]}
    changes |= {"lengths": (1, 2)} if name == "length" else {}
    case, other = (Case((Layer("NAU"),), t) for t in (task, task.replace(**changes)))
    assert case.hash != other.hash and case != other
    for one in (case, other):
        back = Case.from_json(one.json())
        assert back == one and type(back.task) is type(task)


@pytest.mark.parametrize(
    ("ints", "floats"),
    [
        (Range(1, 2, "mirrored", 3, 4, 5, 6), Range(1.0, 2.0, "mirrored", 3.0, 4.0, 5.0, 6.0)),
        (Ramp(10, 20, 30), Ramp(10.0, 20.0, 30.0)),
        (Recipe(lr=1, momentum=0, clip_norm=1), Recipe(lr=1.0, momentum=0.0, clip_norm=1.0)),
        (Recipe(clip_value=2, gradient_noise=3), Recipe(clip_value=2.0, gradient_noise=3.0)),
        (Growth(1, 100), Growth(1.0, 100.0)),
        (Threshold("fixed", value=1), Threshold("fixed", value=1.0)),
        (Claim("s", "m", 1, 0, 2), Claim("s", "m", 1.0, 0.0, 2.0)),
        (Range(0.0, 1.0), Range(-0.0, 1.0)),
    ],
    ids=repr,
)
def test_equal_numbers_make_equal_values_with_equal_hashes(ints, floats):
    assert ints == floats and ints.hash == floats.hash
    assert type(ints).from_json(ints.json()).hash == ints.hash


def test_whole_numbers_in_json_are_read_as_floats_where_floats_belong():
    assert repr(Growth.from_json('{"start":1,"end":100,"every":7}')) == repr(Growth(1.0, 100.0, 7))
    assert repr(Claim.from_json('{"source":"","metric":"","value":1,"low":0}')) == repr(
        Claim("", "", 1.0, 0.0)
    )


# -- schedules ---------------------------------------------------------------------------------


def test_the_ramp_is_the_golden_one():
    golden = GOLDEN["g068"]
    p = golden["params"]
    assert [Ramp(p["lambda_hat"], p["start"], p["end"]).at(s) for s in golden["x"]] == golden["y"]


@given(ramps, st.integers(0, 10**7), st.integers(0, 10**7))
@quick
def test_a_ramp_stays_between_zero_and_its_weight_and_never_turns_back(ramp, one, other):
    early, late = (abs(ramp.at(s)) for s in sorted((one, other)))
    assert 0 <= early <= late <= abs(ramp.weight)


def test_a_ramp_of_no_length_is_on_from_its_start():
    assert [Ramp(3, 5, 5).at(s) for s in (0, 4, 5, 6)] == [0, 0, 3, 3]
    assert Ramp(3).at(0) == 3 and isinstance(Ramp(3).at(0), float)


@pytest.mark.parametrize(
    ("growth", "expected"),
    [
        (Growth(1e-3, 1e-6, 10), [1e-3, 1e-4, 1e-5, 1e-6, 1e-6]),
        (Growth(1e-9, 5e-8, 10), [1e-9, 1e-8, 1e-7, 1e-7, 1e-7]),  # the first power beyond the end
        (Growth(3e-3, 1e-4, 10), [3e-3, 3e-4, 3e-5, 3e-5, 3e-5]),
        (Growth(1e-7, 1e-7, 10), [1e-7] * 5),
        (Growth(1, 100, 10), [1, 10, 100, 100, 100]),
    ],
)
def test_a_weight_grows_or_falls_by_tens_while_its_end_is_ahead(growth, expected):
    assert [growth.at(10 * k + late) for k in range(5) for late in (0, 9)] == [
        e for e in expected for _ in "ab"
    ]


def test_growth_is_the_golden_one():
    golden = GOLDEN["g069"]
    p = golden["params"]
    assert [Growth(p["start"], p["end"], p["step"]).at(s) for s in golden["x"]] == golden["y"]


# -- changes, and what reading costs -----------------------------------------------------------


def test_replace_changes_a_copy_and_checks_it_like_a_new_value():
    other = CASE.replace(operation="add", recipe=CASE.recipe.replace(lr=0.5))
    assert (other.operation, other.recipe.lr, CASE.operation) == ("add", 0.5, "multiply")
    assert other.replace(operation="multiply", recipe=Recipe()) == CASE
    with pytest.raises(dataclasses.FrozenInstanceError):
        CASE.operation = "add"


def test_reading_a_configuration_loads_neither_torch_nor_numpy():
    code = f"import sys; from nalm.config import Case; Case.from_json({CASE.json()!r}); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "nalm.config" in run.stdout.split()
    assert not {"torch", "numpy", "sympy"} & set(run.stdout.split())
