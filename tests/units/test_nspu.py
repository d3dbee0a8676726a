"""The sum-or-product unit: what its rows show in turns, and that it learns all four operations with one recipe."""

import pytest
import torch

from nalm import functional as F
from nalm.engine.optim import Adam
from nalm.errors import NALMError
from nalm.losses import paths
from nalm.operations import OPERATIONS
from nalm.population import stack
from nalm.units import NSPU

X = torch.rand(12, 2, generator=torch.Generator().manual_seed(0)) - 0.5


def built(seed=0):
    return NSPU(2, 1, generator=torch.Generator().manual_seed(seed))


def test_rows_show_the_sum_the_magnitude_and_the_mixture_in_turns():
    unit = built()
    y = unit(X)
    s, m = F.linear(X, unit.terms), F.power_product(X, unit.power, of=torch.abs)
    p = m * F.linear(X, unit.power, of=F.angle).cos()
    for turn, shown in enumerate((s, m, 0.5 * s + 0.5 * p)):
        torch.testing.assert_close(y[turn::3], shown[turn::3])


@pytest.mark.parametrize(("turn", "trained"), [(0, "terms"), (1, "power"), (2, "gate_raw")])
def test_each_kind_of_row_trains_its_own_weights(turn, trained):
    unit = built()
    unit(X)[turn::3].sum().backward()
    for name, p in unit.named_parameters():
        assert bool((p.grad != 0).any()) == (name == trained), name


def test_evaluation_and_a_sure_gate_show_the_mixture_alone():
    unit = NSPU.solved("multiply")
    torch.testing.assert_close(unit.train()(X), X.prod(-1, keepdim=True))
    mixed = built().eval()
    s, m = F.linear(X, mixed.terms), F.power_product(X, mixed.power, of=torch.abs)
    p = m * F.linear(X, mixed.power, of=F.angle).cos()
    torch.testing.assert_close(mixed(X), 0.5 * s + 0.5 * p)


def test_projection_puts_weights_near_the_grid_on_it_and_keeps_the_gate_off_its_ends():
    unit = NSPU(4, 1)
    with torch.no_grad():
        unit.terms.copy_(torch.tensor([[0.9995, -1.2, 0.0005, 0.5]]))
        unit.gate_raw.fill_(1.0)
    unit.project()
    assert unit.terms.tolist() == [[1.0, -1.0, 0.0, 0.5]]
    assert unit.gate_raw.item() == pytest.approx(0.9)
    assert unit.weights()["gate"].item() == 1.0  # exactly, so that nothing of the other path is added


@pytest.mark.parametrize("raw", [0.1, 0.9])
def test_a_gate_at_its_end_can_return(raw):
    unit = built()
    with torch.no_grad():
        unit.gate_raw.fill_(raw)
    assert unit.weights()["gate"].item() in (0.0, 1.0)
    unit(X)[2::3].sum().backward()
    assert unit.gate_raw.grad.item() != 0


def test_an_infinite_path_that_is_left_out_does_not_count():
    x = torch.tensor([[0.0, 2.0]])
    unit = NSPU.solved("add")
    unit.assign_({**unit.weights(), "power": torch.tensor([[-1.0, 0.0]])})
    assert unit.eval()(x).item() == 2.0


def test_the_loss_leaves_free_a_shift_of_the_sum_and_a_factor_of_the_magnitude():
    y = torch.tensor([[1.0], [2.0], [3.0], [4.0], [8.0], [6.0]])
    shifted, scaled, wrong = y.clone(), y.clone(), y.clone()
    shifted[0::3] += 5
    scaled[1::3] *= -3
    wrong[2::3] += 1
    assert paths(shifted, y) == 0 and paths(scaled, y) < 1e-12 and paths(wrong, y) > 1
    with pytest.raises(NALMError, match="needs a batch of 6 rows"):
        paths(y[:5], y[:5])


def test_it_learns_the_four_operations_from_the_same_start_and_rate():
    names = ("add", "subtract", "multiply", "divide")
    unit = stack([built(seed) for seed in range(4)])
    draw, adam = torch.Generator().manual_seed(1), Adam()
    params = dict(unit.named_parameters())
    state = {name: [torch.zeros_like(p), torch.zeros_like(p)] for name, p in params.items()}
    for step in range(1_200):  # with 600 the gate of a difference is not settled on every processor
        x = 1 + torch.rand(4, 96, 2, generator=draw)
        y = torch.stack([OPERATIONS[n].formula(*x[i].unbind(-1)) for i, n in enumerate(names)]).unsqueeze(-1)
        gradients = torch.autograd.grad(paths(unit(x), y).sum(), list(params.values()))
        with torch.no_grad():
            rate = torch.full((4,), 2e-2 * (1 - step / 1_200))
            for (name, p), gradient in zip(params.items(), gradients, strict=True):
                change, state[name] = adam(gradient, state[name], rate, torch.tensor(step))
                p -= change
        unit.project()
    weights = unit.weights()
    chosen = torch.where(weights["gate"][:, :, None] > 0.5, weights["terms"], weights["power"])
    assert weights["gate"].flatten().tolist() == pytest.approx([1, 1, 0, 0])
    assert chosen.flatten(1).tolist() == [[1, 1], [1, -1], [1, 1], [1, -1]]


