"""Laws of trained parts of networks, put back as units: right far outside, where the part itself is not."""

import pytest
import torch
from torch import nn

import nalm
from nalm.discover import distillation
from nalm.errors import NALMError

LAWS = {  # of the part's inputs, and what the network makes of the part's output
    "ratio": (lambda x: x[:, :1] / x[:, 1:], "a/b"),
    "product": (lambda x: x[:, :1] * x[:, 1:], "a*b"),
    "difference": (lambda x: x[:, :1] - 2 * x[:, 1:], "a - 2*b"),
}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rows(n: int, low: float, high: float, seed: int) -> torch.Tensor:
    return low + (high - low) * torch.rand(n, 2, generator=seeded(seed), dtype=torch.float64)


def trained(law) -> nn.Sequential:
    """A perceptron of two inputs inside a network, trained between 1 and 3 by L-BFGS."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        core = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
    network = nn.Sequential(nn.Identity(), core).double()
    x = rows(300, 1, 3, 0)
    optimiser = torch.optim.LBFGS(network.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        loss = (network(x) - law(x)).square().mean()
        loss.backward()
        return loss

    optimiser.step(closure)
    return network


@pytest.mark.parametrize(
    "name", [n if n == "difference" else pytest.param(n, marks=pytest.mark.slow) for n in LAWS]
)
def test_the_law_of_a_trained_perceptron_is_right_far_outside(name):
    law, text = LAWS[name]
    network, far = trained(law), rows(200, 10, 30, 2)
    found = nalm.distil(network, "1", rows(450, 1, 3, 1), far=(far, law(far)), noise=0.1)
    assert str(found.laws[0]) == text and found.certificates[0].verdict == "consistent"
    assert found.error[0] < 0.03 and found.before > 0.1 and found.after < 1e-9
    assert type(found.network[1]).__name__ == "LawNetwork" and isinstance(network[1], nn.Sequential)
    assert f"before and {found.after:.2g} after" in repr(found)


def test_a_part_that_is_a_law_is_exact_and_several_outputs_have_one_each():
    network = nn.Sequential(nn.Linear(3, 2), nalm.NMU(2, 2)).double()
    with torch.no_grad():
        network[0].weight.copy_(torch.tensor([[1.0, 2.0, 0.0], [0.0, 0.5, -1.0]]))
        network[0].bias.zero_()
        network[1].weight.copy_(torch.tensor([[1.0, 1.0], [1.0, 0.0]]))
    x = 1 + torch.rand(120, 3, generator=seeded(0), dtype=torch.float64)
    found = nalm.distil(network, network[1], x)
    assert [str(law) for law in found.laws] == ["a*b", "a"]
    assert [c.verdict for c in found.certificates] == ["exact", "exact"] and found.before is None
    torch.testing.assert_close(found.network(x), network(x))


def test_max_time_is_the_time_of_all_outputs_together(monkeypatch):
    """Each search gets its part of what is left, whatever the earlier ones took; the clock is moved by hand."""
    now, allowed = [0.0], []
    monkeypatch.setattr(distillation.time, "monotonic", lambda: now[0])

    def search(*arguments, max_time, **options):
        allowed.append(max_time)
        now[0] += max_time
        return nalm.search(*arguments, **options | {"noise": 0.0, "stages": ("additive",)})

    monkeypatch.setattr(distillation, "search", search)
    network = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 3)).double()
    found = nalm.distil(network, "", rows(60, 1, 3, 0), max_time=6.0)
    assert allowed == [1.0] * 6 and len(found.laws) == 3  # an exact and a noisy search for each output
    with pytest.raises(NALMError, match="max_time is a number of seconds above 0, or None, got 0"):
        nalm.distil(network, "", rows(60, 1, 3, 0), max_time=0)


@pytest.mark.parametrize(
    ("part", "rows_", "message"),
    [
        ("3", 60, r"The network has no part '3'. It has: 0, 1"),
        (nn.Linear(2, 2), 60, "Linear is no part of the network"),
        ("0", 5, "at least 6 activations"),
        ("1.attention", 60, "must take one tensor and return one"),
    ],
)
def test_what_has_no_law_is_refused(part, rows_, message):
    class Head(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(2, 1)

        def forward(self, x):
            return self.attention(x, x, x)[0]

    network = nn.Sequential(nn.Linear(2, 2), Head())
    with pytest.raises(NALMError, match=message):
        nalm.distil(network, part, torch.rand(rows_, 2, generator=seeded(0)))
