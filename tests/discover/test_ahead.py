"""Stages in other processes: the same law, no process left behind, no repetition of the user's script."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from nalm.discover import search, search_state
from nalm.discover.ahead import Ahead
from nalm.discover.arguments import jobs_of
from nalm.discover.problem import Problem
from nalm.discover.stages import STAGES
from nalm.errors import NALMError
from nalm.operating_system import cores


def table(rows=200):
    x = np.random.default_rng(3).uniform(0.5, 3, (rows, 3))
    return x, np.sin(x[:, 0] * x[:, 1]) / (x[:, 2] + 2.5)


def test_the_law_is_the_same_and_every_process_ends(monkeypatch):
    monkeypatch.setattr(search_state, "ALONE", 0.0)
    x, y = table()
    alone, together = (search(x, y, noise=0.0, max_time=60, n_jobs=jobs) for jobs in (None, 2))
    assert alone.law == together.law and alone.stage == together.stage
    assert alone.certificate == together.certificate and together.certificate.verdict == "exact"
    assert not multiprocessing.active_children()


def test_a_stage_of_a_process_that_dies_is_tried_here():
    x, y = table()
    problem = Problem.from_table(x, y, noise=0.0)
    ahead = Ahead(problem, ["power"], 1)
    try:
        while "power" not in ahead.taken:
            time.sleep(0.01)
        os.kill(ahead.workers[0][1].pid, signal.SIGKILL)
        assert list(ahead.proposals("power")) == list(STAGES["power"].propose(problem))
    finally:
        ahead.close()


SCRIPT = """
import numpy as np
from nalm.discover import search, search_state
search_state.ALONE = 0.0
x = np.random.default_rng(0).uniform(1, 2, (60, 2))
print(search(x, x[:, 0] + x[:, 1] ** 2, n_jobs=2).law)
"""


@pytest.mark.system
def test_a_script_without_a_guard_runs_once(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("a + b**2\n", "")


def test_n_jobs_counts_as_in_scikit_learn():
    assert jobs_of(-1) == cores() and jobs_of(-cores() - 5) == 1 and jobs_of(np.int64(2)) == 2
    for wrong in (0, True, 1.5, "2"):
        with pytest.raises(NALMError, match="n_jobs is a number of processes"):
            jobs_of(wrong)
