"""The evaluation of a population: in pieces or at once, compiled or not, it gives the same errors."""

import torch

from nalm.config import Arithmetic, Case, Layer, Range, Recipe
from nalm.engine.numbers import data, evaluation
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run

CPU = torch.device("cpu")
CASE = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe())


def program(case=CASE, runs=1, *, compiled=False):
    return Program([Run(case, seed, seed) for seed in range(runs)], CPU, compiled=compiled)


def assert_same(first, second):
    for a, b in zip(first.evaluate(), second.evaluate(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=0)


def test_evaluation_in_pieces_is_evaluation_at_once(monkeypatch):
    whole = program()
    monkeypatch.setattr(data, "NUMBERS", 2_000)
    pieces = program()
    assert (whole.data.rows, pieces.data.rows) == (10_000, 1_000)
    assert_same(whole, pieces)


def test_an_evaluation_is_compiled_only_where_that_saves_time():
    short = CASE.replace(recipe=CASE.recipe.replace(steps=1_000))
    for case, runs, worth in ((CASE, 45, False), (CASE, 225, True), (short, 225, False)):
        assert program(case, runs).evaluation._worth_compiling() == worth


def test_a_compiled_evaluation_gives_the_same_errors(monkeypatch):
    monkeypatch.setattr(evaluation, "WORTH_COMPILING", 0)
    compiled = program(compiled=True)
    assert_same(compiled, program())
    assert compiled.compiler.proven == {"evaluate"}
