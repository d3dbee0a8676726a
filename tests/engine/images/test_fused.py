"""In how many parts the fused convolutions sum gradients, and that code compiled for other numbers is not used."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from nalm.engine.images import fused, operators, operators_back

GPU = torch.device("cuda:0")
CHANGED = {"FIRST_SPLITS": (7, 9), "COLUMNS": 32, "PARTS": 100, "SPLITS": range(18, 20)}


def processors(monkeypatch, count):
    found = SimpleNamespace(multi_processor_count=count)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: found)


@pytest.mark.parametrize("count", [1, 78, 114, 132])
@pytest.mark.parametrize("runs", [1, 3, 10, 12, 50, 131])
def test_no_other_number_of_parts_is_faster_for_sure(count, runs, monkeypatch):
    processors(monkeypatch, count)
    found = operators_back.splits(runs, fused.SPLITS, GPU, 1)
    rounds = {parts: math.ceil(runs * parts / count) for parts in fused.SPLITS}
    # fewer parts that are done in as many rounds, and smaller ones: each round takes the time of one part
    assert not any(p < found and rounds[p] / p <= rounds[found] / found for p in fused.SPLITS)


def test_the_number_of_parts_by_hand(monkeypatch):
    processors(monkeypatch, 132)
    assert operators_back.splits(24, fused.SPLITS, GPU, 1) == 11  # 264 parts in two rounds
    assert (
        operators_back.splits(50, fused.SPLITS, GPU, 1) == 5
    )  # 250 in two rounds; 13 parts fill five, but cost more
    assert operators_back.splits(24, fused.FIRST_SPLITS, GPU, 2) == 11  # 264 in one round
    assert operators_back.splits(1, fused.FIRST_SPLITS, GPU, 2) == 66  # as many as there may be


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

    def gradients(u, which, x, g, back, images):
        ink = fused.Ink(*operators.inked(images))
        found = fused.unpooled(g, which)
        return found, fused.first_gradient(u, back, x, images, ink), fused.weight_gradient(u, x, ink)

    torch._dynamo.reset()
    with FakeTensorMode():
        u, x = torch.empty(2 * 20 * 144, 256, device=GPU), torch.empty(2, 20, 26, 26, 32, device=GPU)
        which = torch.empty(2, 20, 144, 64, device=GPU, dtype=torch.int8)
        g, back = torch.empty(2, 20, 9216, device=GPU), torch.empty(2, 3, 2, 128, 64, device=GPU)
        images = torch.empty(2, 20, 28, 28, device=GPU)
        made = torch.compile(gradients, backend=keep, fullgraph=True, dynamic=False)
        found = made(u, which, x, g, back, images)
        shapes = [tuple(t.shape) for t in torch.utils._pytree.tree_leaves(found)]
    torch._dynamo.reset()
    return graphs[0], shapes


def test_what_shapes_the_outputs_of_an_operator_is_in_the_graph_by_which_compiled_code_is_found(monkeypatch):
    graph, shapes = traced(monkeypatch)
    assert shapes == [(5760, 256), (2, 144, 2, 64), (2, 66, 128, 18), (2, 16, 3, 128, 128)]
    for name, value in CHANGED.items():
        with monkeypatch.context() as context:
            context.setattr(fused, name, value)
            other, changed = traced(context)
        assert changed != shapes and other != graph, name
