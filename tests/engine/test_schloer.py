"""The training of Schlör 2020: turns, the penalty's own steps, and when runs begin again."""

import pytest
import torch

import nalm
from nalm.config import Arithmetic, Case, Layer, Range, Recipe
from nalm.engine import check
from nalm.engine.numbers import schloer, training
from nalm.engine.numbers.program import Program
from nalm.engine.numbers.training import NumberTrainer
from nalm.engine.optim import optimiser
from nalm.engine.plan import Run

CPU = torch.device("cpu")
AROUND = tuple((f"0.{name}", mean, 0.1) for name, mean in (("w_hat", 1.0), ("m_hat", -1.0), ("gate", 0.0)))
CASE = Case(
    (Layer("NALU"),),
    Arithmetic("add", Range(1, 2), Range(2, 6), sample=64),
    Recipe(steps=2_000, batch=4, lr=1e-2, optimiser="tf_rmsprop", decay=0.9, clip_value=0.1).replace(
        normal_starts=AROUND, rules="schloer"
    ),
)


def plain_rmsprop(value, square, gradient):
    square = 0.9 * square + 0.1 * gradient**2
    return value - 0.01 * gradient / (square + 1e-10) ** 0.5, square


@pytest.mark.parametrize("first", [0, 11_000])
def test_weights_and_gates_move_in_turns_and_the_penalty_takes_steps_of_its_own(first):
    params = {
        "layers.0.w_hat": torch.tensor([[[2.0, -3.0]]] * 2),
        "layers.0.gate": torch.tensor([[[0.5]]] * 2),
    }
    slots = {name: [torch.ones_like(p)] for name, p in params.items()}
    losses = torch.tensor([0.5, 2.0])  # the second run is not pressed
    rule, step = (optimiser("tf_rmsprop", decay=0.9), torch.full((2,), 0.01)), torch.tensor(first)
    expected = {
        name: [[(v, 1.0) for v in p[run].flatten().tolist()] for run in (0, 1)] for name, p in params.items()
    }
    for k in range(20):
        schloer.update(params, {n: p.clone() for n, p in params.items()}, slots, rule, step, losses)
        for name, runs in expected.items():
            turn = k % 10 >= 8 if name.endswith("gate") else k % 10 < 8
            for run, numbers in enumerate(runs):
                for i, (value, square) in enumerate(numbers):
                    if turn:
                        value, square = plain_rmsprop(value, square, value)
                    if first and run == 0:
                        away = -0.05 / len(numbers) * (1 if value > 0 else -1)
                        value, square = plain_rmsprop(value, square, away)
                    numbers[i] = value, square
    assert int(step) == first + 20
    for name, runs in expected.items():
        for run, numbers in enumerate(runs):
            torch.testing.assert_close(
                params[name][run].flatten().tolist(), [v for v, _ in numbers], rtol=1e-5, atol=1e-6
            )
            torch.testing.assert_close(
                slots[name][0][run].flatten().tolist(), [q for _, q in numbers], rtol=1e-5, atol=1e-6
            )


def test_a_saturated_parameter_is_left_alone_by_the_penalty():
    params = {"layers.0.w_hat": torch.tensor([[[25.0]]])}
    slots = {name: [torch.ones_like(p)] for name, p in params.items()}
    rule = optimiser("tf_rmsprop", decay=0.9), torch.full((1,), 0.01)
    schloer.update(
        params, {"layers.0.w_hat": torch.zeros(1, 1, 1)}, slots, rule, torch.tensor(20_000), torch.zeros(1)
    )
    assert params["layers.0.w_hat"].item() == 25


def test_runs_begin_again_as_the_whole_list_of_their_errors_says():
    generator = torch.Generator().manual_seed(0)
    # one value an epoch
    errors = 10 ** (3 * torch.rand(31, 200, generator=generator, dtype=torch.float64) - 1)
    errors = errors + errors.sort(0, descending=True)[0]
    since, losses, again = torch.randint(0, 14, (200,), generator=generator), schloer.Losses(), 0
    for epoch in range(31):
        sums = 1_000 * torch.stack([errors[epoch], errors[epoch].square()], -1)
        losses.add(sums)
        assert not sums.any()
        found, now = losses.stuck(since), epoch + 1
        for run in range(200):
            seen = errors[since[run] : now, run].repeat_interleave(1_000)
            old, new = seen[: len(seen) // 2], seen[len(seen) // 2 :]
            looked_at = now in (10, 11, 20, 21, 30, 31) and len(seen) >= 10_000
            high = looked_at and new.mean() > 1 and old.mean() <= new.mean() + new.std(correction=0)
            assert bool(found[run]) == bool(high), (epoch, run)
        again += int(found.sum())
    assert 0 < again < 6 * 200
    assert not losses.stuck(torch.full((200,), 30)).any()  # too young


def test_normal_starts_have_the_mean_and_deviation_of_each_run_and_share_a_program():
    far = CASE.replace(recipe=CASE.recipe.replace(normal_starts=tuple((n, 7.0, 0.0) for n, *_ in AROUND)))
    runs = [Run(case, seed, 2 * seed + k) for seed in range(300) for k, case in enumerate((CASE, far))]
    params = Program(runs, CPU, compiled=False).params
    w, m, g = (params[f"layers.{name}"] for name, *_ in AROUND)
    assert (torch.cat([w[1::2], m[1::2], g[1::2]]) == 7).all()
    for values, mean in ((w, 1), (m, -1), (g, 0)):
        assert values[::2].mean().item() == pytest.approx(mean, abs=0.02)
        assert values[::2].std().item() == pytest.approx(0.1, rel=0.15)
    wrong = CASE.replace(recipe=CASE.recipe.replace(normal_starts=(("0.w_hut", 0.0, 1.0),)))
    with pytest.raises(nalm.NALMError, match=r"Did you mean '0\.w_hat'"):
        check([wrong])


def test_a_run_that_begins_again_starts_between_minus_2_and_2():
    program = Program([Run(CASE, seed, seed) for seed in range(400)], CPU, compiled=False)
    which = torch.arange(400) < 399
    before = {name: p.clone() for name, p in program.params.items()}
    program.restart(which, which.long())
    for name, p in program.params.items():
        assert torch.equal(p[-1], before[name][-1])
        assert p[:-1].abs().max() < 2 and p[:-1].abs().mean().item() == pytest.approx(1, abs=0.1)


def test_a_training_in_turns_goes_on_exactly_from_its_state(monkeypatch):
    monkeypatch.setattr(training, "EVERY", 10)
    short = CASE.replace(recipe=CASE.recipe.replace(steps=30))
    runs = [Run(short, seed, seed) for seed in range(3)]
    whole, first, second = (NumberTrainer(runs, CPU, compiled=False) for _ in range(3))
    while not whole.finished:
        whole.advance()
    first.advance()
    second.restore(first.state())
    while not second.finished:
        second.advance()
    one, other = whole.state(), second.state()
    assert {"losses", "epochs.0", "epochs.1"} <= one.keys() == other.keys()
    for name in one.keys() - {"seconds"}:
        assert torch.equal(one[name], other[name]), name
