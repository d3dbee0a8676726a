"""A unit in a loop: the golden vector, the penalty on its inputs, and torch's own LSTM."""

import json
from pathlib import Path

import pytest
import torch

import nalm
from nalm.errors import NALMError
from nalm.networks.cells import LSTM, Accumulator
from nalm.networks.loop import Loop
from nalm.units import NAC, NAU, NMU, SNMU, NACMul

GOLDEN = {
    g["id"]: g
    for g in json.loads((Path(__file__).parents[1] / "data" / "golden_units.json").read_text("utf-8"))
}


def test_a_recurrent_nmu_is_the_golden_one():
    golden = GOLDEN["g028"]
    unit = NMU(2, 1, dtype=torch.float64)
    unit.assign_({"weight": torch.tensor(golden["params"]["W"], dtype=torch.float64).mT})
    x = torch.tensor(golden["x"], dtype=torch.float64)
    y, seen = Loop(unit, first=1.0)(x[None])
    torch.testing.assert_close(y.flatten(), torch.tensor(golden["y"], dtype=torch.float64))
    assert seen[0].tolist() == [3.0, 1.0]  # the element first, then the state


def test_the_penalty_on_inputs_is_of_the_mean_over_batch_and_time():
    unit = NMU(2, 1)
    unit.assign_({"weight": torch.tensor([[0.5, 1.0]])})
    x = torch.tensor([[[3.0], [5.0]], [[1.0], [2.0]]])  # two sequences of two
    _, seen = Loop(unit, first=1.0)(x)
    # elements 3, 5, 1, 2: mean 2.75; their weight is 0.5, the state's is 1 and costs nothing
    expected = ((1 - 0.5) * (1 - 2.75) ** 2 + 0) / 2
    assert unit.penalties(seen)["inputs"].item() == pytest.approx(expected)


def test_the_penalty_on_inputs_of_a_sum_pulls_to_zero():
    unit = NAU(2, 1)
    unit.assign_({"weight": torch.tensor([[1.0, -0.5]])})
    _, seen = Loop(unit)(torch.tensor([[[4.0], [2.0]]]))
    # states seen: 0 and 4, mean 2; weight -0.5
    assert unit.penalties(seen)["inputs"].item() == pytest.approx((1 - 0.5) * 2.0**2 / 2)


def test_a_nac_has_the_same_penalty():
    unit = NAC(2, 1)
    unit.assign_({"weight": torch.tensor([[1.0, -0.5]])})
    assert unit.penalties(torch.tensor([[4.0, 2.0]]))["inputs"].item() == pytest.approx(0.5 * 4 / 2, rel=1e-5)
    assert "inputs" not in unit.penalties()


def test_the_inputs_of_a_stochastic_unit_include_its_noise():
    unit = SNMU(2, 1, generator=torch.Generator().manual_seed(0))
    unit.assign_({"weight": torch.ones(1, 2)})
    loop, x = Loop(unit, first=1.0), torch.tensor([[[3.0], [5.0]]])
    y, seen = loop(x)
    torch.testing.assert_close(y.flatten(), torch.tensor([3.0, 15.0]))  # noise cancels at whole weights
    noise = seen / torch.tensor([[3.0, 1.0], [5.0, 3.0]])
    assert (noise >= 1).all() and (noise <= 5).all() and noise.unique().numel() == 4
    unit.eval()
    _, quiet = loop(x)
    torch.testing.assert_close(quiet, torch.tensor([[3.0, 1.0], [5.0, 3.0]]))


@pytest.mark.parametrize(
    ("unit", "first", "expected"),
    [
        (Accumulator(2, 1, operation="multiply"), 1.0, [3.0, 15.0, 30.0]),
        (Accumulator(2, 1, operation="add"), 0.0, [3.0, 8.0, 10.0]),
        (NAU.solved("add"), 0.0, [3.0, 8.0, 10.0]),
        (NACMul.solved("multiply"), 1.0, [3.0, 15.0, 30.0]),
    ],
)
def test_solved_loops_accumulate(unit, first, expected):
    y, _ = Loop(unit, first=first)(torch.tensor([[[3.0], [5.0], [2.0]]]))
    torch.testing.assert_close(y.flatten(), torch.tensor(expected))


def test_ten_counters_at_once():
    one_hot = torch.eye(10)[torch.tensor([[3, 3, 9]])]
    y, _ = Loop(Accumulator(20, 10, operation="add"))(one_hot)
    assert y[0, -1, 3] == 2 and y[0, -1, 9] == 1 and y[0, -1].sum() == 3


def test_the_lstm_is_torchs():
    ours, theirs = LSTM(3 + 8, 8), torch.nn.LSTMCell(3, 4)
    with torch.no_grad():
        names = ("from_input", "from_state", "input_bias", "state_bias")
        for name, value in zip(names, theirs.parameters(), strict=True):
            ours.get_parameter(name).copy_(value)
        x, h, c = torch.randn(5, 3), torch.randn(5, 4), torch.randn(5, 4)
        torch.testing.assert_close(ours(torch.cat([x, h, c], -1)), torch.cat(theirs(x, (h, c)), -1))
        y, _ = Loop(ours)(torch.randn(5, 7, 3))
    assert y.shape == (5, 7, 4) and y.abs().max() < 1


def test_a_population_of_loops_is_its_members():
    members = [NMU(2, 1) for _ in range(3)]
    x = torch.rand(3, 5, 4, 1)
    together, seen = Loop(nalm.stack(members), first=1.0)(x)
    for k, unit in enumerate(members):
        y, own = Loop(unit, first=1.0)(x[k])
        torch.testing.assert_close(together[k], y)
        torch.testing.assert_close(seen[k], own)


def test_cells_of_impossible_sizes_are_refused():
    with pytest.raises(NALMError, match="in_features=2"):
        Accumulator(3, 1)
    with pytest.raises(NALMError, match="even number"):
        LSTM(4, 3)
