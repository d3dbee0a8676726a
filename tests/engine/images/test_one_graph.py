"""A training step of every layout is one graph: what a compiler cannot follow would run uncompiled on a GPU."""

import pytest
import torch
from layouts import CASES

from nalm.engine.images.program import ImageProgram, Member


@pytest.mark.parametrize("name", CASES)
def test_a_step_of_every_layout_runs(name):
    program = ImageProgram(CASES[name], "", torch.device("cpu"), compiled=False)
    member = Member(program, 0)
    member.shuffle(0)
    program.step("mse")(member.params, member.slots, member.at, member.noise, member.tables, member.shared)
    assert member.at == 1 and all(p.isfinite().all() for p in member.params.values())


@pytest.mark.parametrize(
    "name", [name if name == "product" else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_a_step_is_one_graph(name):
    program = ImageProgram(CASES[name], "", torch.device("cpu"), compiled=False)
    member = Member(program, 0)
    member.shuffle(0)
    traced = torch.compile(program.step("mse"), fullgraph=True, dynamic=False, backend="eager")
    traced(member.params, member.slots, member.at, member.noise, member.tables, member.shared)
    assert member.at == 1 and all(p.isfinite().all() for p in member.params.values())
