"""On a GPU: the same bits, the same starts, and the same verdicts as on a CPU. Skipped where there is none."""

import pytest
import torch
from recipes import PUBLISHED

from nalm import draws
from nalm.engine import Run, train
from nalm.engine.numbers.program import Program
from nalm.experiments.heim2020 import SYSTEMS
from nalm.experiments.thesis.ch3 import RANGES

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


def test_batches_and_starts_are_the_same():
    cases = [PUBLISHED["NMU multiply"].replace(train=a, test=b) for a, b in RANGES]
    runs = [Run(case, seed, 0) for case in cases for seed in range(3)]
    here, there = (Program(runs, torch.device(d), compiled=False) for d in ("cpu", "cuda"))
    for name, p in here.params.items():
        assert torch.equal(p, there.params[name].cpu())
    for s in (0, 77, 10**6):
        x = here._batch(here.settings, torch.tensor(s, dtype=torch.int32))
        y = there._batch(there.settings, torch.tensor(s, dtype=torch.int32, device="cuda"))
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


def test_a_fit_of_an_epidemic_is_captured_and_the_same():
    case = SYSTEMS["RealNPU", 6, 0.1]
    case = case.replace(recipe=case.recipe.replace(steps=20, polish=5))
    here, there = train(case, (0, 1), "cpu", compiled=False), train(case, (0, 1), "cuda")
    assert set(there.modes) == {"captured"}
    for a, b in zip(here.validation, there.validation, strict=True):
        assert b[:2].tolist() == pytest.approx(a[:2].tolist(), rel=1e-6)
