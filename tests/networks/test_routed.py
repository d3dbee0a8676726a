"""Selectors for `beyond/selection`: gradients of choices for every row, and experts that are judged one by one."""

import pytest
import sympy
import torch

from nalm import engine
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.losses import asinh, experts
from nalm.networks import ExpertSelector, FrozenSelector, RoutedSelector, Selector
from nalm.networks.routed import agreeing
from nalm.networks.selection import gumbel, one_hot
from nalm.networks.selector import OPERATIONS

LETTERS = sympy.symbols("a b c d")
X = torch.linspace(1, 2, 32).reshape(8, 4)


def generator():
    return torch.Generator().manual_seed(0)


def test_noise_that_agrees_with_a_choice_keeps_it_and_has_the_right_distribution():
    logits, n = torch.tensor([0.3, -1.0, 1.2]), 100_000
    uniform = torch.rand(2, n, 3, generator=generator()).clamp(1e-7, 1 - 1e-7)
    hard = one_hot(logits + gumbel(uniform[0]))
    noise = agreeing(logits, hard, uniform[1])
    assert torch.equal(one_hot(logits + noise), hard)
    # over all choices it is plain Gumbel noise: mean 0.5772 and variance 1.6449
    torch.testing.assert_close(noise.mean(0), torch.full((3,), 0.5772), atol=0.03, rtol=0)
    torch.testing.assert_close(noise.var(0), torch.full((3,), 1.6449), atol=0.06, rtol=0)


def gradients(kind, draws=80):
    network = RoutedSelector(4, 1, gradient=kind, generator=generator())
    y = (X[:, :1] + X[:, 1:2]) * X[:, 2:3]
    found = []
    for _ in range(draws):
        network.zero_grad()
        (network(X).clamp(-5, 5) - y).square().mean().backward()
        found.append(network.choice_hat.grad[-1].clone())
    return torch.stack(found)


def test_averaged_gradients_have_less_variance():
    straight, rao = gradients("straight"), gradients("rao")
    assert rao.var(0).sum() < straight.var(0).sum()
    assert straight.abs().sum() > 0 and rao.isfinite().all()


def test_rows_choose_for_themselves_in_training_and_agree_in_evaluation():
    same = torch.tensor([[1.1, 1.4, 1.9, 1.2]]).expand(64, 4)
    network = RoutedSelector(4, 1, generator=generator())
    assert network(same).unique().numel() > 4
    assert network.eval()(same).unique().numel() == 1
    soft = RoutedSelector(4, 1, gradient="soft", generator=generator())
    assert soft(same).unique().numel() == 1


def test_the_entropy_is_largest_for_equal_logits_and_0_for_sure_ones():
    network = RoutedSelector(4, 1)
    with torch.no_grad():
        network.choice_hat.zero_()
        network.mask_hat.zero_()
        largest = float(network.penalties()["entropy"].detach())
        network.choice_hat[..., 0] = 100
        network.mask_hat[..., 1] = 100
    assert largest == pytest.approx((2 + 2 * 6) * torch.log(torch.tensor(4.0)).item())
    assert float(network.penalties()["entropy"].detach()) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("kind", ["straight", "rao", "soft"])
def test_data_with_zeros_leave_every_parameter_a_number(kind):
    network = RoutedSelector(3, 1, gradient=kind, generator=generator())
    optimiser, source = torch.optim.Adam(network.parameters(), lr=1e-2), generator()
    for _ in range(100):
        x = torch.randint(0, 5, (128, 3), generator=source).float()
        optimiser.zero_grad()
        asinh(network(x), (x[:, :1] + x[:, 1:2]) * x[:, 2:]).backward()
        optimiser.step()
    assert all(p.isfinite().all() for p in network.parameters())


@pytest.mark.parametrize("size", [110.0, -110.0])
def test_large_logits_have_gradients_too(size):
    network = RoutedSelector(4, 1, gradient="rao", generator=generator())
    with torch.no_grad():
        network.choice_hat.fill_(size)
        network.mask_hat[..., 1:].fill_(size)
    network(X).sum().backward()
    assert all(p.grad.isfinite().all() for p in network.parameters() if p.grad is not None)
    assert network.choice_hat.grad.any()


def routed(choice, *seen):
    """A selector of one step with this operation; ``seen`` has the operation that sees each input."""
    network = RoutedSelector(len(seen), 1, steps=1)
    mask = torch.zeros(1, len(seen) + 1, 4)
    mask[0, range(len(seen)), seen] = 5
    return network.assign_({"choice": 5 * torch.eye(4)[None, choice], "mask": mask}).eval()


def expert(names, seen):
    """A selector whose likeliest expert has these operations, each on the inputs at these places."""
    steps = len(names)
    network = ExpertSelector(1 + max(map(max, seen)), 1, steps=steps)
    best = network.operations.index(tuple(map(OPERATIONS.index, names)))
    given = {n: torch.zeros_like(w) for n, w in network.weights().items()}
    for t, places in enumerate(seen):
        given["mask"][best, t, places] = 1
    given["choice"][best] = 1
    return network.assign_(given).eval()


@pytest.mark.parametrize("network", [expert(["mul"], [[0, 1]]), routed(2, 2, 2)])
def test_small_factors_are_not_lost(network):
    x = torch.tensor([[1e-8, 1e8], [3e-6, 1e6], [1e-4, 1e4]])
    assert str(network.formulas()[0]) == "a*b"
    torch.testing.assert_close(network(x), torch.tensor([[1.0], [3.0], [1.0]]), rtol=1e-6, atol=0)


