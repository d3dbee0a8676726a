"""The nested formulas: drawn once, the same on every machine, each with a table on which it can be found."""

import numpy as np
import pytest

from benchmarks import nested
from benchmarks.laws.rivals import Fitted
from benchmarks.nested_formulas import COLUMNS, COUNT, OPERATIONS, formulas
from nalm.discover.law.expression import evaluate, used


@pytest.mark.slow
def test_the_formulas_are_distinct_and_cover_operations_and_columns():
    drawn = formulas()
    assert len({str(f) for f in drawn}) == len(drawn) == COUNT
    assert {f.operations for f in drawn} == set(OPERATIONS)
    assert {len(f.ranges) for f in drawn} == set(COLUMNS)
    assert all(used(f.node) == set(range(len(f.ranges))) for f in drawn)


def test_the_formulas_stay_those_that_were_drawn_before_the_search_was_written():
    drawn = [str(f) for f in formulas()]
    assert drawn[6] == "(x1 + (2.14/x1)/x2)**2"
    assert drawn[26] == "(x1/x5)*((x2 - x5/(x2 + x4))/x3)"
    assert drawn[57] == "(((x2*x1)*x3)*(x5*(x2 + x3) + x4))**0.5"


def test_tables_are_finite_and_the_judged_rows_lie_further_out():
    for formula in formulas():
        x, y = formula.table()
        far, there = formula.judged()
        assert np.isfinite(y).all() and np.ptp(y) > 0
        assert len(far) > 100 and np.isfinite(there).all()
        assert np.abs(far).max() > np.abs(x).max()
        np.testing.assert_array_equal(there, evaluate(formula.node, far))


def test_right_and_false_laws_are_counted(monkeypatch):
    formula = formulas()[18]
    fits = {
        "right": lambda *_: Fitted(lambda x: evaluate(formula.node, x), "the formula", "exact"),
        "wrong": lambda *_: Fitted(lambda x: 1.01 * evaluate(formula.node, x), "near it", "consistent"),
    }
    monkeypatch.setattr(nested, "METHODS", fits)
    trials = [nested.one(nested.Job(method, 18, 1.0)) for method in fits]
    assert [(t.right, t.verdict) for t in trials] == [(True, "exact"), (False, "consistent")]
    rows = [r for r in nested.totals(trials) if r["operations"] == "all"]
    assert [(r["right"], r["false_exact"], r["false_consistent"]) for r in rows] == [(1, 0, 0), (0, 0, 1)]


@pytest.mark.slow
def test_at_least_six_of_ten_formulas_are_found():
    trials = [nested.one(nested.Job("nalm", number, 60.0)) for number in range(0, COUNT, 6)]
    assert sum(t.right and t.verdict == "exact" for t in trials) >= 6
    assert not any(t.verdict and t.verdict != "none" and not t.right for t in trials)
