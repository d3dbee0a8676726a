"""The conformance kit: correct units pass, and planted faults are named."""

import pytest
import torch
from torch import Tensor

from nalm import functional as F
from nalm.population import stack
from nalm.testing import check_compile, check_unit
from nalm.units import NAC, NMU, UNITS, spelling
from nalm.units.base import Unit
from nalm.units.start import Uniform


class Scaled(Unit):
    """A toy: y = w x_0, for w in {-1, 1}. This class is all there is to adding a unit."""

    grids = {"weight": (-1.0, 1.0)}
    gold = {"select": {"weight": (1.0,)}}

    def start(self):
        return {"weight": Uniform((self.out_features, 1), -0.9, 0.9)}

    @classmethod
    def gold_weights(cls, name, in_features):
        return super().gold_weights(name, 1)

    def compute(self, x: Tensor) -> Tensor:
        return F.linear(x[..., :1], self.weight)

    def expressions(self, x, w):
        return [spelling.dot(row, x[:1]) for row in w["weight"]]


class FrozenNAC(NAC):
    """Planted: the effective weight is computed once, in the constructor."""

    def __init__(self, in_features, out_features, *, generator=None, device=None, dtype=None):
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)
        self.register_buffer("frozen", NAC.weights(self)["weight"].detach(), persistent=False)

    def compute(self, x: Tensor) -> Tensor:
        return F.linear(x, self.frozen)


class UnsignedNMU(NMU):
    """Planted: a sign is lost."""

    def compute(self, x: Tensor) -> Tensor:
        return super().compute(x.abs())


class RestlessNMU(NMU):
    """Planted: the penalty is not zero on the grid."""

    def discreteness(self) -> Tensor:
        return (self.weight - 0.5).abs() + 0.1


def test_a_toy_unit_inherits_the_contract(monkeypatch):
    monkeypatch.setitem(UNITS, "Scaled", Scaled)
    check_unit(UNITS["Scaled"])
    assert stack([Scaled(2, 1) for _ in range(3)]).runs == (3,)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (FrozenNAC, ["check_gradients", "'w_hat'", "constructor instead of the forward pass"]),
        (UnsignedNMU, ["check_solved", "solved('multiply')", "the sign is lost"]),
        (RestlessNMU, ["check_grids", "penalty 'weight'", "on its own grid", "not zero"]),
    ],
)
def test_a_planted_fault_is_named(wrong, words):
    with pytest.raises(AssertionError) as caught:
        check_unit(wrong)
    message = str(caught.value)
    assert message.startswith(f"{wrong.__name__} breaks the contract")
    for word in words:
        assert word in message, message


class NoRuns(NMU):
    """Planted: an axis is counted from the front."""

    def compute(self, x: Tensor) -> Tensor:
        return (self.weight.unsqueeze(0) * x.unsqueeze(1)).sum(2)


class NoGrids(NMU):
    """Planted: no weight is named."""

    grids = {}


class NoGenerator(NMU):
    """Planted: the constructor is that of a plain layer."""

    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)


class Abstract(Unit):
    """Planted: nothing is defined."""


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (torch.nn.Linear, "must be a class derived from nalm.Unit"),
        (Abstract, "it does not define compute, expressions, start"),
        (NoGenerator, "unexpected keyword argument 'generator'"),
        (NoGrids, "grids names no weight"),
        (NoRuns, "a population of 5 runs fails"),
    ],
)
def test_a_cause_is_named_once(wrong, words):
    with pytest.raises(AssertionError) as caught:
        check_unit(wrong)
    lines = str(caught.value).splitlines()
    assert len(lines) == 2 and words in lines[1], caught.value


def test_checks_that_fail_for_one_cause_are_one_line(monkeypatch):
    def fails(cls):
        raise KeyError("weight")

    def fails_too(cls):
        raise KeyError("weight")

    monkeypatch.setattr("nalm.testing.CHECKS", (fails, fails_too))
    with pytest.raises(AssertionError, match=r"- fails, fails_too: KeyError: 'weight'"):
        check_unit(NMU)


def test_the_right_originals_of_the_planted_units_pass():
    for right in (NAC, NMU):
        check_unit(right)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(
    "name", ["SNMU", *(pytest.param(n, marks=pytest.mark.slow) for n in ("RealNPU", "INALU"))]
)
@pytest.mark.system
def test_inductor_compiles_a_unit(name):
    check_compile(UNITS[name], backend="inductor")


def test_noise_and_gradients_survive_a_network_of_units():
    network = torch.nn.Sequential(UNITS["NAU"](3, 2), UNITS["SNMU"](2, 2), torch.nn.Linear(2, 1))
    network(torch.randn(8, 3)).sum().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in network.parameters())