def test_small_divisors_are_not_lost():
    x = torch.tensor([[1e-6, 3.0], [3e-5, 1e5]])
    torch.testing.assert_close(routed(3, 3, 3)(x), 1 / x.prod(-1, keepdim=True), rtol=1e-6, atol=0)


def test_an_operation_or_an_input_that_is_not_chosen_may_overflow():
    network = RoutedSelector(3, 1, steps=2)
    mask, choice = torch.zeros(2, 5, 4), torch.zeros(2, 4)
    mask[0, 1:3, 2] = mask[:, 0, 0] = mask[1, 1:, 2] = 5  # a is added, all others are multiplied
    choice[0, 2] = choice[1, 0] = 5
    network.assign_({"choice": choice, "mask": mask}).eval()
    assert network.text(LETTERS[:3]) == "s1 = b*c; a"
    x = torch.tensor([[7.0, 3e20, 3e20]])
    assert network(x).item() == 7
    assert routed(0, 0, 2, 2)(x).item() == 7
    assert routed(2, 2, 3, 3)(x).item() == 7
    assert expert(("mul", "add"), ([1, 2], [0]))(x).item() == 7
    assert routed(0, 0, 0)(torch.tensor([[1.0, float("inf")]])).item() == float("inf")


def solved():
    """An expert selector whose last expert but five computes 1/((a + b)*c)."""
    network = ExpertSelector(4, 1, generator=generator())
    best = network.operations.index((0, 3))
    mask, line = torch.zeros(16, 2, 4), torch.zeros(16, 2, 2)
    mask[best, 0, :2] = mask[best, 1, 2] = line[best, 1, 0] = 1
    choice = torch.zeros(16)
    choice[best] = 1
    return network.assign_({"mask": mask, "line": line, "choice": choice}), best


def test_the_likeliest_expert_computes_its_formula():
    network, best = solved()
    truth = 1 / ((X[:, 0] + X[:, 1]) * X[:, 2])
    assert network.text(LETTERS) == "s1 = a + b; 1/(c*s1)"
    torch.testing.assert_close(network(X)[:, best], truth)
    torch.testing.assert_close(network.eval()(X)[:, 0], truth)
    negative = X * torch.tensor([-1.0, -1.0, 1.0, 1.0])
    torch.testing.assert_close(network(negative)[:, 0], -truth)
    torch.testing.assert_close(network.train()(negative)[:, best], -truth)
    assert float(network.penalties()["weight"].detach()) == pytest.approx(4)


def test_only_the_gate_learns_from_shares_and_every_expert_from_its_own_error():
    network, best = solved()
    y = (1 / ((X[:, 0] + X[:, 1]) * X[:, 2])).unsqueeze(-1)
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    with torch.no_grad():
        network.gate_hat.zero_()
        network.mask_hat.copy_(torch.randn(network.mask_hat.shape, generator=generator()))
        network.mask_hat[best], network.line_hat[best] = before["mask_hat"][best], before["line_hat"][best]
    values, shares = network(X).chunk(2, -1)
    experts(torch.cat([values, shares.detach()], -1), y).backward(retain_graph=True)
    alone = network.mask_hat.grad.clone()
    assert not network.gate_hat.grad.any() and (alone.flatten(1).abs().sum(-1)[: best - 1] > 0).all()
    network.zero_grad()
    experts(torch.cat([values, shares], -1), y).backward()
    torch.testing.assert_close(network.mask_hat.grad, alone)
    assert int(network.gate_hat.grad.argmin()) == best  # descent raises the share of the exact expert


def test_the_loss_of_experts_refuses_other_predictions():
    with pytest.raises(NALMError, match="ExpertSelector"):
        experts(torch.ones(4, 3), torch.ones(4, 1))


@pytest.mark.parametrize(
    ("kind", "options", "word"),
    [
        (RoutedSelector, {"gradient": "hard"}, "straight"),
        (ExpertSelector, {"copies": 0}, "copies=0"),
        (ExpertSelector, {"steps": 0}, "at least one step"),
        (ExpertSelector, {"copies": "2"}, "copies='2'"),
        (ExpertSelector, {"steps": "2"}, "steps='2'"),
        (RoutedSelector, {"steps": 1.5}, "steps=1.5"),
        (FrozenSelector, {"steps": True}, "steps=True"),
    ],
)
def test_what_makes_no_selector_is_refused(kind, options, word):
    with pytest.raises(NALMError, match=word):
        kind(4, 1, **options)


@pytest.mark.parametrize("kind", [Selector, FrozenSelector, RoutedSelector, ExpertSelector])
def test_a_weight_that_no_selector_has_is_refused(kind):
    with pytest.raises(NALMError, match=r"'chioce'\. Did you mean 'choice'"):
        kind(4, 1).assign_({"chioce": torch.zeros(2, 4)})


@pytest.mark.slow
def test_experts_learn_compositions_that_the_frozen_selector_does_not():
    cases = [c for c in EXPERIMENTS["beyond/selection"].cases if dict(c.model[0].options).get("copies") == 1]
    chosen = [c for c in cases if c.operation in ("add-mul", "sub-div", "div-add", "mul-sub")]
    runs = engine.train(chosen, 4)
    assert runs.solved.sum() >= 13
