"""What the engine refuses, records, and does."""

import warnings

import numpy as np
import pytest
import torch

import nalm
from nalm.config import Arithmetic, Case, Layer, Ramp, Range, Recipe, Threshold, mirrored
from nalm.engine import NotCompiled, Run, train
from nalm.engine.numbers import inalu
from nalm.engine.numbers.program import Program

CPU = torch.device("cpu")
ONE = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=20, batch=16))


def eager(case, seeds=(0,)):
    return train(case, seeds, "cpu", compiled=False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": (Layer("NMUU"),)}, "Did you mean 'NMU'"),
        ({"model": (Layer("NMU", options=(("penality", "linear"),)),)}, "Did you mean 'penalty'"),
        ({"operation": "multipy"}, "Did you mean 'multiply'"),
        ({"model": (Layer("NAU", 2),)}, "ends in 2 outputs"),
        ({"recipe": Recipe(loss="msee")}, "Did you mean 'mse'"),
        (
            {"recipe": Recipe(penalties=(("gate", Ramp(1)),))},
            "no penalty called 'gate'. It has: inputs, weight",
        ),
        ({"model": (Layer("NAC"),), "recipe": Recipe(inalu=True)}, "needs a penalty called 'weight'"),
    ],
)
def test_a_mistake_is_found_before_anything_is_trained(change, words):
    with pytest.raises(nalm.NALMError, match=words):
        eager(ONE.replace(**change))


def test_no_gpu_and_no_cases_are_said():
    with pytest.raises(nalm.NALMError, match="at least one case and one seed, got 1 and 0"):
        train(ONE, [])
    if not torch.cuda.is_available():
        with pytest.raises(nalm.NALMError, match="no CUDA device"):
            train(ONE, [0], "cuda")
    with pytest.raises(nalm.NALMError, match="no device called 'gpu'"):
        train(ONE, [0], "gpu")


def test_a_step_equals_torch_step_by_step():
    """One run against a plain loop with torch.optim.Adam on the very same batches."""
    case = ONE.replace(recipe=Recipe(steps=50, batch=32, lr=1e-2, penalties=(("weight", Ramp(3, 10, 30)),)))
    program = Program([Run(case, 5, 0)], CPU, compiled=False)
    unit = nalm.NMU(2, 1)
    unit.weight.data.copy_(program.params["layers.0.weight"][0])
    optimiser = torch.optim.Adam(unit.parameters(), lr=1e-2)
    for step in range(50):
        x = program.data.batch(torch.tensor(step, dtype=torch.int32), program.settings)[0][0]
        loss = (unit(x) - x.prod(-1, keepdim=True)).square().mean()
        loss = loss + case.recipe.penalties[0][1].at(step) * unit.penalties()["weight"]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        unit.project()
    program.advance(50, "mse")
    torch.testing.assert_close(program.params["layers.0.weight"][0], unit.weight.data, rtol=1e-4, atol=1e-6)


@pytest.mark.system
def test_the_record_is_what_the_papers_log():
    case = ONE.replace(recipe=Recipe(steps=2_500, lr=1e-2))
    runs = eager(case, range(3))
    assert runs.steps[0].tolist() == [0, 1000, 2000, 2500]
    assert runs.validation[0].shape == runs.test[1].shape == runs.sparsity[2].shape == (4,)
    assert runs.trajectories[0]["0.weight"].shape == (4, 1, 2)
    start = Program([Run(case, 0, 0)], CPU, compiled=False).params["layers.0.weight"][0].numpy()
    np.testing.assert_array_equal(runs.trajectories[0]["0.weight"][0], start)
    np.testing.assert_allclose(runs.trajectories[0]["0.weight"][-1], runs.weights[0]["0.weight"], rtol=1e-6)
    weight = runs.trajectories[0]["0.weight"][-1]
    assert np.isclose(runs.sparsity[0][-1], np.minimum(abs(weight), abs(1 - abs(weight))).max(), atol=1e-6)
    assert runs.marks[0].best_step == runs.steps[0][np.argmin(runs.validation[0])]


