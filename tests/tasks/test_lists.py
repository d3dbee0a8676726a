"""Questions about whole lists, by hand and against other programs."""

import numpy as np
import pytest
import torch
from scipy.sparse.csgraph import shortest_path as by_scipy

from nalm.config import Case, Layer, Lists, grid
from nalm.errors import NALMError
from nalm.operations import LISTS
from nalm.tasks import Target
from nalm.tasks.lists import of_list


def test_the_smallest_and_the_number_of_equals():
    x = torch.tensor([[3.0, 1.0, 3.0, 3.0], [-2.0, 5.0, -2.0, -7.0]])
    assert of_list("smallest", x).tolist() == [1.0, -7.0]
    assert of_list("count", x).tolist() == [2.0, 1.0]


@pytest.mark.parametrize("nodes", [2, 3, 5, 12])
def test_the_shortest_path_is_scipys(nodes):
    x = torch.randint(1, 50, (20, nodes * nodes), generator=torch.Generator().manual_seed(nodes)).double()
    graphs = x.numpy().reshape(20, nodes, nodes)
    expected = [by_scipy(g, method="BF", indices=0)[-1] for g in graphs]
    np.testing.assert_array_equal(of_list("shortest_path", x).numpy(), expected)


@pytest.mark.parametrize("name", ["smallest", "count"])
def test_a_question_is_its_step_over_and_over(name):
    x = torch.randint(0, 4, (50, 7), generator=torch.Generator().manual_seed(0)).float()
    first, *others = x.unbind(-1)
    state = first if name == "smallest" else torch.zeros(50)
    for element in others:
        operands = (element, state) if name == "smallest" else (element, first, state)
        state = LISTS[name].formula(*operands)
    torch.testing.assert_close(of_list(name, x), state)


def test_a_graph_is_square():
    with pytest.raises(NALMError, match="got 8 inputs"):
        of_list("shortest_path", torch.ones(1, 8))


def test_lists_of_any_length_have_a_target_and_do_not_mix():
    case = Case((Layer("Smallest"),), Lists("smallest", grid(0, 9), grid(0, 9), inputs=3))
    target = Target([case], [0])
    assert target(torch.tensor([[[3.0, 2.0, 5.0, 1.0, 8.0]]])).tolist() == [[[1.0]]]
    with pytest.raises(NALMError, match="the same of their lists"):
        Target([case, case.replace(operation="count")], [0, 0])
