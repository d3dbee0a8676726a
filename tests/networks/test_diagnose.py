"""``diagnose``: each planted fault is found by its name, and nothing is found in a healthy network."""

import pytest
import torch
from torch import nn

import nalm
from nalm.config import Ramp, Recipe
from nalm.networks import CoefficientUnit
from nalm.units.baselines import BASELINES

X = torch.rand(64, 2, generator=torch.Generator().manual_seed(0)) + 0.5
Y = X[:, :1] * X[:, 1:]


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def attached(unit, steps=100):
    """A model that trains as it should, with an optimiser that lives as long as the model."""
    net = nn.Sequential(nn.Identity(), unit)
    net.optimiser = torch.optim.Adam(net.parameters(), lr=0.05)
    net.handle = nalm.attach(net, net.optimiser, steps=steps)
    return net


def names(found):
    return [fault.name for fault in found]


def trained(net, steps=100):
    for _ in range(steps):
        net.optimiser.zero_grad()
        (net(X) - Y).square().mean().backward()
        net.optimiser.step()
    return net


@pytest.mark.parametrize(
    "name", ["NAU", "NMU", "SNMU", "NRU", "NMRU", "RealNPU", "ModifiedRealNPU", "INALU", "NALU"]
)
def test_nothing_is_found_in_a_network_that_begins_to_train(name):
    net = attached(nalm.unit(name)(2, 1, generator=seeded(1)))
    assert nalm.diagnose(net, (X, Y)) == []
    assert nalm.diagnose(net, X) == []


def test_nothing_is_found_in_trained_and_in_solved_networks():
    net = trained(attached(nalm.NMU(2, 1, generator=seeded())))
    assert str(nalm.formulas_in(net)["1"]) == "[a*b]"
    assert nalm.diagnose(net, (X, Y)) == []
    assert nalm.diagnose(net.eval(), (X, Y)) == []
    for unit in (nalm.NMU.solved("multiply"), nalm.INALU.solved("multiply"), nalm.RealNPU.solved("divide")):
        assert nalm.diagnose(unit.eval(), X) == []
    assert nalm.diagnose(BASELINES["MLP"](2, 1), (X, Y)) == []


def test_nothing_is_found_if_the_penalties_are_in_the_objective():
    net = nn.Sequential(nalm.NAU(2, 2), nalm.NMU(2, 1))

    def objective(model, batch):
        return (model(batch[0]) - batch[1]).square().mean() + 10 * nalm.penalties(model)["weight"]

    assert nalm.diagnose(net, (X, Y), objective=objective) == []
    assert names(nalm.diagnose(net, (X, Y))) == ["penalty", "penalty"]
    assert "penalties" not in vars(net[0])  # nothing is left behind


@pytest.mark.parametrize("name", ["NACMul", "NALU"])
def test_negative_inputs_of_a_unit_that_sees_magnitudes_are_found(name):
    net = attached(nalm.unit(name)(2, 1, generator=seeded()))
    (found,) = nalm.diagnose(net, X - 1.2)
    assert found.name == "domain" and found.unit == "1"
    assert "gets negative inputs, down to -0.699, and loses their sign" in str(found)
    assert nalm.diagnose(net, X) == []


def test_inputs_that_are_no_truth_values_are_found():
    found = nalm.diagnose(nalm.NLRL(2, 1, generator=seeded()), 5 * X)
    assert names(found) == ["domain"] and "between 0 and 1" in str(found[0])


def test_inputs_of_which_a_unit_has_no_logarithm_are_found():
    found = nalm.diagnose(attached(nalm.MulMCFC(2, 1, generator=seeded())), X - 1.2)
    assert names(found)[0] == "domain" and "is not a number" in str(found[0])


def test_a_relu_that_has_died_is_found():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nalm.NMU(2, 1, generator=seeded()))
    optimiser = torch.optim.Adam(net.parameters())
    nalm.attach(net, optimiser, steps=100)
    nn.init.constant_(net[0].bias, 5.0)
    assert nalm.diagnose(net, (X, Y)) == []
    net[0].bias.data[1] = -50.0
    (found,) = nalm.diagnose(net, (X, Y))
    assert found.name == "input" and found.unit == "2"
    assert "gets input 1 as 0 on the whole batch of 64 rows" in str(found)


def test_a_penalty_that_nothing_applies_is_found():
    (found,) = nalm.diagnose(nn.Sequential(nn.Linear(2, 2), nalm.NMU(2, 1)), X)
    assert found.name == "penalty"
    assert "'1' has the penalty 'weight', which nothing applies. Call nalm.attach" in str(found)


