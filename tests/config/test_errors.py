"""What a configuration refuses: one sentence that shows the value, whoever wrote it and however badly."""

import functools
import json
import math
import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nalm.config import Arithmetic, Case, Claim, Experiment, Growth, Layer, Ramp, Range, Recipe, Threshold
from nalm.errors import NALMError

CASE = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)))
RICH = CASE.replace(
    model=(Layer("NAU", 2, (("gate", True), ("noise", (1, 5)))), Layer("NMU")),
    recipe=Recipe(penalties=(("w", Ramp(10, 20_000, 35_000)),), l1=Growth(1e-9, 1e-7)),
)
EXPERIMENT = Experiment("smt", "Single Module Task", (RICH,), (0, 1), (Claim("Fig. 3.2", "success", 1.0),))


def refused(make) -> str:
    """The one sentence of the refusal."""
    with pytest.raises(NALMError) as caught:
        make()
    assert type(caught.value) is NALMError and caught.value.__suppress_context__ | (
        not caught.value.__context__
    )
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text
    return text


# -- values that make no sense -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "shown"),
    [
        (lambda: Range(2, 1), "[2, 1)"),
        (lambda: Range(1, 1, "sobol"), "[1, 1)"),
        (lambda: Range(0, math.inf), "inf"),
        (lambda: Range(math.nan, 1), "nan"),
        (lambda: Range(0, 1, mean=math.inf), "inf"),
        (lambda: Range(0, 1, "normal", sd=math.inf), "inf"),
        (lambda: Range(0, 1, "normal", sd=-2), "-2"),
        (lambda: Range(0, 1, "mirrored", 5, 3), "[5,3)"),
        (lambda: Range(0, 1, "split", 5, 5), "[5,5)"),
        (lambda: Range(0, 1, "points", 5, 5), "high=1.0"),
        (lambda: Recipe(grid=1), "got 1"),
        (lambda: CASE.replace(operands=((0, 3),)), "take 3 inputs"),
        (lambda: CASE.replace(operands=((1, 1),)), "((1, 1),)"),
        (lambda: Range(9, 100, "benford"), "[9, 100)"),
        (lambda: Layer("NMU", 0), "0"),
        (lambda: Ramp(1, 30, 20), "30 and 20"),
        (lambda: Ramp(1, math.nan, 20), "nan"),
        (lambda: Growth(0, 1e-7), "0"),
        (lambda: Growth(1e-9, -1e-7), "-1e-07"),
        (lambda: Growth(1e-9, 1e-7, 0), "every=0"),
        (lambda: Recipe(steps=0), "steps=0"),
        (lambda: Recipe(batch=-3), "batch=-3"),
        (lambda: Recipe(lr=-0.1), "-0.1"),
        (lambda: Recipe(lr=0), "0.0"),
        (lambda: Recipe(lr=math.inf), "inf"),
        (lambda: Recipe(lr=math.nan), "nan"),
        (lambda: Recipe(clip_norm=-1), "clip_norm=-1.0"),
        (lambda: Recipe(clip_value=-1), "clip_value=-1.0"),
        (lambda: Recipe(gradient_noise=-1), "gradient_noise=-1.0"),
        (lambda: Recipe(then="pcc"), "second loss"),
        (lambda: Recipe(switch=100), "second loss"),
        (lambda: Recipe(penalties=(("w", Ramp(1)), ("w", Ramp(2)))), "'w'"),
        (lambda: Threshold(epsilon=0), "0"),
        (lambda: Threshold(epsilon=1.5), "1.5"),
        (lambda: Threshold("fixed", value=-1), "-1"),
        (lambda: CASE.replace(model=()), "at least one layer"),
        (lambda: CASE.replace(subsets=0), "0"),
        (lambda: CASE.replace(subset=0), "0"),
        (lambda: CASE.replace(subset=2, overlap=3), "by 3"),
        (lambda: CASE.replace(overlap=-1), "-1"),
        (lambda: CASE.replace(inputs=37, subset=25, overlap=12), "take 38 inputs, there are 37"),
        (lambda: CASE.replace(subsets=3), "take 3 inputs, there are 2"),
        (lambda: CASE.replace(sample=-1), "-1"),
        (lambda: Experiment("smt", "", (CASE, CASE), (0,)), "case stands twice in 'smt'"),
        (lambda: Experiment("smt", "", (CASE,), (3, 3)), "seed stands twice in 'smt'"),
    ],
)
def test_a_refusal_is_one_sentence_with_the_value(make, shown):
    text = refused(make)
    assert shown in text and ". " not in text


