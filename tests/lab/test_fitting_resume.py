"""fit_units that was interrupted: the same call goes on, and returns what it would have returned."""

import numpy as np
import pytest
import torch

import nalm
from nalm.config import Recipe
from nalm.errors import NALMError
from nalm.lab.fitting import sources

X = np.random.default_rng(0).uniform(-2, 2, (300, 3))
Y = X[:, 0] * X[:, 2]
RECIPE = Recipe(steps=40, lr=0.05, batch=20)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Evaluate every ten steps, and keep the state each time."""
    monkeypatch.setattr("nalm.engine.numbers.training.EVERY", 10)
    monkeypatch.setattr("nalm.engine.numbers.row_trainer.EVERY", 10)
    monkeypatch.setattr("nalm.lab.fitting.training.SAVE_EVERY", 0.0)


def fit(x=X, y=Y, **options):
    usual = {"seeds": 3, "recipe": RECIPE, "compiled": False, "device": "cpu"}
    return nalm.fit_units(x, y, **usual | options)


def interrupt_after(lines: int):
    """A watch that ends the call like Ctrl-C."""
    told = []

    def watch(line: str) -> None:
        told.append(line)
        if len(told) == lines:
            raise KeyboardInterrupt(line)

    return watch


def same(one, two):
    assert one.runs.seeds == two.runs.seeds and one.best == two.best and one.formulas == two.formulas
    for i in range(len(one.runs)):
        np.testing.assert_array_equal(one.runs.validation[i], two.runs.validation[i])
        for name, w in one.runs.weights[i].items():
            np.testing.assert_array_equal(w, two.runs.weights[i][name])


def draw(rows, generator):
    x = generator.uniform(1, 2, (rows, 2))
    return x, x.prod(1)


def test_the_same_call_goes_on_where_it_was_interrupted(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit(resume=tmp_path, watch=interrupt_after(2))
    told = []
    found = fit(resume=tmp_path, watch=told.append)
    assert told[0] == "goes on at step 20 of 40" and told[1].startswith("step 30 of 40")
    same(found, fit())


def test_each_of_several_models_goes_on_for_itself(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        fit(model=["NMU", "NAU"], resume=tmp_path, watch=interrupt_after(6))
    told = []
    found = fit(model=["NMU", "NAU"], resume=tmp_path, watch=told.append)
    assert told[:2] == ["goes on at step 40 of 40", "goes on at step 20 of 40"]
    same(found, fit(model=["NMU", "NAU"]))


def test_rows_of_a_function_are_the_same_after_an_interruption(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "POOL", 64)
    monkeypatch.setattr(sources, "CHECKED", 50)
    with pytest.raises(KeyboardInterrupt):
        fit(draw, None, resume=tmp_path, watch=interrupt_after(2))
    same(fit(draw, None, resume=tmp_path), fit(draw, None))


def test_a_long_loader_is_read_again_up_to_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "LONGEST", 100)
    monkeypatch.setattr(sources, "POOL", 60)
    monkeypatch.setattr(sources, "CHECKED", 20)
    batches = [draw(30, np.random.default_rng(k)) for k in range(20)]
    with pytest.raises(KeyboardInterrupt):
        fit(batches, None, resume=tmp_path, watch=interrupt_after(2))
    same(fit(batches, None, resume=tmp_path), fit(batches, None))


def test_a_finished_training_is_returned_without_training(tmp_path, monkeypatch):
    first = fit(resume=str(tmp_path))
    monkeypatch.setattr("nalm.engine.numbers.RowTrainer.advance", lambda self: pytest.fail("it trains again"))
    same(fit(resume=str(tmp_path)), first)


def test_patience_counts_on(tmp_path):
    noise, options = np.random.default_rng(1).standard_normal(300), {"patience": 3, "seeds": 1}
    recipe = RECIPE.replace(steps=2_000)
    whole = fit(X, noise, recipe=recipe, **options)
    with pytest.raises(KeyboardInterrupt):
        fit(X, noise, recipe=recipe, resume=tmp_path, watch=interrupt_after(2), **options)
    for _ in range(2):  # the second call finds a training that was stopped
        found = fit(X, noise, recipe=recipe, resume=tmp_path, **options)
        assert found.runs.steps[0][-1] == whole.runs.steps[0][-1] < 2_000
    with pytest.raises(NALMError, match="at least 1, got 0"):
        fit(patience=0)


def test_other_rows_seeds_or_recipes_start_anew(tmp_path):
    fit(resume=tmp_path)
    for options in ({"y": 2 * Y}, {"seeds": 2}, {"recipe": RECIPE.replace(lr=0.01)}):
        with pytest.raises(KeyboardInterrupt, match="step 10 of 40"):
            fit(**options, resume=tmp_path, watch=interrupt_after(1))


def test_a_damaged_state_is_named(tmp_path):
    fit(resume=tmp_path)
    (path,) = tmp_path.rglob("*.safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(NALMError, match="is damaged"):
        fit(resume=tmp_path)


def test_rows_stay_in_the_order_of_a_block():
    rows = sources.split(draw, None).own
    assert torch.equal(rows.refill(3)[0], rows.refill(3)[0])
    assert not torch.equal(rows.refill(3)[0], rows.refill(4)[0])
