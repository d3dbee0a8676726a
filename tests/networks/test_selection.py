"""Algorithm 1 of Mistry 2023: the golden vector, and a gradient worked out by hand."""

import json
import math
from pathlib import Path

import torch
from torch import tensor

from nalm.networks.selection import choose, gumbel, mixed, one_hot, st_softmax, taken

FILE = Path(__file__).parent.parent / "data" / "golden_units.json"
VECTORS = {v["id"]: v for v in json.loads(FILE.read_text("utf-8"))}


def double(values):
    return tensor(values, dtype=torch.float64, requires_grad=True)


def test_the_choice_and_its_gradients_are_the_golden_ones():
    vector = VECTORS["g066"]
    x, w, g = double(vector["x"]), double(vector["params"]["w"]), double(vector["params"]["g_ml"])
    y = choose(x, w, g, double(vector["gumbel"]), vector["params"]["tau"])
    torch.testing.assert_close(y, double(vector["y"]).detach(), rtol=1e-10, atol=0)
    y.sum().backward()
    for leaf, name in ((x, "x"), (w, "w"), (g, "g_ml")):
        torch.testing.assert_close(
            leaf.grad, double(vector["grad_of_sum_y"][name]).detach(), rtol=1e-10, atol=0
        )


def test_the_gradients_of_a_choice_are_those_worked_out_by_hand():
    # One row, two modules with outputs 3 and 5, equal logits, no noise, gate 0: everybody at one half.
    x, w, g = double([[3.0, 5.0]]), double([0.0, 0.0]), double(0.0)
    y = choose(x, w, g, torch.zeros(2, dtype=torch.float64), tau=2.0)
    assert y.item() == 3.0  # of equals the first, by either route
    y.backward()
    # dy/dw_1 = sum_m x_m dq_m/dw_1 = (3 - 5) * (1/2)(1/2) / tau, for either route, weighted 1/2 and 1/2.
    assert w.grad.tolist() == [-0.25, 0.25]
    assert x.grad.tolist() == [[1.0, 0.0]] and g.grad.item() == 0.0


def test_the_gate_decides_between_the_likeliest_and_chance():
    x, w, noise = tensor([[1.0, 2.0]]), tensor([1.0, 0.0]), tensor([0.0, 9.0])
    assert choose(x, w, tensor(0.1), noise).item() == 1.0
    assert choose(x, w, tensor(-0.1), noise).item() == 2.0


def test_one_hot_softmax_gumbel_and_mixture_are_those_worked_out_by_hand():
    assert one_hot(tensor([[1.0, 1.0], [0.0, 2.0]])).tolist() == [[1, 0], [0, 1]]
    logits = double([0.0, 1.0])
    (st_softmax(logits, 2.0) * tensor([1.0, 0.0])).sum().backward()
    p = 1 / (1 + math.exp(0.5))
    torch.testing.assert_close(logits.grad, double([p * (1 - p) / 2, -p * (1 - p) / 2]).detach())
    assert abs(gumbel(tensor(math.exp(-1))).item()) < 1e-6
    x = torch.randn(4, 7, 3)
    torch.testing.assert_close(mixed(x, torch.ones(4, 3)), x.sum(-1))


def test_what_is_not_chosen_may_be_infinite_or_no_number_and_finite_values_have_their_gradients():
    x = double([[1.0, math.inf, math.nan], [2.0, 3.0, 4.0]])
    p = double([1.0, 0.0, 0.0])
    y = taken(x, p)
    assert y.tolist() == [1.0, 2.0]
    y.sum().backward()
    assert p.grad.tolist() == [3.0, 3.0, 4.0] and x.grad.isfinite().all()
    assert taken(x.detach(), double([0.0, 1.0, 0.0])).tolist() == [math.inf, 3.0]
