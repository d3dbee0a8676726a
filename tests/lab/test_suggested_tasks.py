"""Which measured task a suggestion is taken from, and the code that it comes with."""

import re

import pytest

from nalm.lab.measured import Measured, shipped_rows
from nalm.lab.suggest import suggest
from nalm.operations import operation

CH3 = [row for row in shipped_rows() if row["experiment"].startswith("thesis/ch3/")]


def test_another_function_of_the_same_name_is_not_suggested():
    """madsen/simple multiplies (a + b) by (a + b + c + d)."""
    found = suggest("multiply", 1, 3, 4)
    assert "NAU" not in found.unit and found.best.experiment != "madsen/simple"
    assert "asked for: U[1,3) with 4 inputs" in found.sentence


def test_the_number_of_inputs_counts_before_the_range():
    for inputs in (50, 100):
        found = suggest("add", 0, 1_000, inputs)
        assert (found.unit, found.best.inputs) == ("NSPU", 100)


def test_laws_that_need_no_training_are_among_the_answers():
    assert suggest("mul-add", 0, 4, 4).closed_form == "nalm.search(X, y)" == suggest("add", 0, 1).closed_form
    assert suggest("xor", 0, 1).closed_form == ""


def test_the_snippet_runs():
    found = suggest("multiply", 1, 2, rows=CH3)
    short = re.sub(r"steps=[0-9]+, ", "", found.snippet).replace("Recipe(", "Recipe(steps=3, batch=4, ")
    values = {}
    exec(short.replace("seeds=range(3)", "seeds=range(3), compiled=False"), values)
    assert len(values["runs"]) == 3 and values["case"].inputs == 2
    logic = suggest("xor", 0, 1)
    if logic.snippet:
        exec(logic.snippet.partition("runs =")[0], values)
        assert values["case"].task.operation == "xor" and values["case"].train.kind == "grid"


def problems():
    """The rows of the summary by operation, operands and inputs: what decides whether a snippet fits its inputs."""
    found = {}
    for row in shipped_rows():
        m = Measured.from_row(row)
        if m.of_inputs and m.n:
            found.setdefault((m.operation, m.operands, m.inputs), []).append(row)
    return found


def test_every_snippet_for_a_shipped_problem_makes_its_case():
    made = 0
    for (name, operands, measured), rows in problems().items():
        for inputs in {operands, measured, measured + 1}:
            snippet = suggest(name, 1, 2, inputs, rows=rows, operands=operands).snippet
            values = {}
            exec(snippet.partition("runs =")[0], values)
            if snippet:
                made += 1
                task = values["case"].task
                assert operation(name).arity <= task.operand_count <= task.inputs == inputs
    assert made > 50


@pytest.mark.parametrize(("name", "inputs"), [("add-mul", 3), ("add-mul", 4), ("not", 1), ("select", 1)])
def test_a_suggested_task_has_no_more_operands_than_inputs(name, inputs):
    snippet, values = suggest(name, 1, 2, inputs).snippet, {}
    exec(snippet.partition("runs =")[0], values)
    assert values["case"].task.subsets == inputs


def test_an_operation_that_was_trained_on_sums_only_is_not_called_unmeasured():
    found = suggest("sqrt", 0, 1)
    assert (
        found.verdict == "unknown" and "sqrt was trained on sums of inputs only, in madsen" in found.sentence
    )
    assert "heim/large/sqrt" in found.sentence


def test_a_suggestion_names_the_loss_of_the_best_unit_unless_it_is_squared_errors():
    found = suggest("subtract", -20, -10, 100)
    assert found.unit == "NSPU" and found.loss == 'nalm.loss("paths")' == found.plain()["loss"]
    plain = next(m for m in found.others if m.recipe.loss == "mse")
    assert (
        suggest("subtract", -20, -10, 100, [r for r in shipped_rows() if r["unit"] == plain.unit]).loss == ""
    )
