"""Solved units are exact: hypothesis looks for a counterexample over wide ranges."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nalm
from nalm.operations import OPERATIONS
from nalm.testing import assert_exact

PAIRS = [(name, operation) for name, unit in nalm.UNITS.items() for operation in unit.gold]
MAGNITUDE = st.floats(1e-6, 1e6)


def number(domain: str, operation: str):
    if domain == "boolean":
        return st.sampled_from([0.0, 1.0])
    if domain == "positive" or operation == "sqrt":
        return MAGNITUDE
    zero = st.just(0.0) if operation not in ("divide", "reciprocal") else MAGNITUDE
    return st.one_of(MAGNITUDE, MAGNITUDE.map(lambda v: -v), zero)


@pytest.mark.parametrize(("name", "operation"), PAIRS, ids=["-".join(p) for p in PAIRS])
def test_a_solved_unit_is_exact(name, operation):
    cls = nalm.UNITS[name]
    width = 3 if cls.ignores else OPERATIONS[operation].arity
    unit = cls.solved(operation, width).double()

    @settings(max_examples=20, deadline=None, database=None)
    @given(st.lists(st.tuples(*[number(cls.domain, operation)] * width), min_size=1, max_size=9))
    def exact(rows):
        assert_exact(unit, operation, torch.tensor(rows, dtype=torch.float64))

    exact()


@pytest.mark.parametrize("name", nalm.UNITS)
def test_an_operation_a_unit_cannot_do_is_refused_with_what_it_can(name):
    cls = nalm.UNITS[name]
    other = next(o for o in OPERATIONS if o not in cls.gold)
    with pytest.raises(nalm.NALMError, match=f"{name} cannot represent '{other}'. It can: "):
        cls.solved(other)


def test_too_few_inputs_or_too_many_are_refused():
    with pytest.raises(nalm.NALMError, match="in_features of at least 2 to multiply, got 1"):
        nalm.NMU.solved("multiply", 1)
    with pytest.raises(nalm.NALMError, match="MCFC needs in_features=2 to add, got 3"):
        nalm.MCFC.solved("add", 3)
    with pytest.raises(nalm.NALMError, match="use out_features=1"):
        nalm.MCFC.solved("add", 2, 2)


def test_several_outputs_compute_the_same():
    unit = nalm.RealNPU.solved("divide", 3, 2)
    torch.testing.assert_close(unit(torch.tensor([[6.0, -3.0, 5.0]])), torch.tensor([[-2.0, -2.0]]))


def test_the_papers_epsilon_is_the_default_and_can_be_dropped():
    trained = nalm.RealNPU(2, 1, dtype=torch.float64).assign_(nalm.RealNPU.solved("divide").weights())
    x = torch.tensor([[1.0, 3.0]], dtype=torch.float64)
    off = abs(float(trained(x).detach()) - 1 / 3) * 3
    assert 1e-8 < off < 1e-6  # the paper's epsilon shows
    assert abs(float(trained.exact_()(x).detach()) - 1 / 3) * 3 < 1e-15
    with pytest.raises(nalm.NALMError, match="0 <= eps < 1, got -1"):
        nalm.NPU(2, 1, eps=-1)
