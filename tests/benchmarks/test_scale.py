"""The estimate for large experiments: docs/scale.md holds its table, and the simulation adds up."""

from dataclasses import replace
from pathlib import Path

from benchmarks import scale

ROOT = Path(__file__).parents[2]


def test_the_documentation_holds_the_simulated_table():
    assert scale.table() in (ROOT / "docs" / "scale.md").read_text("utf-8")


def test_with_a_driver_that_takes_no_time_the_gpus_are_the_limit():
    nothing = scale.Driver(task=0.0, run=0.0)
    for load in scale.LOADS[:2]:
        for gpus in scale.GPUS:
            found = scale.simulate(load, gpus, nothing)
            ideal = scale.RUN_STEPS * load.seconds / gpus
            assert ideal <= found.seconds <= 1.3 * ideal + 2 * scale.COMPILING + ideal / scale.WAVES
            assert found.driver == 0


def test_a_driver_is_the_limit_where_it_should_be_and_more_of_them_help():
    short = scale.LOADS[-1]
    one = scale.simulate(short, 8, scale.Driver())
    least = short.runs * scale.Driver().run
    assert least <= one.seconds <= 1.1 * least and one.limit == "the driver"
    assert scale.simulate(short, 8, scale.Driver(), drivers=8).seconds < one.seconds / 6
    quick = scale.simulate(short, 8, replace(scale.Driver(), run=scale.Driver().run / 2))
    assert quick.seconds < 0.6 * one.seconds


def test_every_task_is_done_once():
    for load in scale.LOADS:
        found = scale.simulate(load, 8, scale.Driver())
        assert found.driver <= 1.0 and 0 < found.gpu <= 1.0
        assert found.tasks >= 4 * 8 * scale.SHARES or found.tasks * scale.LARGEST >= load.runs