def test_solved_and_solved_at_follow_the_threshold():
    runs = eager(ONE.replace(threshold=Threshold("fixed", value=1e9)), [0, 1])
    assert runs.solved.all()
    assert runs.solved_at == [0, 0]
    runs = eager(ONE.replace(threshold=Threshold("fixed", value=1e-30)), [0])
    assert not runs.solved.any()
    assert runs.solved_at == [None]
    assert runs.outcomes == ["unsolved"]


INALU = Case(
    (Layer("INALU"),),
    Arithmetic("multiply", Range(10, 20), Range(20, 40)),
    Recipe(steps=8_000, batch=4, inalu=True),
)


@pytest.mark.parametrize(
    ("errors", "stuck"),
    [
        ([9, 9, 9, 9, 9, 9, 9, 9], True),  # above 1 and not falling
        ([9, 9, 9, 9, 9, 9], False),  # not yet longer than 5,000 steps
        ([900, 800, 700, 9, 8, 7, 6, 5], False),  # falling
        ([0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], False),  # below 1
        ([float("nan")] * 8, False),
    ],
)
def test_the_inalu_starts_again_when_it_is_stuck(errors, stuck):
    validation = [torch.tensor([float(e)]) for e in errors]
    assert inalu.stuck(validation, torch.zeros(1, dtype=torch.int64), 1_000).tolist() == [stuck]