def test_replace_refuses_an_unknown_field_and_suggests_a_known_one():
    text = refused(lambda: CASE.replace(operatoin="add"))
    assert text.startswith(
        "There is no field of Case called 'operatoin'. Did you mean 'operation'? Known: model, "
    )
    assert "Did you mean" not in refused(lambda: CASE.replace(zzz=1))
    assert "learning rate is positive, got -1.0" in refused(lambda: Recipe().replace(lr=-1))


@pytest.mark.parametrize("changes", [{"inputs": 38}, {"subset": 1, "overlap": 1, "inputs": 1}])
def test_operands_may_fill_the_inputs_exactly(changes):
    case = CASE.replace(**{"subset": 25, "overlap": 12, **changes})
    assert case.task.used == case.inputs


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (Range, {"high2": math.inf}),
        (Range, {"low2": math.nan}),
        (Range, {"kind": "gauss"}),
        (Ramp, {"weight": math.inf}),
        (Ramp, {"weight": 1, "end": math.inf}),
        (Growth, {"start": 1e-9, "end": math.inf}),
        (Recipe, {"momentum": math.nan}),
        (Recipe, {"clip_value": math.nan}),
        (Recipe, {"clip_norm": math.inf}),
        (Recipe, {"steps": 5e4}),
        (Recipe, {"optimiser": "adm"}),
        (Threshold, {"value": math.inf}),
        (Claim, {"source": "s", "metric": "m", "value": math.nan}),
        (Layer, {"unit": "NMU", "options": (("a", math.nan),)}),
        (Layer, {"unit": "NMU", "options": (("a", {1: 2}),)}),
    ],
    ids=lambda v: getattr(v, "__name__", str(v)),
)
def test_a_value_that_json_could_not_give_back_is_refused_when_it_is_made(kind, fields):
    try:
        value = kind(**fields)
    except NALMError:
        return
    back = kind.from_json(value.json())
    assert back == value and hash(back) == hash(value)


# -- text that is no configuration -------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        (Range, '{"lwo": 1}', "There is no field of Range called 'lwo'. Did you mean 'low'?"),
        (Case, CASE.json().replace('"lr"', '"rl"'), "There is no field of Recipe called 'rl'."),
        (Range, '{"low": "1"}', "Range.low must be a number, got '1'."),
        (Range, '{"low": true}', "Range.low must be a number, got True."),
        (Range, '{"low": null}', "Range.low must be a number, got None."),
        (Range, '{"kind": "gauss"}', "no choice for Range.kind called 'gauss'"),
        (Range, '{"kind": ["uniform"]}', "no choice for Range.kind called ['uniform']"),
        (Recipe, '{"steps": 1.5}', "Recipe.steps must be int, got 1.5."),
        (Recipe, '{"steps": true}', "Recipe.steps must be int, got True."),
        (Recipe, '{"inalu": 1}', "Recipe.inalu must be bool, got 1."),
        (Recipe, '{"loss": 1}', "Recipe.loss must be str, got 1."),
        (Recipe, '{"penalties": {}}', "Recipe.penalties must be a list, got {}."),
        (Recipe, '{"penalties": [["w"]]}', "Recipe.penalties[0] must have 2 entries, got 1."),
        (Recipe, '{"penalties": [["w", {"weight": "x"}]]}', "Ramp.weight must be a number, got 'x'"),
        (Recipe, '{"l1": 3}', "Recipe.l1 must be an object, got int."),
        (Recipe, '{"l1": {"start": -1, "end": 1}}', "A growing weight is positive, got Growth(start=-1.0"),
        (Recipe, '{"lr": -1}', "A learning rate is positive, got -1.0."),
        (Ramp, "{}", "Ramp is incomplete: "),
        (Case, '{"model": [], "operation": "add"}', "'train' and 'test'"),
        (Case, "[]", "Case must be an object, got list."),
        (Case, "null", "Case must be an object, got NoneType."),
        (Case, CASE.json().replace('"train":{', '"train":[{').replace('},"', '}],"'), "JSON of a Case: "),
        (Experiment, EXPERIMENT.json()[:-1], "This is not the JSON of a Experiment: "),
        (Experiment, "", "This is not the JSON of a Experiment: "),
    ],
)
def test_text_that_is_no_configuration_gets_a_sentence_that_names_the_place(kind, text, shown):
    assert shown in refused(lambda: kind.from_json(text))


