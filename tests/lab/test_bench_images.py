"""The benchmark of networks that read images runs anywhere."""

import json

import pytest
from typer.testing import CliRunner

from nalm.cli import app
from nalm.engine.device import PRECISIONS
from nalm.engine.images.convolutions import FORMS, fastest
from nalm.errors import NALMError
from nalm.lab.bench.images import FOLDS, SLOW, batches


def test_it_measures_both_loops_in_one_run():
    done = CliRunner().invoke(app, ["bench", "mnist", "--device", "cpu", "--json"])
    assert done.exit_code == 0, done.output
    plain, ours = json.loads(done.output)
    assert plain["ratio"] == 1 and ours["ms"] > 0
    assert ours["ratio"] == plain["ms"] / ours["ms"] and ours["batch"] == plain["batch"] == 128


def test_it_shows_what_each_kernel_of_a_step_takes():
    done = CliRunner().invoke(app, ["bench", "mnist", "--device", "cpu", "--kernels"])
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    taken = [float(line.split()[0]) for line in lines[3:-1]]
    assert taken[:-1] == sorted(taken[:-1], reverse=True) and "convolution" in done.output
    assert float(lines[-1].split()[0]) == pytest.approx(sum(taken), rel=1e-3)


def test_the_kernels_of_a_step_as_json_are_all_of_them():
    done = CliRunner().invoke(app, ["bench", "mnist", "--device", "cpu", "--kernels", "--json"])
    found = json.loads(done.stdout)
    assert len(found) > 24 and all(kernel["us"] > 0 and kernel["calls"] >= 1 for kernel in found)


def test_all_forms_and_precisions_are_measured_on_a_gpu_only_if_asked_for():
    used = fastest("cuda", "bfloat16")
    short = batches("cuda", forms=False, units=5)
    assert short == [(used, "bfloat16", *size) for size in ((1, 1), (1, FOLDS), (5, FOLDS))]
    every = batches("cuda", forms=True, units=5)
    assert every[:3] == short and len(set(every)) == len(every)
    measured = {(form, precision) for form, precision, _, _ in every}
    assert measured == {(form, precision) for form in FORMS for precision in PRECISIONS} - {SLOW}
    assert batches("cpu", forms=True, units=5) == batches("cpu", forms=False, units=5)


def test_another_name_gets_a_suggestion():
    done = CliRunner().invoke(app, ["bench", "mnits"])
    assert isinstance(done.exception, NALMError) and "mnist" in str(done.exception)
