"""Recipes by name, from the figures that the package ships."""

import pytest
import torch

import nalm
from nalm.lab.measured import shipped_rows


def test_a_recipe_is_that_of_the_best_measured_case_of_the_unit():
    found = nalm.recipe("NMU", operation="multiply", range=(-2, 2))
    assert found.exact and found.problem == "multiply on U[-2,2) with 2 inputs"
    same = [
        row
        for row in shipped_rows()
        if (row["unit"], row["operation"], row["train"], row["inputs"]) == ("NMU", "multiply", "U[-2,2)", 2)
    ]
    assert found.success.estimate == max(row["success"]["estimate"] for row in same)
    assert found.success.low < found.success.estimate <= found.success.high
    assert found.recipe.penalties  # though one without is as good at finding the formula
    assert str(found).splitlines()[0].startswith("nalm.NMU(2, 1)  # NMU for multiply on U[-2,2)")
    assert f"of {found.success.n} runs" in str(found)


def test_the_nearest_task_is_used_and_named_where_none_was_measured():
    found = nalm.recipe("NMRU", operation="divide", range=(1, 3), inputs=9)
    assert not found.exact and "(the nearest measured)" in str(found)
    assert found.code == "nalm.NMRU(9, 1)"
    assert found.recipe.clip_norm == 1


def test_a_recipe_can_be_attached():
    found = nalm.recipe("NMU", operation="multiply", range=(1, 2))
    unit = nalm.NMU(2, 1)
    optimiser = torch.optim.Adam(unit.parameters(), lr=found.recipe.lr)
    handle = nalm.attach(unit, optimiser, recipe=found.recipe, steps=1_000)
    assert handle.recipes[""].penalties[0][1].end <= 1_000


def test_unknown_names_get_a_suggestion():
    with pytest.raises(nalm.NALMError, match=r"Did you mean 'NMU'"):
        nalm.recipe("NMUU", operation="multiply", range=(1, 2))
    with pytest.raises(nalm.NALMError, match=r"Did you mean 'multiply'"):
        nalm.recipe("NMU", operation="multipli", range=(1, 2))
    with pytest.raises(nalm.NALMError, match=r"square was trained on sums of inputs only"):
        nalm.recipe("NMU", operation="square", range=(1, 2))
