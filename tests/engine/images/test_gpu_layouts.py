"""On a GPU: poses are those of a CPU, captured steps and evaluations the plain ones. Skipped where there is none."""

import pytest
import torch
from layouts import CASES

from nalm.engine.graphs import Graphs
from nalm.engine.images.data import resident
from nalm.engine.images.layouts.colour import Colours
from nalm.engine.images.program import ImageProgram, Member

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device, and there is none here"),
]


def test_poses_are_the_same():
    layout, pictures = Colours(CASES["colour"]), resident("drawn", "", "cpu")
    images, key, step = (
        pictures.images[:200].reshape(100, 2, 28, 28),
        torch.tensor([3, 9]).int(),
        torch.tensor(5),
    )
    here, there = (
        layout.inputs(images, key, step),
        layout.inputs(images.cuda(), key.cuda(), step.cuda()).cpu(),
    )
    assert ((here - there).abs() > 1e-5).float().mean() < 1e-3  # ties of rounding


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_captured_steps_and_evaluations_are_the_plain_ones(name, compiled):
    program = ImageProgram(CASES[name], "", torch.device("cuda"), compiled=compiled)
    captured, plain = Member(program, 0), Member(program, 0)
    plain.graphs = Graphs(torch.device("cpu"))  # which captures nothing and calls
    said = []
    for member in (captured, plain):
        member.evaluate()
        member.shuffle(0)
        for _ in range(6):
            member.advance("mse")
        for _ in range(2):
            member.evaluate()
        said.append(member.judged(member.fetch())[0])
    assert len(captured.graphs) and not len(plain.graphs)
    assert program.mode == ("captured compiled" if compiled else "captured")
    for n, p in captured.params.items():
        torch.testing.assert_close(p, plain.params[n], rtol=1e-3, atol=1e-4)
    assert said[0].keys() == said[1].keys() and any(v == v for v in said[0].values())
    for n, v in said[0].items():  # a length beyond the drawn images has no error: not a number in both
        assert v == pytest.approx(said[1][n], rel=1e-3, abs=1e-3, nan_ok=True), n