def test_a_penalty_that_begins_after_the_end_of_the_training_is_found():
    net = nn.Sequential(nalm.NMU(2, 1))
    optimiser = torch.optim.Adam(net.parameters())
    nalm.attach(net, optimiser, recipe=Recipe(steps=5_000, penalties=(("weight", Ramp(10, 20_000, 35_000)),)))
    (found,) = nalm.diagnose(net, X)
    assert found.name == "penalty" and "0 up to step 20,000, the training ends at 5,000" in str(found)


def test_weights_beyond_their_bounds_are_found_and_stay_where_they_are():
    net = attached(nalm.NMU(2, 1, generator=seeded()))
    net.handle.remove()
    nn.init.constant_(net[1].weight, 22.3)
    found = nalm.diagnose(net, X)
    assert names(found) == ["penalty", "bounds"] and "weight = 22.3, outside its bounds" in str(found[1])
    assert net[1].weight.min().item() == pytest.approx(22.3)


def test_weights_that_are_still_off_their_grid_at_the_end_are_found():
    net = attached(nalm.NMU(2, 1, generator=seeded()), steps=10)
    assert nalm.diagnose(net, X) == []
    net.optimiser.param_groups[0]["nalm_step"] = 10
    (found,) = nalm.diagnose(net, X)
    assert found.name == "grid" and "away from its grid" in str(found)


@pytest.mark.parametrize(
    ("unit", "parameter", "value"),
    [
        (nalm.INALU, "gate_hat", 30.0),
        (nalm.INALU, "gate_hat", -30.0),
        (nalm.RealNPU, "gate", -0.5),
        (nalm.NALU, "gate", 100.0),
    ],
)
def test_a_gate_without_a_gradient_is_found(unit, parameter, value):
    net = attached(unit(2, 1, generator=seeded(3)))
    if unit is nalm.NALU:  # begins with weights that are saturated
        net[1].assign_({**net[1].weights(), "weight": torch.full((1, 2), 0.75)})
    nn.init.constant_(net[1].get_parameter(parameter), value)
    found = nalm.diagnose(net, (X, Y))
    assert names(found) == ["gate"] and f"fixed at {int(value > 0)}" in str(found[0])


def test_gates_of_a_solved_unit_may_be_fixed():
    assert "gate" not in names(nalm.diagnose(nalm.INALU.solved("add"), (X, Y)))


def test_gradients_that_are_not_finite_are_found():
    net = attached(nalm.NMU(2, 1, generator=seeded()))
    found = nalm.diagnose(net, 1e30 * X)
    assert names(found) == ["gradient"] and "not finite" in str(found[0])
    unit = nalm.NACMul(2, 1, generator=seeded()).double()
    with torch.no_grad():
        unit.w_hat.fill_(9.0), unit.m_hat.fill_(9.0)
    assert "gradient" in names(nalm.diagnose(unit, 1e200 * X.double()))


def test_a_start_at_a_saddle_is_found():
    """With both sums at 0 their product has no slope, and with two equal signs the error is lower."""
    net = nn.Sequential(nalm.NAU(2, 2), nalm.NMU(2, 1).assign_({"weight": torch.ones(1, 2)}))
    nn.init.zeros_(net[0].weight)
    net.optimiser = torch.optim.Adam(net.parameters())
    nalm.attach(net, net.optimiser, steps=100)
    found = nalm.diagnose(net, (X, Y))
    # the product then gets two numbers that are 0
    assert {(fault.name, fault.unit) for fault in found} >= {("saddle", "0"), ("input", "1")}
    assert {fault.name for fault in found} == {"saddle", "input"}
    assert net[0].weight.abs().sum() == 0  # the steps that were tried are taken back
    nn.init.uniform_(net[0].weight, -0.5, 0.5, generator=seeded())
    assert nalm.diagnose(net, (X, Y)) == []


def test_outputs_that_are_wrong_around_units_that_are_right_are_found():
    network = nn.Sequential(nn.Linear(2, 2, bias=False), nalm.NMU.solved("multiply")).eval()
    with torch.no_grad():
        network[0].weight.copy_(torch.eye(2))
    x = torch.rand(64, 2)
    product = x.prod(-1, keepdim=True)
    assert nalm.diagnose(network, (x, product)) == []
    (fault,) = nalm.diagnose(network, (x, 2 * product))
    assert fault.name == "output" and "nalm.distil" in fault.remedy
    assert nalm.diagnose(network.train(), (x, 2 * product)) == []  # the training may go on


