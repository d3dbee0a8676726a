"""Rows of one's own in the engine: batches are drawn from them, and only from those that are trained on."""

import numpy as np
import pytest
import torch

from nalm.config import Arithmetic, Case, Layer, Range, Recipe
from nalm.engine import as_seeds, train
from nalm.engine.model import Network
from nalm.engine.numbers import OwnRows
from nalm.engine.numbers.program import Program
from nalm.engine.numbers.rows import STRETCH
from nalm.engine.plan import Run
from nalm.errors import NALMError
from nalm.units import NMU

CPU = torch.device("cpu")


def table(rows: int, seed: int, low: float = 1.0):
    x = low + torch.rand(rows, 3, generator=torch.Generator().manual_seed(seed))
    return x, (x[:, :1] * x[:, 2:])


def own(refill=None) -> OwnRows:
    return OwnRows(table(50, 0), table(20, 1), table(30, 2), refill)


def case(rows: OwnRows, **recipe) -> Case:
    return Case((Layer("NMU"),), rows.task("rows", 1e-4), Recipe(**{"batch": 16, "steps": 3, **recipe}))


def test_a_batch_holds_rows_that_are_trained_on_with_their_targets():
    rows = own()
    with rows.held():
        program = Program([Run(case(rows), seed, seed) for seed in range(4)], CPU, compiled=False)
    x, y = program.data.batch(torch.tensor(5, dtype=torch.int32), program.settings)
    assert x.shape == (4, 16, 3) and y.shape == (4, 16, 1)
    places = (x.unsqueeze(-2) == rows.train[0]).all(-1)  # (runs, batch, rows)
    assert places.any(-1).all() and torch.equal(rows.train[1][places.int().argmax(-1)], y)
    assert not torch.equal(x[0], x[3])  # each run has a batch of its own
    again, _ = program.data.batch(torch.tensor(6, dtype=torch.int32), program.settings)
    assert not torch.equal(x, again)


@pytest.mark.parametrize(("count", "batch"), [(6, 40), (50, 7), (33, 16)])
def test_tables_and_batches_of_any_size_hold_rows_with_their_targets(count, batch):
    rows = OwnRows(table(count, 0), table(20, 1), table(30, 2))
    with rows.held():
        program = Program(
            [Run(case(rows, batch=batch), seed, seed) for seed in range(2)], CPU, compiled=False
        )
    x, y = program.data.batch(torch.tensor(5, dtype=torch.int32), program.settings)
    assert x.shape == (2, batch, 3) and torch.equal(y, x[..., :1] * x[..., 2:])
    assert (x.unsqueeze(-2) == rows.train[0]).all(-1).any(-1).all()


def test_rows_have_other_neighbours_in_every_block():
    rows = own()
    with rows.held():
        program = Program([Run(case(rows), 0, 0)], CPU, compiled=False)
    before = program.settings["rows.x"].clone()
    program.data.refill(1)
    after = program.settings["rows.x"].clone()
    assert not torch.equal(before, after)
    for columns in (before, after):  # each row once, and the first ones again at the end
        assert columns.shape == (3, 50 + STRETCH - 1) and torch.equal(
            columns[:, 50:], columns[:, : STRETCH - 1]
        )
        assert torch.equal(columns[0, :50].sort()[0], rows.train[0][:, 0].sort()[0])
    assert torch.equal(program.settings["rows.y"][0], after[0] * after[2])
    program.data.refill(0)
    assert torch.equal(program.settings["rows.x"], before)


def test_every_row_is_drawn_about_as_often():
    rows = own()
    with rows.held():
        program = Program([Run(case(rows, batch=50), 0, 0)], CPU, compiled=False)
    x = torch.cat([program.data.batch(torch.tensor(k), program.settings)[0] for k in range(400)])
    count = (x.reshape(-1, 1, 3) == rows.train[0]).all(-1).sum(0)
    assert int(count.sum()) == 20_000
    assert int(count.min()) > 300 and int(count.max()) < 500  # 400 each, give or take five deviations


def test_a_step_is_that_of_torch_on_the_same_rows():
    rows = own()
    with rows.held():
        program = Program([Run(case(rows), 7, 0)], CPU, compiled=False)
    unit = NMU(3, 1)
    unit.weight.data.copy_(program.params["layers.0.weight"][0])
    optimiser = torch.optim.Adam(unit.parameters(), lr=1e-3)
    for step in range(3):
        x, y = program.data.batch(torch.tensor(step), program.settings)
        optimiser.zero_grad()
        (unit(x[0]) - y[0]).square().mean().backward()
        optimiser.step()
        unit.project()
    program.advance(3, "mse")
    torch.testing.assert_close(program.params["layers.0.weight"][0], unit.weight.data)