def test_runs_are_stuck_each_by_its_own_history():
    generator = torch.Generator().manual_seed(0)
    history = 10 ** (3 * torch.rand(14, 60, generator=generator, dtype=torch.float64) - 1)
    validation = list(history.sort(0, descending=True)[0] + history)
    since = torch.randint(0, 9, (60,), generator=generator)
    expected = []
    for run in range(60):
        seen = torch.stack(validation)[since[run] : -1, run].repeat_interleave(1_000)
        old, new = seen[: len(seen) // 2], seen[len(seen) // 2 :]
        falls = old.mean() > new.mean() + new.std(correction=0)
        expected.append(bool(len(seen) > 5_000 and not falls and new.mean() > 1))
    assert inalu.stuck(validation, since, 1_000).tolist() == expected and 0 < sum(expected) < 60


def test_a_new_start_is_another_one_and_leaves_the_others():
    program = Program([Run(INALU, 3, 0), Run(INALU, 4, 1)], CPU, compiled=False)
    before = {n: p.clone() for n, p in program.params.items()}
    program.restart(torch.tensor([True, False]), torch.tensor([1, 0]))
    for name, p in program.params.items():
        assert not torch.equal(p[0], before[name][0])
        assert torch.equal(p[1], before[name][1])


@pytest.mark.slow
def test_a_hopeless_inalu_does_start_again():
    runs = eager(INALU.replace(recipe=INALU.recipe.replace(lr=1e-12)), range(3))
    assert all(r >= 1 for r in runs.resets)


def test_stopping_when_solved_is_an_option():
    case = ONE.replace(recipe=Recipe(steps=30_000, lr=1e-2, stop_when_solved=True))
    runs = eager(case, range(4))
    assert runs.solved.all()
    assert runs.steps[0][-1] < 30_000


@pytest.mark.system
def test_operations_mix_in_one_population():
    recipe = Recipe(steps=4_000, lr=1e-2)
    cases = [
        Case((Layer("NAU"),), Arithmetic(op, Range(1, 2), Range(2, 6)), recipe)
        for op in ("add", "subtract", "select")
    ]
    runs = eager(cases, range(2))
    assert runs.formulas == ["a + b", "a + b", "a - b", "a - b", "a", "a"]


@pytest.mark.slow
def test_operands_among_many_inputs_are_found_where_the_seed_put_them():
    case = Case(
        (Layer("NAU"),),
        Arithmetic("add", Range(-2, 2), mirrored(-6, -2, 2, 6), inputs=10),
        Recipe(steps=3_000, lr=1e-2),
    )
    runs = eager(case, range(5))
    from nalm.tasks import offset

    letters = "abcdefghij"
    assert runs.formulas == [f"{letters[offset(case, s)]} + {letters[offset(case, s) + 1]}" for s in range(5)]
    assert len(set(runs.formulas)) > 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_layers_and_a_loss_that_sees_the_inputs_compile_and_train(monkeypatch):
    """The projected loss of later work: what a linear model of the inputs explains is removed per batch."""

    def projected(prediction, target, inputs):
        ones = torch.ones_like(inputs[..., :1])
        x = torch.cat([inputs, ones], -1)
        gram = x.mT @ x + 1e-3 * torch.eye(x.shape[-1])
        error = prediction - target
        explained = x @ torch.linalg.solve(gram, x.mT @ error)
        return (error - explained).square().mean((-2, -1))

    monkeypatch.setitem(nalm.LOSSES, "projected", projected)
    recipe = Recipe(
        steps=200, batch=64, loss="projected", lr=1e-2, penalties=(("weight", Ramp(0.1, 0, 100)),)
    )
    model = (Layer("NAU", 2), Layer("NMU"))
    case = Case(
        model, Arithmetic("multiply", Range(1, 2), Range(2, 6), inputs=20, subset=2, overlap=1), recipe
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        runs = train(case, range(3), "cpu")
    assert set(runs.modes) == {"compiled"}
    assert all(np.isfinite(v).all() for v in runs.validation)


def test_a_population_that_cannot_be_compiled_says_so_once_and_goes_on(monkeypatch):
    def impossible(*arguments, **options):
        def call(*more):
            raise RuntimeError("no C++ compiler here")

        return call

    monkeypatch.setattr(torch, "compile", impossible)
    with pytest.warns(NotCompiled, match="uncompiled and slower: no C\\+\\+ compiler here") as caught:
        runs = train(ONE, [0], "cpu")
    assert len(caught) <= 3  # the step and the two evaluations, each once
    assert runs.modes == ["eager"]


def test_the_authors_data_mode_uses_their_evaluation_sets():
    case = ONE.replace(data="authors")
    program = Program([Run(case, 0, 0)], CPU, compiled=False)
    rng = np.random.RandomState(8689336)
    expected = rng.uniform(2, 6, (10_000, 2)).astype(np.float32)
    x, y = program.data.published(0)[1]
    np.testing.assert_array_equal(x[0].numpy(), expected)
    wide = np.random.RandomState(8689336).uniform(2, 6, (10_000, 2))
    np.testing.assert_array_equal(y[0, :, 0].numpy(), wide.prod(-1).astype(np.float32))  # rounded last
    assert np.isfinite(eager(case).test[0]).all()


def test_a_fixed_sample_is_trained_on_its_rows_only():
    case = ONE.replace(sample=7, recipe=Recipe(steps=10, batch=64))
    program = Program([Run(case, 3, 0)], CPU, compiled=False)
    rows = {
        tuple(r)
        for s in range(5)
        for r in program.data.batch(torch.tensor(s).int(), program.settings)[0][0].tolist()
    }
    assert len(rows) == 7


ARITHMETIC = {
    n: next(o for o in u.gold if o != "select") for n, u in nalm.UNITS.items() if u.domain != "boolean"
}


@pytest.mark.parametrize("unit", [n for n in ARITHMETIC if n != "NSR"])
def test_every_arithmetic_unit_trains_in_the_engine(unit):
    case = ONE.replace(model=(Layer(unit),), operation=ARITHMETIC[unit], recipe=Recipe(steps=40, lr=1e-2))
    runs = eager(case, range(2))
    for validation, test in zip(runs.validation, runs.test, strict=True):
        assert np.isfinite(validation).all()
        assert np.isfinite(test).all()
        assert validation[-1] != validation[0]
    assert all(runs.formulas)


def test_baselines_train_in_the_engine_too():
    mlp = Layer("MLP", options=(("hidden", (4,)),))
    runs = eager(ONE.replace(model=(mlp,), recipe=Recipe(steps=1_000, lr=1e-2)), range(2))
    assert runs.formulas == ["", ""]
    assert all(v[-1] < v[0] for v in runs.validation)
