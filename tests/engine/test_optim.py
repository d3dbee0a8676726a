"""Optimisers over populations, against torch.optim on each member alone."""

import math

import pytest
import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from nalm import draws
from nalm.engine import optim
from nalm.errors import NALMError

RUNS, STEPS = 4, 200
INFINITE = float("inf")
ADAM = {"mean": "exp_avg", "square": "exp_avg_sq"}
KINDS = {  # ours; torch's, the names of its state, and its learning rates
    "adam": (("adam",), torch.optim.Adam, {}, ADAM, (1e-3, 1e-2, 0.1, 0.0)),
    "sgd": (("sgd",), torch.optim.SGD, {}, {}, (1e-3, 1e-2, 0.05, 0.0)),
    "momentum": (
        ("sgd", 0.9),
        torch.optim.SGD,
        {"momentum": 0.9},
        {"velocity": "momentum_buffer"},
        (1e-3, 5e-3, 0.01, 0.0),
    ),
    "rmsprop": (("rmsprop",), torch.optim.RMSprop, {}, {"square": "square_avg"}, (1e-4, 1e-3, 1e-2, 0.0)),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
both_precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def start(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    return {"w": random(RUNS, 3, 2, seed=1, dtype=dtype), "b": random(RUNS, 3, seed=2, dtype=dtype)}


def gradients(
    parameters: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor
) -> dict[str, torch.Tensor]:
    """Of a small nonlinear problem that every run has for itself: tanh units against a product."""
    leaves = {name: p.detach().requires_grad_() for name, p in parameters.items()}
    hidden = torch.tanh(torch.einsum("rbi,roi->rbo", x, leaves["w"]) + leaves["b"].unsqueeze(-2))
    error = (hidden.sum(-1) - y) ** 2
    made = torch.autograd.grad(error.mean(-1).sum(), list(leaves.values()))
    return dict(zip(leaves, made, strict=True))


def step_of(number: int) -> torch.Tensor:
    return torch.tensor(number, dtype=torch.int32)


def key_of(*seeds: int) -> torch.Tensor:
    return draws.keys(seeds, "gradient")


# -- optimisers --------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize(
    ("dtype", "rtol", "small"), [(torch.float64, 1e-10, 1e-13), (torch.float32, 1e-4, 1e-6)], ids=str
)
def test_a_population_moves_as_torch_moves_each_member(kind, dtype, rtol, small):
    arguments, reference, options, names, rates = KINDS[kind]
    ours = optim.optimiser(*arguments)
    assert ours.slots == tuple(names)
    x = random(RUNS, 16, 2, seed=3, dtype=dtype)
    y = x.prod(-1)
    lr = torch.tensor(rates, dtype=dtype)
    moving = start(dtype)
    state = {name: [torch.zeros_like(p) for _ in ours.slots] for name, p in moving.items()}
    for step in range(STEPS):
        for name, gradient in gradients(moving, x, y).items():
            change, state[name] = ours(gradient, state[name], lr, step_of(step))
            moving[name] = moving[name] - change
    for run in range(RUNS):
        alone = {name: torch.nn.Parameter(p[[run]].clone()) for name, p in start(dtype).items()}
        theirs = reference(alone.values(), lr=rates[run], **options)
        for _ in range(STEPS):
            for name, gradient in gradients(alone, x[[run]], y[[run]]).items():
                alone[name].grad = gradient
            theirs.step()
        for name, p in alone.items():
            assert moving[name].dtype == dtype
            torch.testing.assert_close(moving[name][[run]], p.detach(), rtol=rtol, atol=small)
            for mine, name_there in zip(state[name], names.values(), strict=True):
                there = theirs.state[p][name_there]
                torch.testing.assert_close(mine[[run]], there, rtol=10 * rtol, atol=small)
        still = torch.allclose(moving["w"][run], start(dtype)["w"][run], rtol=0, atol=1e-2)
        assert still == (rates[run] == 0), "the comparison means something only if runs move"


@every_kind
def test_a_broken_run_leaves_the_others_as_they_were(kind):
    ours = optim.optimiser(*KINDS[kind][0])
    lr = torch.tensor([0.1, 0.2, 0.3, 0.4])
    gradient = random(RUNS, 3, 5, dtype=torch.float32)
    for bad in (math.nan, math.inf):
        sound = [torch.zeros_like(gradient) for _ in ours.slots]
        broken = [s.clone() for s in sound]
        for step in range(3):
            hurt = gradient.clone()
            hurt[1, 0, 0] = bad
            expected, sound = ours(gradient, sound, lr, step_of(step))
            change, broken = ours(hurt, broken, lr, step_of(step))
            for mine, theirs in zip([change, *broken], [expected, *sound], strict=True):
                assert mine[[0, 2, 3]].equal(theirs[[0, 2, 3]])
            assert not change[1, 0, 0].isfinite() or (kind in ("adam", "rmsprop") and bad == math.inf)


@every_kind
def test_an_update_changes_neither_the_gradient_nor_the_old_state(kind):
    ours = optim.optimiser(*KINDS[kind][0])
    gradient, state = random(RUNS, 5), [random(RUNS, 5, seed=7 + i).abs() for i in range(len(ours.slots))]
    before = [gradient.clone(), *(s.clone() for s in state)]
    change, new = ours(gradient, state, torch.full((RUNS,), 0.1), step_of(3))
    assert all(a.equal(b) for a, b in zip(before, [gradient, *state], strict=True))
    assert len(new) == len(state) and not any(a.equal(b) for a, b in zip(new, state, strict=True))
    assert change.shape == gradient.shape


def test_an_unknown_optimiser_is_an_error_that_suggests_one():
    with pytest.raises(NALMError, match=r"no optimiser called 'adm'\. Did you mean 'adam'\?"):
        optim.optimiser("adm")


# -- the learning rate -------------------------------------------------------------------------


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 3e-7), (torch.float64, 1e-12)], ids=str)
@pytest.mark.parametrize("steps", [7, 200])
def test_the_cosine_is_torchs_for_each_run(steps, dtype, close):
    rates = [1e-3, 0.1, 2.0]
    lr = torch.tensor(rates, dtype=dtype)
    for run, rate in enumerate(rates):
        parameter = torch.nn.Parameter(torch.zeros(1))
        theirs = torch.optim.SGD([parameter], lr=rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(theirs, steps)
        for step in range(steps + 1):
            ours = optim.cosine(lr, step_of(step), steps)
            assert ours.shape == lr.shape and ours.dtype == dtype
            assert ours[run].item() == pytest.approx(schedule.get_last_lr()[0], rel=0, abs=close * rate)
            theirs.step()
            schedule.step()


# -- clipping ----------------------------------------------------------------------------------


def clipped_by_torch(clip, given: dict[str, torch.Tensor], run: int, limit: float) -> dict[str, torch.Tensor]:
    parameters = {name: torch.nn.Parameter(torch.zeros_like(g[run])) for name, g in given.items()}
    for name, p in parameters.items():
        p.grad = given[name][run].clone()
    clip(parameters.values(), limit)
    return {name: p.grad for name, p in parameters.items()}


@pytest.mark.parametrize(
    ("ours", "theirs"), [(optim.clip_norm, clip_grad_norm_), (optim.clip_value, clip_grad_value_)]
)
@both_precisions
def test_each_run_is_clipped_as_torch_clips_it_alone(ours, theirs, dtype):
    limits = [0.01, 0.5, 1.0, 3.0, 100.0, INFINITE]
    given = {"w": random(6, 3, 2, seed=4, dtype=dtype), "b": random(6, 4, seed=5, dtype=dtype)}
    given["w"][2] = given["b"][2] = 0.0
    made = ours(given, torch.tensor(limits, dtype=dtype))
    rtol = 1e-12 if dtype == torch.float64 else 1e-6
    for run, limit in enumerate(limits):
        for name, expected in clipped_by_torch(theirs, given, run, limit).items():
            torch.testing.assert_close(made[name][run], expected, rtol=rtol, atol=0)
        same = all(made[name][run].equal(given[name][run]) for name in given)
        assert same == (run in (2, 4, 5) or (run == 3 and ours is optim.clip_value)), limit


def test_the_norm_is_over_all_parameters_of_a_run():
    given = {"w": torch.tensor([[3.0], [0.3]]), "b": torch.tensor([[[4.0]], [[0.4]]])}
    made = optim.clip_norm(given, torch.tensor([1.0, 1.0]))
    assert [made["w"][0].item(), made["b"][0].item()] == pytest.approx([0.6, 0.8], rel=1e-6)
    assert made["w"][1].equal(given["w"][1]) and made["b"][1].equal(given["b"][1])


def test_an_infinite_limit_leaves_a_gradient_whose_square_overflows():
    given = {"w": torch.tensor([[1e20, -1e19], [3.0, -4.0]])}
    made = optim.clip_norm(given, torch.tensor([INFINITE, 1.0]))["w"]
    assert made[0].equal(given["w"][0]) and made[1].tolist() == pytest.approx([0.6, -0.8], rel=1e-6)


def noise(given: dict[str, torch.Tensor], eta: torch.Tensor) -> dict[str, torch.Tensor]:
    return optim.noisy(given, eta, key_of(*range(len(eta))), step_of(3))


@pytest.mark.parametrize("change", [optim.clip_norm, optim.clip_value, noise])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_broken_gradient_leaves_the_gradients_of_other_runs_as_they_were(change, bad):
    given = {"w": random(RUNS, 3, 2, dtype=torch.float32), "b": random(RUNS, 4, dtype=torch.float32)}
    hurt = {name: g.clone() for name, g in given.items()}
    hurt["b"][1, 2] = bad
    limits = torch.tensor([0.1, 0.1, 0.5, INFINITE if change is not noise else 2.0])
    expected, made = change(given, limits), change(hurt, limits)
    assert all(made[name][[0, 2, 3]].equal(expected[name][[0, 2, 3]]) for name in given)
    assert math.isnan(bad) == bool(made["b"][1, 2].isnan()) or change is optim.clip_norm


# -- gradient noise ----------------------------------------------------------------------------

N = 40_000


@pytest.mark.parametrize("step", [0, 1, 9, 999, 49_999])
@both_precisions
def test_the_noise_is_normal_with_the_annealed_variance(step, dtype):
    eta = torch.tensor([0.01, 1.0, 10.0], dtype=dtype)
    given = {"w": torch.full((3, 4, N // 4), 2.0, dtype=dtype)}
    made = optim.noisy(given, eta, key_of(0, 1, 2), step_of(step))["w"]
    assert made.dtype == dtype
    deviation = (eta.double() / (1 + step) ** 0.55).sqrt()[:, None]
    scaled = (made.double() - 2).flatten(1) / deviation
    assert (scaled.mean(-1).abs() < 4 / math.sqrt(N)).all()
    assert ((scaled.var(-1) - 1).abs() < 4 * math.sqrt(2 / N)).all()
    assert ((scaled.abs() < 1).double().mean(-1) - 0.6827).abs().max() < 4 * math.sqrt(0.2166 / N)


def test_no_two_runs_steps_or_parameters_share_their_noise():
    given, eta = {"w": torch.zeros(2, N), "b": torch.zeros(2, N)}, torch.ones(2)
    streams = []
    for step in (0, 1):
        for made in optim.noisy(given, eta, key_of(0, 1), step_of(step)).values():
            streams += list(made)
    assert len(streams) == 8
    correlations = torch.corrcoef(torch.stack(streams)).fill_diagonal_(0)
    assert correlations.abs().max() < 5 / math.sqrt(N)


def test_large_parameters_do_not_share_their_noise_either():
    made = optim.noisy(
        {"w": torch.zeros(1, 70_000), "b": torch.zeros(1, 70_000)}, torch.ones(1), key_of(0), step_of(0)
    )
    values = torch.cat([made["w"], made["b"]], -1)
    assert len(values.unique()) > 0.99 * values.numel()


def test_the_noise_is_a_function_of_key_and_step():
    given, eta = {"w": random(2, 3, 5)}, torch.ones(2, dtype=torch.float64)
    one, again = (optim.noisy(given, eta, key_of(4, 5), step_of(6))["w"] for _ in range(2))
    assert one.equal(again)
    swapped = optim.noisy({"w": given["w"].flip(0)}, eta, key_of(5, 4), step_of(6))["w"]
    assert swapped.equal(one.flip(0))
    for key, step in ((key_of(4, 5), 7), (key_of(14, 15), 6)):
        assert (optim.noisy(given, eta, key, step_of(step))["w"] != one).all()


def test_no_eta_adds_nothing_and_each_run_has_its_own():
    given = {"w": random(2, 3, 5), "b": random(2, 4)}
    made = optim.noisy(given, torch.tensor([0.0, 1.0], dtype=torch.float64), key_of(0, 0), step_of(0))
    for name, g in given.items():
        assert made[name][0].equal(g[0]) and (made[name][1] != g[1]).all()


def test_rmsprop_forgets_as_fast_as_it_is_told():
    ours, theirs = (
        torch.ones(1, 3, dtype=torch.float64),
        torch.ones(3, dtype=torch.float64, requires_grad=True),
    )
    rule, state = optim.optimiser("rmsprop", decay=0.9), [torch.zeros(1, 3, dtype=torch.float64)]
    reference = torch.optim.RMSprop([theirs], lr=0.1, alpha=0.9)
    for step in range(5):
        gradient = random(3, seed=step)
        theirs.grad = gradient
        reference.step()
        change, state = rule(gradient[None], state, torch.tensor([0.1], dtype=torch.float64), step_of(step))
        ours = ours - change
    torch.testing.assert_close(ours[0], theirs.detach())