def test_the_formula_by_hand():
    unit = NSPU(2, 1).double().eval()
    weights = {"terms": [[0.5, -0.25]], "power": [[0.5, -1.0]], "gate": [0.75]}
    unit.assign_({name: torch.tensor(w, dtype=torch.float64) for name, w in weights.items()})
    x = torch.tensor([[4.0, 2.0], [4.0, -2.0], [-4.0, 2.0]], dtype=torch.float64)
    sums, products = (1.5, 2.5, -2.5), (1.0, -1.0, 0.0)  # the root of a negative number has the real part 0
    expected = [0.75 * s + 0.25 * p for s, p in zip(sums, products, strict=True)]
    torch.testing.assert_close(unit(x).flatten().tolist(), expected)


@pytest.mark.parametrize("operation", ["add", "divide"])
def test_a_gate_that_was_set_stays_set_in_training(operation):
    unit = NSPU.solved(operation).train()
    optimiser = torch.optim.SGD(unit.parameters(), lr=0.1)
    before = unit(X)
    unit.project()
    assert torch.equal(unit(X), before)
    unit(X).square().sum().backward()
    optimiser.step()
    unit.project()
    assert unit.gate().item() == float(operation == "add") and unit.is_set().all()
    snapped = built()
    with torch.no_grad():
        snapped.gate_raw.fill_(0.1)  # where training stops
    snapped.snap_().project()
    torch.testing.assert_close(snapped(X), snapped.eval()(X))


@pytest.mark.parametrize("raw", [-0.3, 0.0, 1.0, 1.7])
def test_a_step_of_training_beyond_the_ends_does_not_set_the_gate(raw):
    unit = built()
    with torch.no_grad():
        unit.gate_raw.fill_(raw)
    unit.project()
    assert unit.gate_raw.item() == pytest.approx(0.1 if raw < 0.5 else 0.9) and not unit.is_set().any()
    unit(X)[2::3].sum().backward()
    assert unit.gate_raw.grad.item() != 0


def test_a_path_that_is_left_out_may_be_no_number():
    x = torch.tensor([[1.0, torch.inf], [torch.inf, 2.0], [6.0, 3.0]])
    assert NSPU.solved("divide").eval()(x).flatten().tolist() == [0.0, torch.inf, 2.0]
    huge = torch.full((1, 2), 2e38)
    unit = NSPU(2, 1).assign_({"terms": torch.ones(1, 2), "power": torch.tensor([[1.0, -1.0]])})
    assert unit.assign_({"gate": torch.zeros(1)}).eval()(huge).item() == pytest.approx(1.0)


@pytest.mark.parametrize("training", [False, True])
def test_a_path_that_is_left_out_has_no_gradient(training):
    unit = NSPU(2, 1, eps=0).train(training)
    unit.assign_({"terms": torch.tensor([[1.0, 1.0]]), "power": torch.tensor([[-1.0, 0.5]])})
    unit.assign_({"gate": torch.ones(1)})
    x = torch.tensor([[0.0, 2.0]], requires_grad=True)
    unit(x).backward()
    assert x.grad.tolist() == [[1.0, 1.0]] and unit.terms.grad.tolist() == [[0.0, 2.0]]
    assert unit.power.grad.tolist() == [[0.0, 0.0]] and unit.gate_raw.grad.item() == 0


def test_turns_are_counted_along_the_last_axis_of_the_batch():
    unit, x = built(), torch.rand(3, 10, 2, generator=torch.Generator().manual_seed(1)) + 1
    torch.testing.assert_close(unit(x), torch.stack([unit(rows) for rows in x]))
    y = x.prod(-1, keepdim=True)
    with torch.no_grad():  # the sum is far off, the product exact, and the gate at the product
        unit.terms.fill_(0.0), unit.power.fill_(1.0), unit.gate_raw.fill_(0.1)
    torch.testing.assert_close(paths(unit(x), y), torch.ones(3))
    population = stack([unit, built()])
    torch.testing.assert_close(population(torch.stack([x, x]))[0], unit(x))
    assert unit(x[0, 0]).shape == (1,) and unit(x[:0]).shape == (0, 10, 1)


def test_a_part_of_the_weights_can_be_assigned():
    unit = built()
    gate = unit.gate_raw.item()
    unit.assign_({"terms": torch.ones(1, 2)})
    assert unit.terms.tolist() == [[1.0, 1.0]] and unit.gate_raw.item() == gate
    unit.assign_({"gate": torch.ones(1)})
    assert unit.weights()["gate"].item() == 1.0 and unit.terms.tolist() == [[1.0, 1.0]]


def test_weights_of_the_path_that_is_left_out_do_not_count():
    unit = NSPU(3, 1).assign_({"terms": torch.full((1, 3), 0.7), "power": torch.tensor([[1.0, -1.0, 0.0]])})
    for gate, solved in ((0.0, True), (0.5, False), (1.0, False)):
        unit.assign_({"gate": torch.full((1,), gate)})
        assert unit.is_solved() == solved
    unit.assign_({"terms": torch.ones(1, 3), "power": torch.full((1, 3), 0.3)})
    assert unit.is_solved()


@pytest.mark.parametrize("training", [False, True])
def test_compiled_populations_compute_the_same(training):
    members = [built(0), NSPU.solved("divide"), NSPU.solved("add")]
    for unit in members:
        unit.eps = NSPU.paper_eps
    population = stack(members).train(training)
    x = X.expand(3, 12, 2)
    compiled = torch.compile(population, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), torch.stack([unit.train(training)(X) for unit in members]))
