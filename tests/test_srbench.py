"""The kit for SRBench keeps what the benchmark asks of a method."""

import subprocess
import sys
from pathlib import Path

import pytest

KIT = Path(__file__).parent.parent / "srbench"


@pytest.mark.system
def test_the_kit_fits_a_law_and_its_model_reads_back():
    told = subprocess.check_output([sys.executable, KIT / "regressor.py"], text=True, cwd=KIT.parent)
    assert "6.674*m1*m2/r**2: exact" in told
    assert "'scale_x': False, 'scale_y': False" in told


@pytest.mark.system
def test_the_kit_has_what_the_benchmark_looks_for():
    code = (
        "import sys; sys.path.insert(0, 'srbench'); import regressor as r; print(r.est.max_time, "
        "[n for n in ('est', 'model', 'eval_kwargs', 'hyper_params', 'complexity') if hasattr(r, n)])"
    )
    told = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=KIT.parent)
    assert told.split()[0] == "3600"
    assert told.count("'") == 10
