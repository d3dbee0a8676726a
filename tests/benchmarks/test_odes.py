"""Trials on systems of a JSON file: how they are read, and how a fitted system is compared with the true one."""

import json

import numpy as np
import pytest

from benchmarks import odes
from nalm.discover.law import Law
from nalm.discover.law.expression import Input, Power
from nalm.errors import NALMError
from nalm.ode.system import System

ODEBENCH = {
    "problems": [
        {
            "id": 7,
            "dim": 1,
            "equations": ["-c_0*x_0"],
            "parameters": {"c_0": 0.5},
            "initial_values": [[3.0], [1]],
        }
    ]
}
STROGATZ = {
    "systems": {"decay": {"x": "-x/2", "y": "x*y"}},
    "problems": [
        {"id": "decay1", "starts": [[1.0, 2.0], [2.0, 1.0]]},
        {"id": "decay2", "starts": [[1.0, 2.0]]},
    ],
}


def decay(rate):
    return System((Law(Power((Input(0),), (1.0,), -rate), ("x_0",)),))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "systems.json"
    path.write_text(json.dumps(ODEBENCH))
    return str(path)


def test_a_system_of_odebench_is_read_and_simulated(file):
    truth = odes.truths(file)["7"]
    assert (truth.starts, truth.others, truth.times) == (((3.0,),), ((1.0,),), (10.0, 150))
    np.testing.assert_allclose(truth.trajectory((3.0,))[:, 0], 3 * np.exp(-truth.t / 2), rtol=1e-8)


def test_the_true_system_is_right_and_another_is_not(file):
    truth = odes.truths(file)["7"]
    states = truth.trajectory((3.0,))
    assert odes.right(decay(0.5), truth, states) == [True] and odes.right(decay(0.502), truth, states) == [
        False
    ]
    assert odes.score(decay(0.5), truth, (3.0,), states) > 1 - 1e-9
    assert odes.score(decay(0.1), truth, (3.0,), states) < 0.9


def test_systems_of_strogatz_have_several_starts(tmp_path):
    path = tmp_path / "strogatz.json"
    path.write_text(json.dumps(STROGATZ))
    (truth,) = odes.truths(str(path)).values()
    assert (truth.name, truth.names, truth.times) == ("decay", ("x", "y"), (9.9, 100))


def test_systems_that_are_not_there_are_one_sentence(file, tmp_path):
    with pytest.raises(NALMError, match="has no system '8'; it has 7"):
        odes.jobs(odes.Options(systems=file, only="8"))
    with pytest.raises(NALMError, match="give one with --systems"):
        odes.jobs(odes.Options(systems=str(tmp_path / "none.json")))
    assert [j.noise for j in odes.jobs(odes.Options(systems=file, noises="0,0.05"))] == [0.0, 0.05]
