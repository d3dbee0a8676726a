"""Estimates of time: more work takes longer, more cores less, and a folder's runs correct them."""

import subprocess
import sys

import pytest

from nalm.config import Experiment
from nalm.experiments import EXPERIMENTS
from nalm.lab import costs
from nalm.lab.costs import Machine

ONE, TWO, GPU = Machine("cpu", 1), Machine("cpu", 2), Machine("cuda", 16)
MUL = EXPERIMENTS["thesis/ch3/mul"]


def test_time_follows_the_work_and_the_machine():
    half = MUL.replace(seeds=MUL.seeds[:12])
    assert costs.estimate(half, ONE) < costs.estimate(MUL, ONE) == 2 * costs.estimate(MUL, TWO)
    assert costs.estimate(MUL, GPU) < costs.estimate(MUL, Machine("cpu", 16))
    assert costs.estimate(MUL, ONE, 3.0) > 2 * costs.estimate(MUL, ONE)


def test_chapter_3_takes_minutes_on_two_cores_and_seconds_on_a_gpu():
    chapter = [EXPERIMENTS[f"thesis/ch3/{name}"] for name in ("add", "sub", "mul", "div")]
    assert 60 < sum(costs.estimate(e, TWO) for e in chapter) < 20 * 60
    assert 5 < sum(costs.estimate(e, GPU) for e in chapter) < 120


def test_models_that_were_not_measured_have_an_estimate_too():
    case = MUL.cases[0].replace(model=(MUL.cases[0].model[0].replace(unit="Mine@123"),))
    assert 0 < costs.us(case) < costs.us(case.replace(inputs=50))
    assert costs.estimate(Experiment("mine", "", (case,), (0,)), ONE) > 0


def test_every_experiment_has_an_estimate():
    for experiment in EXPERIMENTS.values():
        assert all(costs.estimate(experiment, m) > 0 for m in (TWO, GPU))


def test_recorded_runs_correct_it_once_there_are_enough():
    case = MUL.cases[0]
    steps = 200_000_000
    seconds = costs.us(case) * 1e-6 * steps
    compiling = costs.COMPILING["cpu"]
    assert costs.correction([(case.hash, 3 * seconds + compiling, steps)], [MUL]) == pytest.approx(3)
    assert costs.correction([(case.hash, 3 * seconds, 1_000)], [MUL]) == 1
    assert costs.correction([("unknown", 3 * seconds, steps)], [MUL]) == 1


def test_this_machine_has_cores():
    assert costs.here().cores >= 1 and str(TWO) == "2 CPU cores" and str(GPU) == "one GPU"


def test_listing_loads_no_torch():
    code = (
        "import sys\nfrom nalm.cli import app\nfrom typer.testing import CliRunner\n"
        "done = CliRunner().invoke(app, ['list'])\nassert done.exit_code == 0 and 'estimates' in done.output\n"
        "print(sorted({'torch', 'sympy'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
