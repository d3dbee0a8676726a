"""On a GPU: the same bits, the same starts, and the same verdicts as on a CPU. Skipped where there is none."""

import numpy as np
import pytest
import torch
from recipes import PUBLISHED

import nalm
from nalm import draws
from nalm.config import Recipe
from nalm.engine import Run, train
from nalm.engine.gold import gold_parameters
from nalm.engine.numbers.program import Program
from nalm.engine.numbers.training import NumberTrainer
from nalm.experiments.heim2020 import SYSTEMS
from nalm.experiments.thesis.ch3 import RANGES
from nalm.experiments.thesis.ch5_ablations import small
from nalm.tasks.authors import FromGPU

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and there is none here"),
]


def test_bits_and_uniforms_are_the_same_and_transformed_values_within_two_ulp():
    key, step = draws.keys(range(50), "train"), torch.tensor(123_456, dtype=torch.int32)
    position = torch.arange(100_000, dtype=torch.int32)
    bits = draws.bits(key, step, position)
    there = draws.bits(key.cuda(), step.cuda(), position.cuda())
    assert torch.equal(bits, there.cpu())
    for kind in (torch.float32, torch.float64):
        assert torch.equal(draws.symmetric(bits, kind), draws.symmetric(there, kind).cpu())
    here, far = draws.normal(bits, torch.float32), draws.normal(there, torch.float32).cpu()
    assert ((here.view(torch.int32) - far.view(torch.int32)).abs() <= 2).all()


def test_torchs_numbers_on_a_gpu_are_known_without_one():
    for seed in (0, 3, 2**40 + 1):
        torch.cuda.manual_seed(seed)
        source = FromGPU(seed)
        for shape in ((1, 2), (1, 4), (64, 32, 3, 3), (9,)):
            there = torch.empty(shape, device="cuda").uniform_().cpu()
            torch.testing.assert_close(source.uniform(shape).float(), there, rtol=0, atol=1e-7)


def test_exactly_right_weights_are_solved_on_a_gpu():
    cases = [c for c in small() if c.inputs == 1]
    for unit in ("ModifiedRealNPU", "NRU", "NMRU"):
        runs = [Run(c, seed, 0) for c in cases if c.model[0].unit == unit for seed in range(3)]
        training = NumberTrainer(runs, torch.device("cuda"))
        for name, p in gold_parameters(training.program.cases, training.program.params).items():
            training.program.params[name].copy_(p)
        training._record()
        assert training.solved_now().all()


def test_batches_and_starts_are_the_same():
    cases = [PUBLISHED["NMU multiply"].replace(train=a, test=b) for a, b in RANGES]
    runs = [Run(case, seed, 0) for case in cases for seed in range(3)]
    here, there = (Program(runs, torch.device(d), compiled=False) for d in ("cpu", "cuda"))
    for name, p in here.params.items():
        assert torch.equal(p, there.params[name].cpu())
    for s in (0, 77, 10**6):
        x = here.data.batch(torch.tensor(s, dtype=torch.int32), here.settings)[0]
        y = there.data.batch(torch.tensor(s, dtype=torch.int32, device="cuda"), there.settings)[0]
        assert torch.equal(x, y.cpu())


def test_eager_compiled_and_gpu_agree_in_their_verdicts():
    cases = [PUBLISHED["NMU multiply"].replace(train=a, test=b) for a, b in RANGES]
    ways = {
        "gpu": train(cases, range(25), "cuda"),
        "compiled": train(cases, range(25), "cpu"),
        "eager": train(cases, range(25), "cpu", compiled=False),
    }
    assert set(ways["gpu"].modes) == {"captured"}
    for name, runs in ways.items():
        agree = (runs.solved == ways["compiled"].solved).mean()
        seconds = runs.seconds[0] * len(runs)
        print(f"{name}: {runs.solved.mean():.3f} solved, {agree:.4f} as compiled, {seconds:.1f} s")
        assert agree >= 0.99


def test_units_are_fitted_to_rows_with_the_same_batches():
    x = np.random.default_rng(0).uniform(-2, 2, (1_000, 3))
    recipe = Recipe(steps=300, lr=0.05)
    here, there = (
        nalm.fit_units(x, x[:, 0] * x[:, 2], "NMU", seeds=25, recipe=recipe, device=device)
        for device in ("cpu", "cuda")
    )
    assert set(there.runs.modes) == {"captured"} and there.formulas == here.formulas
    assert there.certificates[0].verdict == "exact"
    for a, b in zip(here.runs.weights, there.runs.weights, strict=True):
        np.testing.assert_allclose(b["0.weight"], a["0.weight"], atol=1e-3)


def test_a_fit_of_an_epidemic_is_captured_and_the_same():
    case = SYSTEMS["RealNPU", 6, 0.1]
    case = case.replace(recipe=case.recipe.replace(steps=20, polish=5))
    here, there = train(case, (0, 1), "cpu", compiled=False), train(case, (0, 1), "cuda")
    assert set(there.modes) == {"captured"}
    for a, b in zip(here.validation, there.validation, strict=True):
        assert b[:2].tolist() == pytest.approx(a[:2].tolist(), rel=1e-6)
