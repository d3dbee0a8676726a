"""``attach``: penalties before and projection after each step of any optimiser, in any kind of training loop."""

import gc
import io
import weakref

import pytest
import torch
from torch import nn

import nalm
from nalm.config import Ramp, Recipe
from nalm.networks.attachment import attachment_of

X = torch.rand(32, 3, generator=torch.Generator().manual_seed(0)) + 0.5
Y = (X[:, :1] * X[:, 1:2]).detach()
CONSTANT = Recipe(penalties=(("weight", Ramp(0.5)),))  # the same weight from the first step on


def network() -> nn.Sequential:
    generator = torch.Generator().manual_seed(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        return nn.Sequential(
            nn.Linear(3, 3), nalm.NAU(3, 2, generator=generator), nalm.NMU(2, 1, generator=generator)
        )


def fit(net, optimiser, steps=5, each=lambda loss: None):
    for _ in range(steps):
        optimiser.zero_grad()
        loss = (net(X) - Y).square().mean()
        loss.backward()
        optimiser.step()
        each(loss)
    return net


def by_hand(optimiser_of, steps=5, weight=0.5):
    """The loop that everybody would write: penalties in the loss, projection after the step."""
    net = network()
    optimiser = optimiser_of(net.parameters())
    for _ in range(steps):
        optimiser.zero_grad()
        ((net(X) - Y).square().mean() + weight * nalm.penalties(net)["weight"]).backward()
        optimiser.step()
        nalm.project(net)
    return net


def same(one, two):
    for (name, a), b in zip(one.state_dict().items(), two.state_dict().values(), strict=True):
        torch.testing.assert_close(a, b, msg=name)


OPTIMISERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.5, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "fused": lambda p: torch.optim.AdamW(p, lr=0.1, fused=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.05),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_it_does_what_one_would_write_by_hand(name):
    net = network()
    optimiser = OPTIMISERS[name](net.parameters())
    nalm.attach(net, optimiser, recipe=CONSTANT)
    same(fit(net, optimiser), by_hand(OPTIMISERS[name]))
    assert net[2].weight.min() >= 0 and net[2].weight.max() <= 1


def test_the_user_s_loss_and_learning_rates_stay_theirs():
    net, seen = network(), []
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 5)
    nalm.attach(net, optimiser, recipe=CONSTANT)

    def each(loss):
        seen.append(loss.item())
        schedule.step()

    first = float((network()(X) - Y).square().mean().detach())
    fit(net, optimiser, each=each)
    assert seen[0] == pytest.approx(first)
    assert optimiser.param_groups[0]["lr"] == pytest.approx(0)


def test_the_published_weight_grows_between_forty_and_seventy_percent_of_the_training():
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01)
    handle = nalm.attach(net, optimiser, steps=10)
    seen = []
    fit(net, optimiser, 10, each=lambda loss: seen.append(handle.weights()["2"]["weight"]))
    assert handle.step == 10
    assert seen == pytest.approx([0, 0, 0, 0, 10 / 3, 20 / 3, 10, 10, 10, 10])


def test_accumulated_gradients_get_the_penalty_once_per_step():
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
    nalm.attach(net, optimiser, recipe=CONSTANT)
    for _ in range(5):
        optimiser.zero_grad()
        for half in (slice(0, 16), slice(16, 32)):
            ((net(X[half]) - Y[half]).square().mean() / 2).backward()
        optimiser.step()
    same(net, by_hand(OPTIMISERS["sgd"]))


@pytest.mark.parametrize("fused", [False, True])
def test_a_gradient_scaler_does_not_scale_the_penalty(fused):
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9, fused=fused)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    recipe = CONSTANT.replace(clip_norm=0.3)
    handle = nalm.attach(net, optimiser, recipe=recipe)
    other = network()
    plain = torch.optim.SGD(other.parameters(), lr=0.5, momentum=0.9)
    nalm.attach(other, plain, recipe=recipe)
    for _ in range(5):
        optimiser.zero_grad()
        scaler.scale((net(X) - Y).square().mean()).backward()
        scaler.step(optimiser)
        scaler.update()
    same(net, fit(other, plain))
    assert handle.step == 5


def test_a_step_that_the_scaler_skips_is_not_counted():
    net = network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.5)
    handle, scaler = nalm.attach(net, optimiser, steps=10), torch.amp.GradScaler("cpu")
    scaler.scale((net(X) * float("inf")).mean()).backward()
    scaler.step(optimiser)
    assert handle.step == 0


def test_a_closure_is_penalised_at_every_call_also_with_a_line_search():
    net, other = network(), network()
    options = {"lr": 1, "max_iter": 10, "line_search_fn": "strong_wolfe"}
    optimiser = torch.optim.LBFGS(net.parameters(), **options)
    plain = torch.optim.LBFGS(other.parameters(), **options)
    nalm.attach(net, optimiser, recipe=CONSTANT)

    def closure(model, own, weight):
        def call():
            own.zero_grad()
            loss = (model(X) - Y).square().mean()
            loss = loss + weight * nalm.penalties(model)["weight"] if weight else loss
            loss.backward()
            return loss

        return call

    for _ in range(3):
        optimiser.step(closure(net, optimiser, 0))
        plain.step(closure(other, plain, 0.5))
        nalm.project(other)
    same(net, other)


@pytest.mark.parametrize("attached_first", [True, False])
def test_the_count_of_steps_is_saved_and_restored_with_the_optimiser(attached_first):
    recipe = Recipe(steps=8, penalties=(("weight", Ramp(1, 2, 6)),))
    net = network()
    optimiser = torch.optim.Adam(net.parameters(), lr=0.05)
    nalm.attach(net, optimiser, recipe=recipe)
    fit(net, optimiser, 4)
    file = io.BytesIO()
    torch.save({"model": net.state_dict(), "optimiser": optimiser.state_dict()}, file)
    whole = fit(net, optimiser, 4)

    again = network()
    other = torch.optim.Adam(again.parameters(), lr=0.05)
    file.seek(0)
    saved = torch.load(file, weights_only=True)
    again.load_state_dict(saved["model"])
    handle = nalm.attach(again, other, recipe=recipe) if attached_first else None
    other.load_state_dict(saved["optimiser"])
    handle = handle or nalm.attach(again, other, recipe=recipe)
    assert handle.step == 4
    same(fit(again, other, 4), whole)


def test_removing_it_leaves_a_plain_optimiser():
    net, plain = network(), network()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    handle = nalm.attach(net, optimiser, recipe=CONSTANT)
    handle.remove()
    same(fit(net, optimiser), fit(plain, torch.optim.SGD(plain.parameters(), lr=0.1)))
    assert attachment_of(net[1]) is None
    nalm.attach(net, optimiser, steps=10)  # and it can be attached again


def test_a_model_and_its_optimiser_are_not_kept_alive():
    net = network()
    nalm.attach(net, torch.optim.SGD(net.parameters(), lr=0.1), steps=10)
    gone = weakref.ref(net[1])
    del net
    gc.collect()
    assert gone() is None


def test_it_finds_units_in_compiled_modules():
    net, plain = network(), network()
    compiled = torch.compile(net, backend="eager")
    optimiser = torch.optim.SGD(compiled.parameters(), lr=0.1)
    nalm.attach(compiled, optimiser, recipe=CONSTANT)
    other = torch.optim.SGD(plain.parameters(), lr=0.1)
    nalm.attach(plain, other, recipe=CONSTANT)
    fit(compiled, optimiser)
    same(net, fit(plain, other))