def test_a_product_that_ended_with_one_factor_behind_free_layers_is_found():
    network = nn.Sequential(nn.Linear(2, 2), nalm.NMU(2, 1)).eval()
    nn.init.constant_(network[0].bias, 1.0)
    for weights, product in (([1.0, 0.0], "a"), ([0.0, 1.0], "b"), ([0.0, 0.0], "1")):
        network[1].assign_({"weight": torch.tensor([weights])})
        (found, *others) = nalm.diagnose(network, (X, Y))
        assert found.name == "factor" and found.unit == "1" and names(others) in ([], ["output"])
        assert f"(NMU(2, 1)) ended with the product = {product}: the layers before it" in str(found)
        assert "torch.nn.init.ones_(unit.weight)" in found.remedy
        assert names(nalm.diagnose(network, X)) == ["factor"]
    network[1].assign_({"weight": torch.ones(1, 2)})
    assert "factor" not in names(nalm.diagnose(network, (X, Y)))


def test_a_product_of_one_factor_may_be_right():
    alone = nalm.NMU(2, 1).assign_({"weight": torch.tensor([[1.0, 0.0]])}).eval()
    assert nalm.diagnose(alone, X) == []  # no layer before it can have taken over a factor
    network = nn.Sequential(nn.Linear(2, 2), alone)
    assert nalm.diagnose(network, (X, network(X).detach())) == []  # the outputs are right
    assert nalm.diagnose(network.train(), X) == []  # the training may go on
    sums = nn.Sequential(nn.Linear(2, 2), nalm.NAU(2, 1).assign_({"weight": torch.tensor([[1.0, 0.0]])}))
    assert nalm.diagnose(sums.eval(), X) == []


def test_targets_of_an_objective_need_not_have_the_shape_of_the_outputs():
    network = nn.Sequential(nn.Linear(2, 2), nalm.NAU(2, 3)).eval()
    classes = torch.arange(7) % 3

    def objective(model, batch):
        return nn.functional.cross_entropy(model(batch[0]), batch[1])

    assert all(
        fault.name != "output"
        for fault in nalm.diagnose(network, (torch.rand(7, 2), classes), objective=objective)
    )


def test_nothing_of_the_model_is_changed():
    net = nn.Sequential(nn.BatchNorm1d(2), nalm.SNMU(2, 1))
    before = {name: value.clone() for name, value in net.state_dict().items()}
    nalm.diagnose(net, (X, Y))
    for name, value in net.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert all(p.grad is None for p in net.parameters())


def test_a_population_is_refused_with_the_remedy():
    with pytest.raises(nalm.NALMError, match=r"population of \(3,\) runs: take nalm.member"):
        nalm.diagnose(nalm.stack([nalm.NMU(2, 1)] * 3), X)


@pytest.mark.filterwarnings("error")
def test_nothing_is_found_in_a_sum_or_product_unit_that_has_settled():
    """Weights of the path that its gate leaves out do not count; the gate may be where training stops, or set."""
    unit = nalm.NSPU(3, 1)
    unit.assign_({"terms": torch.tensor([[0.7, -0.7, 0.1]]), "power": torch.tensor([[1.0, 1.0, 0.0]])})
    nn.init.constant_(unit.gate_raw, 0.1)
    net = attached(unit)
    x = torch.cat([X, X[:, :1]], -1)
    assert nalm.diagnose(net, (x, Y)) == []
    assert nalm.diagnose(net.eval(), (x, Y)) == []
    unit.assign_({"power": torch.tensor([[1.0, 0.7, 0.0]]), "gate": torch.zeros(1)})
    assert nalm.diagnose(net.train(), (x, Y)) == []  # its weights are not there yet
    (found,) = nalm.diagnose(net.eval(), x)
    assert "(NSPU(3, 1)) does not compute a formula: its weight 'power' is 0.3 away from its grid." in str(
        found
    )
    unit.assign_({"power": torch.tensor([[1.0, 1.0, 0.0]])})
    assert str(nalm.snap(net)[1].formulas()) == "[a*b]"  # without a warning


def test_gates_that_noise_opens_again_are_not_fixed():
    unit = CoefficientUnit(2, 1, form="product", generator=seeded())
    unit.assign_({"power": torch.tensor([[0.5, 0.6]])})
    nn.init.constant_(unit.gate_hat, 3.0)
    net = attached(unit)
    for _ in range(20):
        assert "gate" not in names(nalm.diagnose(net, (X, Y)))
        unit(X)  # the next draw
