"""The front door."""

import pytest

import nalm


def test_every_public_name_resolves():
    for name in dir(nalm):
        assert getattr(nalm, name) is not None


def test_every_unit_is_a_name_of_the_package():
    assert set(nalm.UNITS) <= set(dir(nalm))
    assert nalm.NMU is nalm.UNITS["NMU"]


def test_a_typing_error_gets_a_suggestion():
    with pytest.raises(AttributeError, match="Did you mean 'RealNPU'"):
        nalm.RealNPUU  # noqa: B018
    for find, near in ((nalm.unit, "NMU"), (nalm.loss, "mse")):
        with pytest.raises(nalm.NALMError, match=f"Did you mean '{near}'"):
            find(near + near[-1])
    with pytest.raises(nalm.NALMError, match="Did you mean 'multiply'"):
        nalm.NMU.solved("multipy")


def test_asking_for_a_private_name_is_an_ordinary_error():
    assert not hasattr(nalm, "__wrapped__")
    assert not hasattr(nalm, "_nothing")
