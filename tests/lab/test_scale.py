"""The plan for large experiments: its page is what its script says, and the script adds up."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def scale():
    spec = importlib.util.spec_from_file_location("scale", ROOT / "scripts" / "scale.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["scale"] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_the_page_holds_the_simulation(scale):
    assert scale.table() in (ROOT / "docs" / "scale.md").read_text("utf-8")


def test_with_a_driver_that_takes_no_time_the_gpus_are_the_limit(scale):
    nothing = scale.Driver(task=0.0, run=0.0)
    for load in scale.LOADS[:2]:
        for gpus in scale.GPUS:
            found = scale.simulate(load, gpus, nothing)
            ideal = scale.RUN_STEPS * load.seconds / gpus
            assert ideal <= found.seconds <= 1.3 * ideal + 2 * scale.COMPILING + ideal / scale.WAVES
            assert found.driver == 0


def test_a_driver_is_the_limit_where_it_should_be_and_more_of_them_help(scale):
    short = scale.LOADS[-1]
    one = scale.simulate(short, 8, scale.Driver())
    least = short.runs * scale.Driver().run
    assert least <= one.seconds <= 1.1 * least and one.limit == "the driver"
    assert scale.simulate(short, 8, scale.Driver(), drivers=8).seconds < one.seconds / 6
    quick = scale.simulate(short, 8, replace(scale.Driver(), run=scale.Driver().run / 2))
    assert quick.seconds < 0.6 * one.seconds


def test_every_task_is_done_once(scale):
    for load in scale.LOADS:
        found = scale.simulate(load, 8, scale.Driver())
        assert found.driver <= 1.0 and 0 < found.gpu <= 1.0
        assert found.tasks >= 4 * 8 * scale.SHARES or found.tasks * scale.LARGEST >= load.runs