@pytest.mark.parametrize("depth", [100, 480, 700, 900, 960, 980, 990, 2_000, 100_000])
@pytest.mark.parametrize(
    "text",
    [
        lambda n: "[" * n + "]" * n,
        lambda n: '{"unit":' * n + "1" + "}" * n,
        lambda n: '{"unit":' + "[" * n + "]" * n + "}",
        lambda n: '{"unit": "NMU", "options": [["a", ' + "[" * n + "]" * n + "]]}",
    ],
    ids=["lists", "objects", "a name", "an option"],
)
def test_however_deep_the_nesting_reading_ends_with_a_layer_or_a_sentence(text, depth):
    try:
        layer = Layer.from_json(text(depth))
    except NALMError as error:
        assert str(error).endswith(".")
    else:
        assert Layer.from_json(layer.json()).hash == layer.hash


def test_a_long_integer_is_refused_as_a_float_like_any_other():
    refused(lambda: Range.from_json('{"low": 0, "high": 1' + "0" * 400 + "}"))
    refused(lambda: Range.from_json('{"low": 0, "high": 1' + "0" * 5_000 + "}"))
    refused(lambda: Range.from_json('{"low": 0, "high": 1e400}'))


HOSTILE = [None, True, 0, -1, 1, 10**30, 10**400, -0.0, 0.5, 1e308, 5e-324, math.nan, math.inf, -math.inf]
HOSTILE += ["", "x", "\ud800", "NaN", [], {}, [[]], ["a", 1], [["a", {}]], {"low": 1}, {"start": 1, "end": 1}]


def places(data, path=()) -> list[tuple]:
    """The path of everything inside plain data."""
    keys = data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    return [p for key in keys for p in ((*path, key), *places(data[key], (*path, key)))]


def check_reading(kind, text: str) -> None:
    """Reading either refuses with a sentence or gives a value like any other."""
    try:
        made = kind.from_json(text)
    except NALMError as error:
        assert str(error).endswith(".")
        return
    back = kind.from_json(made.json())
    assert back == made and back.hash == made.hash and hash(back) == hash(made)


@pytest.mark.parametrize("value", HOSTILE, ids=lambda v: ascii(v)[:20])
def test_whatever_stands_in_whatever_place_an_experiment_is_refused_or_like_any_other(value):
    failures = {}
    text = EXPERIMENT.json()
    for *path, last in places(json.loads(text)):
        data = json.loads(text)
        functools.reduce(operator.getitem, path, data)[last] = value
        try:
            check_reading(Experiment, json.dumps(data))
        except Exception as error:
            failures[".".join(map(str, [*path, last]))] = repr(error)
    assert not failures


@given(st.recursive(st.sampled_from(HOSTILE), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
@settings(deadline=None, database=None, max_examples=50)
def test_any_other_json_is_refused(data):
    with pytest.raises(NALMError):
        Experiment.from_json(json.dumps(data))
