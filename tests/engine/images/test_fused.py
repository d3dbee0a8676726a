"""In how many parts the fused convolutions sum gradients, and that code compiled for other numbers is not used."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from nalm.engine.images import fused, operators

GPU = torch.device("cuda:0")
CHANGED = {"PARTS": 100, "COLUMNS": 32, "GROUP": 16, "CELLS": 200, "SPLITS": range(8, 18)}


def processors(monkeypatch, count):
    found = SimpleNamespace(multi_processor_count=count)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: found)


@pytest.mark.parametrize("count", [1, 78, 114, 132])
@pytest.mark.parametrize("runs", [1, 3, 10, 12, 50, 131])
def test_the_number_of_parts_leaves_the_fewest_processors_idle(count, runs, monkeypatch):
    processors(monkeypatch, count)
    found = operators.splits(runs, fused.SPLITS, GPU)
    idle = {parts: -(runs * parts) % count / math.ceil(runs * parts / count) for parts in fused.SPLITS}
    assert found in fused.SPLITS and idle[found] == pytest.approx(min(idle.values()))


def test_the_number_of_parts_by_hand(monkeypatch):
    processors(monkeypatch, 132)
    assert operators.splits(12, fused.SPLITS, GPU) == 11  # 132 parts at once
    assert (
        operators.splits(10, fused.SPLITS, GPU) == 13
    )  # 130 at once; 14 would be 140, and 124 processors idle


def test_parts_are_added_to_their_sum():
    parts = torch.randn(2, 13, 3, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(fused.added(parts), parts.sum(1))
    assert torch.equal(fused.added(parts[:, :1]), parts[:, 0])


def traced(monkeypatch):
    """The graph of the gradients on a GPU as torch's compiler sees it, and their shapes; it needs no GPU."""
    if not torch.cuda.is_available():
        processors(monkeypatch, 132)
    graphs = []

    def keep(graph, inputs):
        graphs.append(graph.code)
        return graph

    def gradients(u, which, x, h, back, fc, images):
        found = fused.unpooled(h, fc, which)
        return found, fused.first_gradient(u, back, x, images), fused.weight_gradient(u, x)

    torch._dynamo.reset()
    with FakeTensorMode():
        u, x = torch.empty(2 * 20 * 169, 256, device=GPU), torch.empty(2, 20, 26, 26, 32, device=GPU)
        which = torch.empty(2, 20, 144, 64, device=GPU, dtype=torch.int8)
        h, fc = torch.empty(2, 20, 128, device=GPU), torch.empty(2, 128, 9216, device=GPU)
        back, images = torch.empty(2, 3, 2, 128, 64, device=GPU), torch.empty(2, 20, 28, 28, device=GPU)
        made = torch.compile(gradients, backend=keep, fullgraph=True, dynamic=False)
        shapes = [
            tuple(t.shape) for t in torch.utils._pytree.tree_leaves(made(u, which, x, h, back, fc, images))
        ]
    torch._dynamo.reset()
    return graphs[0], shapes


def test_what_shapes_the_outputs_of_an_operator_is_in_the_graph_by_which_compiled_code_is_found(monkeypatch):
    graph, shapes = traced(monkeypatch)
    assert shapes == [(6760, 256), (2, 169, 64), (2, 169, 128, 17), (2, 16, 3, 128, 128)]
    for name, value in CHANGED.items():
        with monkeypatch.context() as context:
            context.setattr(fused, name, value)
            other, changed = traced(context)
        assert changed != shapes and other != graph, name
