"""Clipping by a norm that cannot overflow, beside the published one (thesis 5.7: the NMRU on large ranges)."""

import pytest
import torch
from torch.nn.utils import clip_grad_norm_

from nalm.engine import optim
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run
from nalm.experiments import EXPERIMENTS

STUDY = EXPERIMENTS["thesis/ch5/nmru-safe-clip"]
BENFORD = {c.recipe.norm: c for c in STUDY.cases if c.inputs == 10 and c.train.kind == "benford"}


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 1e6, 1e15])
def test_below_the_overflow_both_clips_are_torchs(size):
    given = {"w": size * random(3, 4, 2), "b": size * random(3, 4, seed=1)}
    limits = torch.tensor([0.5, 100.0, float("inf")])
    ours, published = (clip(given, limits) for clip in (optim.clip_scaled_norm, optim.clip_norm))
    for run, limit in enumerate(limits.tolist()):
        parameters = {name: torch.nn.Parameter(torch.zeros_like(g[run])) for name, g in given.items()}
        for name, p in parameters.items():
            p.grad = given[name][run].clone()
        clip_grad_norm_(parameters.values(), limit)
        for name, p in parameters.items():
            assert torch.allclose(published[name][run], p.grad, rtol=1e-5, atol=0)
            assert torch.allclose(ours[name][run], p.grad, rtol=1e-5, atol=0)


@pytest.mark.parametrize("size", [1e20, 1e30, 3e38])
def test_a_large_gradient_keeps_its_direction_under_the_safe_clip_and_vanishes_under_the_published(size):
    direction = torch.tensor([[0.6, -0.8], [0.0, 1.0]])
    given = {"w": size * direction}
    limits = torch.tensor([1.0, 2.0])
    assert not optim.clip_norm(given, limits)["w"].any()
    assert torch.allclose(optim.clip_scaled_norm(given, limits)["w"], direction * limits[:, None], rtol=1e-5)


def test_what_is_not_clipped_is_left_to_the_last_bit():
    given = {"w": random(3, 5), "zero": torch.zeros(3, 2)}
    made = optim.clip_scaled_norm(given, torch.tensor([100.0, float("inf"), 50.0]))
    assert all(torch.equal(made[name], g) for name, g in given.items())
    nothing = {"w": torch.zeros(1, 3)}
    assert torch.equal(optim.clip_scaled_norm(nothing, torch.ones(1))["w"], nothing["w"])


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_stays_so_and_leaves_other_runs_alone(bad):
    given = {"w": torch.tensor([[bad, 1.0], [3.0, 4.0]])}
    made = optim.clip_scaled_norm(given, torch.ones(2))["w"]
    assert not made[0].isfinite().all()
    assert torch.allclose(made[1], torch.tensor([0.6, 0.8]))


def test_the_nmru_on_benford_numbers_is_frozen_by_the_published_clip_and_learns_with_the_safe_one():
    """24 of 25 shipped runs on Benford numbers kept their initial weights for 100,000 steps."""
    moved = {}
    for norm, case in BENFORD.items():
        program = Program([Run(case, seed, 0) for seed in range(5)], torch.device("cpu"), compiled=False)
        before = program.params["layers.0.weight"].clone()
        program.advance(3, case.recipe.loss)
        after = program.params["layers.0.weight"]
        assert after.isfinite().all()
        moved[norm] = int((after != before).flatten(1).any(-1).sum())
    assert moved == {"plain": 0, "scaled": 5}


def test_the_study_sets_both_clips_side_by_side_and_the_published_stays_the_default():
    pairs = {}
    for c in STUDY.cases:
        pairs.setdefault((c.train, c.inputs), []).append(c.recipe.norm)
    assert len(pairs) == 16 and all(norms == ["plain", "scaled"] for norms in pairs.values())
    known = {c for e in ("main", "distributions") for c in EXPERIMENTS[f"thesis/ch5/{e}"].cases}
    assert {c for c in STUDY.cases if c.recipe.norm == "plain"} <= known
    published = [e for e in EXPERIMENTS.values() if e is not STUDY and not e.name.startswith("beyond/")]
    others = [c for e in published for c in e.cases]
    assert {c.recipe.norm for c in others} == {"plain"}
