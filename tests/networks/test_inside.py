"""Functions on any module that holds units: project, penalties, snap, formulas."""

import pytest
import torch
from torch import nn

import nalm
from nalm.networks import FarFromGrid, Stack, units_in
from nalm.units.baselines import BASELINES


def readme() -> nn.Sequential:
    """The network of the README."""
    return nn.Sequential(nn.Linear(8, 2), nn.ReLU(), nalm.NMU(2, 1))


def test_the_units_of_a_network_are_found_where_they_are():
    inner = nn.ModuleDict({"sums": nalm.NAU(3, 2), "rest": nn.Sequential(nn.Linear(2, 2), nalm.NMU(2, 1))})
    assert list(units_in(inner)) == ["sums", "rest.1"]
    assert list(units_in(nalm.NMU(2, 1))) == [""]
    assert list(units_in(nn.ModuleList([Stack(2, 1)]))) == ["0"]  # its parts belong to it
    assert units_in(nn.Linear(2, 1)) == {}


def test_a_unit_that_stands_in_two_places_counts_once():
    unit = nalm.NMU(2, 2)
    net = nn.ModuleList([unit, nn.Sequential(unit)])
    assert list(units_in(net)) == ["0"]
    assert torch.equal(nalm.penalties(net)["weight"], unit.penalties()["weight"])


def test_project_moves_every_unit_into_its_bounds_and_nothing_else():
    net = nn.Sequential(nn.Linear(3, 3), nalm.NAU(3, 2), nalm.NMU(2, 1))
    for p in net.parameters():
        nn.init.constant_(p, -5.0)
    nalm.project(net)
    assert net[0].weight.min() == net[0].bias.min() == -5
    assert net[1].weight.unique().tolist() == [-1.0]
    assert net[2].weight.unique().tolist() == [0.0]


def test_penalties_are_summed_over_the_units_and_have_gradients():
    net = nn.Sequential(nalm.NAU(3, 2), nalm.ModifiedRealNPU(2, 1))
    found = nalm.penalties(net)
    assert list(found) == ["weight", "gate"]
    expected = net[0].penalties()["weight"] + net[1].penalties()["weight"]
    torch.testing.assert_close(found["weight"], expected)
    (found["weight"] + found["gate"]).backward()
    assert net[0].weight.grad.abs().sum() > 0 and net[1].gate.grad is not None
    assert nalm.penalties(nalm.RealNPU(2, 1)) == {}


def test_a_population_has_a_penalty_per_run():
    runs = nalm.stack([nn.Sequential(nalm.NAU(3, 2), nalm.NMU(2, 1)) for _ in range(4)])
    assert nalm.penalties(runs)["weight"].shape == (4,)


def test_snap_changes_the_units_in_place_and_leaves_the_other_layers():
    net = readme()
    net[2].assign_({"weight": torch.tensor([[0.95, 0.02]])})
    before = net[0].weight.clone()
    assert nalm.snap(net) is net
    assert set(net[2].weight.flatten().tolist()) <= {0.0, 1.0}
    assert torch.equal(net[0].weight, before)


@pytest.mark.parametrize(
    ("weight", "distance"), [([[0.8, 1.0]], "0.2"), ([[22.3, 1.0]], "21"), ([[float("nan"), 1.0]], "nan")]
)
def test_snap_warns_of_weights_that_move_far(weight, distance):
    net = readme()
    net[2].weight.data.copy_(torch.tensor(weight))
    with pytest.warns(
        FarFromGrid, match=rf"Unit '2' .* had its weight 'weight' {distance} away from its grid"
    ):
        nalm.snap(net)
    if distance != "nan":
        assert nalm.snap(net)[2].weight.tolist() == [[1.0, 1.0]]  # it moved, and does not move again


def test_the_formulas_are_those_of_the_snapped_units():
    net = readme()
    net[2].assign_({"weight": torch.tensor([[0.9, 0.8]])})
    assert str(nalm.formulas_in(net)) == "{'2': [a*b]}"
    assert str(nalm.formulas_in(nalm.NMU.solved("multiply"))) == "{'': [a*b]}"


def test_the_formula_of_a_unit_behind_a_unit_is_written_in_the_first_inputs():
    sums = nalm.NAU(3, 2).assign_({"weight": torch.tensor([[1.0, 1, 0], [0, 0, 1]])})
    product = nalm.NMU.solved("multiply")
    chained = nn.Sequential(nn.Linear(3, 3), nn.Sequential(sums, product))
    assert {name: [str(e) for e in es] for name, es in nalm.formulas_in(chained).items()} == {
        "1.0": ["a + b", "c"],
        "1.1": ["c*(a + b)"],
    }
    apart = nn.Sequential(sums, nn.ReLU(), product)
    assert str(nalm.formulas_in(apart)["2"]) == "[a*b]"


def test_baselines_have_no_formula_and_are_no_obstacle():
    net = nn.Sequential(BASELINES["MLP"](2, 2), nalm.NMU.solved("multiply"))
    nalm.project(net)
    assert list(nalm.formulas_in(nalm.snap(net))) == ["1"]


@pytest.mark.parametrize("function", [nalm.project, nalm.penalties, nalm.snap, nalm.formulas_in])
def test_a_model_without_units_is_refused_in_one_sentence(function):
    with pytest.raises(nalm.NALMError, match=r"Sequential holds no unit: put one into it"):
        function(nn.Sequential(nn.Linear(2, 1)))
    with pytest.raises(nalm.NALMError, match=r"A module is needed, got int"):
        function(3)