def test_errors_are_those_on_the_given_rows():
    rows = own()
    with rows.held():
        runs = train(case(rows), [3], "cpu", compiled=False)
    unit = NMU(3, 1).assign_({"weight": torch.tensor(runs.weights[0]["0.weight"])})
    for curve, (x, y) in ((runs.validation, rows.validation), (runs.test, rows.test)):
        error = (unit(x)[:20] - y[:20]).square().mean().item()  # as many rows of each set
        assert curve[0][-1] == pytest.approx(error, rel=1e-5)


def test_other_rows_come_for_every_block(monkeypatch):
    monkeypatch.setattr("nalm.engine.numbers.training.EVERY", 2)
    monkeypatch.setattr("nalm.engine.numbers.row_trainer.EVERY", 2)
    asked = []

    def refill(block: int):
        asked.append(block)
        return table(50, 100 + block)

    rows = own(refill)
    with rows.held():
        train(case(rows, steps=6), [0], "cpu", compiled=False)
    assert asked == [1, 2, 3][: len(asked)] and len(asked) >= 2


def test_rows_that_are_not_in_memory_are_refused_with_the_remedy():
    rows = own()
    with pytest.raises(NALMError, match=r"are not in memory: call nalm.fit_units"):
        train(case(rows), 1, "cpu", compiled=False)


def test_the_digest_tells_rows_apart():
    x, y = table(50, 0)
    assert own().digest == own().digest
    assert OwnRows((x + 1e-6, y), table(20, 1), table(30, 2)).digest != own().digest


def test_activations_stand_between_layers():
    network = Network((Layer("Linear", 2), Layer("ReLU", 2), Layer("NMU")), 3)
    assert [type(layer).__name__ for layer in network.layers] == ["Linear", "ReLU", "NMU"]
    assert [i for i, _ in network.placed()] == [0, 2]
    starts = network.starts([0, 1], torch.zeros(2))
    assert set(starts) == {"layers.0.weight", "layers.0.offset", "layers.2.weight"}
    x = torch.randn(5, 3)
    by_hand = network.layers[2](torch.relu(network.layers[0](x)))
    assert torch.equal(network(x), by_hand)
    assert torch.equal(network.penalised(x, ["weight"])[1]["weight"], network.layers[2].penalties()["weight"])
    with pytest.raises(NALMError, match=r"write Layer\('ReLU', 2\)"):
        Network((Layer("Linear", 2), Layer("ReLU", 3)), 3)


def test_a_number_of_seeds_is_as_many_seeds():
    assert as_seeds(3) == as_seeds(range(3)) == as_seeds(np.arange(3)) == [0, 1, 2]
    for wrong in (None, 1.5, "ab", [0.5]):
        with pytest.raises(NALMError, match="Seeds are a number of seeds, or whole numbers"):
            as_seeds(wrong)
    task = Arithmetic("multiply", Range(1, 2), Range(2, 6))
    runs = train(Case((Layer("NMU"),), task, Recipe(steps=1, batch=4)), 3, "cpu", compiled=False)
    assert runs.seeds == [0, 1, 2]


@pytest.mark.parametrize("wrong", [np.ones((5, 2)), torch.ones(5, 2), NMU(2, 1), [NMU(2, 1)]], ids=type)
def test_rows_and_modules_in_place_of_cases_are_answered_with_the_right_function(wrong):
    with pytest.raises(NALMError, match=r"for rows of your own call nalm.fit_units\(X, y, model\)"):
        train(wrong, np.ones(5))


def test_printing_runs_shows_a_summary():
    task = Arithmetic("multiply", Range(1, 2), Range(2, 6))
    cases = [Case((Layer(unit),), task, Recipe(steps=1, batch=4)) for unit in ("NMU", "NAU")]
    lines = repr(train(cases, 3, "cpu", compiled=False)).splitlines()
    assert lines[0] == "6 runs on cpu" and len(lines) == 3
    assert lines[1].startswith("  NMU multiply U[1,2): 0 of 3 solved, ") and "median test error" in lines[1]
