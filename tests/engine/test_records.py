"""Records of any length: curves stay small, verdicts stay exact, and a resumed run is the same run."""

import numpy as np
import pytest
import torch

from nalm.config import Arithmetic, Case, Layer, Range, Recipe, Threshold
from nalm.engine import product
from nalm.engine.numbers import NumberTrainer
from nalm.engine.records import MOST, Records
from nalm.results.runs import best

RECIPE = Recipe(steps=400, lr=1e-2, batch=4)
CASE = Case(
    (Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6), threshold=Threshold("fixed")), RECIPE
)


def recorded(errors: np.ndarray, limit: float = 0.1, whole: bool = False) -> Records:
    """Records of validation errors (evaluations, runs) every 1,000 steps; test errors are twice as large."""
    records = Records([limit] * errors.shape[1], whole)
    for i, row in enumerate(torch.from_numpy(errors)):
        found = {"validation": row, "test": 2 * row, "sparsity": row / 2}
        records.add(1_000 * i, found, {"weight": row[:, None]})
    return records


@pytest.mark.parametrize("count", [1, 51, MOST, MOST + 1, 2_001])
def test_verdicts_are_those_of_every_evaluation_and_curves_stay_small(count):
    errors = np.random.default_rng(count).uniform(0, 1, (count, 7))
    records = recorded(errors)
    assert len(records.steps) <= MOST and records.steps[0] == 0 and records.steps[-1] == 1_000 * (count - 1)
    if count <= MOST:
        assert len(records.steps) == count
    gaps = set(np.diff(records.steps[:-1]))
    # evenly spaced, and half of them at least
    assert len(gaps) <= 1 and len(records.steps) > min(count, MOST) / 2
    for run, mark in enumerate(records.marks()):
        at, low = best(errors[:, run]), 2 * errors[:, run] < 0.1
        assert (mark.best_step, mark.validation) == (1_000 * at, errors[at, run])
        assert (mark.test, mark.sparsity) == (2 * errors[at, run], errors[at, run] / 2)
        assert mark.solved_at == (1_000 * int(low.argmax()) if low.any() else None)
    kept = np.array(records.steps) // 1_000
    np.testing.assert_array_equal(torch.stack(records.curves["validation"]), errors[kept])
    np.testing.assert_array_equal(
        torch.stack(records.trajectories["weight"])[..., 0], errors[kept].astype("f4")
    )


def test_errors_that_are_no_numbers_are_best_nowhere_but_last_of_all():
    errors = np.array([[np.nan, np.nan, np.inf], [0.5, np.nan, np.inf], [np.nan, np.inf, np.nan]])
    steps = [mark.best_step for mark in recorded(errors).marks()]
    assert steps == [1_000, 2_000, 2_000]


def test_rules_that_look_back_have_every_evaluation():
    assert len(recorded(np.ones((300, 1)), whole=True).steps) == 300


def test_a_long_run_goes_on_exactly_where_it_was_taken_out(monkeypatch):
    monkeypatch.setattr("nalm.engine.numbers.training.EVERY", 10)
    monkeypatch.setattr("nalm.engine.records.MOST", 16)
    monkeypatch.setattr("nalm.engine.numbers.data.EVALUATION", 100)
    runs, cpu = product([CASE], [0, 1, 2]), torch.device("cpu")
    whole = NumberTrainer(runs, cpu, compiled=False)
    while not whole.finished:
        whole.advance()
    first = NumberTrainer(runs, cpu, compiled=False)
    for _ in range(23):
        first.advance()
    second = NumberTrainer(runs, cpu, compiled=False)
    second.restore({name: t.clone() for name, t in first.state().items()})
    while not second.finished:
        second.advance()
    a, b = whole.results(), second.results()
    assert a.marks == b.marks and len(a.steps[0]) <= 16 and a.steps[0][-1] == 400
    for name in ("steps", "validation", "test", "sparsity"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for one, other in zip(a.trajectories, b.trajectories, strict=True):
        np.testing.assert_array_equal(one["0.weight"], other["0.weight"])


def test_the_state_of_a_long_run_is_no_larger_than_that_of_a_short_one():
    sizes = {n: sum(t.numel() for t in recorded(np.ones((n, 3))).state().values()) for n in (MOST, 1_001)}
    assert sizes[1_001] <= sizes[MOST]
