"""``attach`` with recipes, populations, frozen units and mistakes."""

import copy

import pytest
import torch
from torch import nn

import nalm
from nalm.config import Growth, Ramp, Recipe
from nalm.networks.attachment import stretched

X = torch.rand(32, 3, generator=torch.Generator().manual_seed(0)) + 0.5
Y = (X[:, :1] * X[:, 1:2]).detach()
CONSTANT = Recipe(penalties=(("weight", Ramp(0.5)),))  # the same weight from the first step on


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 3), nalm.NAU(3, 2), nalm.NMU(2, 1))


def fit(net, optimiser, steps=5):
    for _ in range(steps):
        optimiser.zero_grad()
        (net(X) - Y).square().mean().backward()
        optimiser.step()
    return net


def same(one, two):
    for (name, a), b in zip(one.state_dict().items(), two.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, msg=name)


def test_every_run_of_a_population_trains_as_it_would_alone():
    members = [nn.Sequential(nalm.NAU(3, 2), nalm.NMRU(2, 1)) for _ in range(3)]
    runs = nalm.stack(copy.deepcopy(members))
    recipe = CONSTANT.replace(clip_norm=0.05, clip_value=0.04)
    optimiser = torch.optim.SGD(runs.parameters(), lr=0.1)
    nalm.attach(runs, optimiser, recipe=recipe)
    for _ in range(4):
        optimiser.zero_grad()
        (runs(X.expand(3, -1, -1)) - Y).square().mean((-2, -1)).sum().backward()
        optimiser.step()
    for k, one in enumerate(members):
        alone = torch.optim.SGD(one.parameters(), lr=0.1)
        nalm.attach(one, alone, recipe=recipe)
        same(nalm.member(runs, k), fit(one, alone, 4))


def test_a_recipe_brings_its_l1_l2_and_bounds_of_the_gradient():
    net = nalm.RealNPU(2, 1, generator=torch.Generator().manual_seed(0))
    optimiser = torch.optim.SGD(net.parameters(), lr=1.0)
    nalm.attach(net, optimiser, recipe=Recipe(l1=Growth(0.01, 0.01), l2=Growth(0.1, 0.1)))
    before = {n: p.detach().clone() for n, p in net.named_parameters()}
    optimiser.step()
    for name, p in net.named_parameters():
        expected = before[name] - 0.01 * before[name].sign() - 0.1 * before[name] / before[name].norm()
        torch.testing.assert_close(p.detach(), expected)
    (net(torch.full((4, 2), 100.0)).sum()).backward()
    optimiser.param_groups[0]["lr"] = 0.0
    clipped = nalm.NMRU(2, 1)
    own = torch.optim.SGD(clipped.parameters(), lr=0.0)
    nalm.attach(clipped, own, steps=10)  # clips at 1, as published
    (1e6 * clipped(torch.full((4, 2), 3.0)).sum()).backward()
    own.step()
    assert clipped.weight.grad.norm() == pytest.approx(1, rel=1e-3)


def test_ramps_and_growths_keep_their_place_in_a_training_of_another_length():
    recipe = Recipe(steps=50_000, l1=Growth(1e-9, 1e-7), penalties=(("weight", Ramp(10, 20_000, 35_000)),))
    short = stretched(recipe, 500)
    assert short.steps == 500 and short.l1.every == 100
    assert short.penalties[0][1] == Ramp(10, 200, 350)
    assert stretched(recipe, 50_000) == recipe


def test_frozen_units_are_left_alone():
    net = network()
    net[1].requires_grad_(False)
    optimiser = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
    nalm.attach(net, optimiser, recipe=CONSTANT)
    before = net[1].weight.clone()
    fit(net, optimiser)
    assert torch.equal(net[1].weight, before)


def test_mistakes_are_named_in_one_sentence():
    net = network()
    optimiser = torch.optim.SGD(net[0].parameters(), lr=0.1)
    with pytest.raises(
        nalm.NALMError, match=r"does not have the parameter 'weight' of unit '1' \(NAU\(3, 2\)\)"
    ):
        nalm.attach(net, optimiser, steps=10)
    whole = torch.optim.SGD(net.parameters(), lr=0.1)
    for arguments, said in (
        ({}, r"needs steps="),
        ({"steps": 0}, r"at least one step, got steps=0"),
        (
            {"recipe": Recipe(penalties=(("gate", Ramp(1)),))},
            r"No unit .* penalty 'gate' .* They have: weight",
        ),
    ):
        with pytest.raises(nalm.NALMError, match=said):
            nalm.attach(net, whole, **arguments)
    with pytest.raises(nalm.NALMError, match=r"an optimiser of torch.optim, got list"):
        nalm.attach(net, [1], steps=10)
    with pytest.raises(nalm.NALMError, match=r"Sequential holds no unit"):
        nalm.attach(nn.Sequential(net[0]), whole, steps=10)
    nalm.attach(net, whole, steps=10)
    with pytest.raises(nalm.NALMError, match=r"attached to a unit of the model already"):
        nalm.attach(net, whole, steps=10)
