"""Scratch columns and the choice of inputs for them."""

import numpy as np

from nalm.discover.law.expression import evaluate
from nalm.discover.problem import Problem
from nalm.discover.stages.columns import Columns
from nalm.discover.stages.scratchpad import relevant

X = np.random.default_rng(0).uniform(-2, 2, (50, 4))


def test_every_column_is_the_value_of_its_expression():
    inputs = Columns.inputs(X, [0, 2, 3])
    pad = inputs.single().joined(inputs.paired())
    deep = inputs.paired(pad)
    for columns in (pad, deep):
        assert columns.values.shape == (50, len(columns.nodes))
        for i in range(0, len(columns.nodes), 7):
            np.testing.assert_allclose(evaluate(columns.node(i), X), columns.values[:, i], rtol=1e-9)


def test_no_column_is_there_twice():
    inputs = Columns.inputs(X, [0, 1])
    pad = inputs.paired().joined(inputs.paired())
    assert len(pad.nodes) == 7


def test_columns_without_a_value_somewhere_are_left_out():
    x = X.copy()
    x[3, 1] = 0.0
    values = Columns.inputs(x, [0, 1]).paired().values
    assert np.isfinite(values).all()
    assert values.shape[1] == 5  # a/b and 1/(a*b) are gone


def test_the_inputs_that_matter_come_first_even_with_mixed_signs():
    x = np.random.default_rng(1).uniform(-2, 2, (1500, 60))
    for y, expected in (
        (x[:, 7] * x[:, 30] + x[:, 50], {7, 30, 50}),
        (x[:, 7] / x[:, 30] - x[:, 50], {7, 30, 50}),
        (1 / (x[:, 5] * x[:, 6]) + x[:, 9], {5, 6, 9}),
    ):
        assert expected <= set(relevant(Problem.from_table(x, y))[:6])
