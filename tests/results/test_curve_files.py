"""Curves as files: which are written, with how many points, and what is read back."""

import numpy as np
import pytest
from made import case, runs

from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.results import files as shipped
from nalm.results.curve_files import NAMED, POINTS, read, text, thinned
from nalm.results.store import Store


def test_of_many_seeds_the_curves_of_the_first_few_are_written(tmp_path):
    with Store(tmp_path / "out", create=True) as store:
        seeds = tuple(range(10, 18))  # a case may begin with any seed
        store.register(Experiment("many", "A title", (case(),), seeds))
        store.save(runs(seeds=seeds, test=(1.0,) * 8))
        path = shipped.ship(store, "many", tmp_path)
    assert len(shipped.read(path)) == 8
    assert [seed for _, seed in shipped.curves(path)] == [10, 11, 12, 13, 14]


def test_a_long_curve_keeps_its_ends_and_points_evenly_between():
    curves = {"steps": np.arange(201.0), "test": np.arange(201.0) + 5, "weights.0.weight": np.ones(300)}
    found = thinned(curves, case(), 0)
    assert len(found["steps"]) == len(found["test"]) == POINTS and len(found["weights.0.weight"]) == 300
    assert found["steps"][[0, -1]].tolist() == [0, 200] and set(np.diff(found["steps"])) == {10}
    np.testing.assert_array_equal(found["test"], found["steps"] + 5)


@pytest.mark.parametrize(
    "count, place, kept", [(NAMED, 4, NAMED), (NAMED + 1, 0, NAMED + 1), (NAMED + 1, 1, 0)]
)
def test_paths_of_many_weights_are_written_for_one_seed(count, place, kept):
    curves = {"steps": np.arange(3.0), "test": np.ones(3)} | {
        f"0.weight[{i}]": np.ones(3) for i in range(count)
    }
    assert sum("[" in name for name in thinned(curves, case(), place)) == kept


def test_seeds_with_the_same_steps_share_a_line(tmp_path):
    curves = {"steps": np.array([0.0, 1234567.0]), "test": np.array([1.0, 2.0])}
    longer = {"steps": np.array([0.0, 2e6]), "test": np.array([3.0, 4.0])}
    (tmp_path / "a.curves.csv").write_text(text([("x", 0, curves), ("x", 1, longer), ("x", 2, curves)]))
    lines = (tmp_path / "a.curves.csv").read_text().splitlines()
    assert lines[1] == "x,0 2,steps,0 1234567" and len(lines) == 6
    back = read(tmp_path / "a.curves.csv")
    for seed, wanted in ((0, curves), (1, longer), (2, curves)):
        assert list(back["x", seed]) == ["steps", "test"]
        for name, values in wanted.items():
            np.testing.assert_array_equal(back["x", seed][name], values)


@pytest.mark.parametrize(
    "line", [",,test,1 2", "a,x,test,1 2", "a,0,test,1 x", "a,0", "a,,test,1 2"], ids=str
)
def test_a_damaged_curve_is_refused(tmp_path, line):
    (tmp_path / "a.curves.csv").write_text(f"case,seed,curve,values\n{line}\n")
    with pytest.raises(NALMError, match="not a curve"):
        read(tmp_path / "a.curves.csv")


def test_every_column_is_needed(tmp_path):
    (tmp_path / "a.curves.csv").write_text("case,seed,values\n")
    with pytest.raises(NALMError, match="no column 'curve'"):
        read(tmp_path / "a.curves.csv")


def test_without_a_file_there_are_no_curves(tmp_path):
    assert read(tmp_path / "a.curves.csv") == {}
