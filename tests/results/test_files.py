"""Results as files: what is written is read back, and what is damaged is refused."""

import csv
import gzip
import importlib.util
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import case, runs

from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.mnist.two_digits import DIVIDERS
from nalm.results import files as shipped
from nalm.results.curve_files import SEEDS, whole
from nalm.results.store import Store


@pytest.fixture
def folder(tmp_path):
    with Store(tmp_path / "out", create=True) as store:
        store.begin(
            "/somewhere/bin/nalm run small --out /some/folder --seeds 3 --data=/some/digits", "2.13.0"
        )
        store.register(Experiment("group/small", "A title", (case(),), (0, 1, 2)))
        store.save(runs(seeds=(0, 1, 2), test=(1e-12, 1.0, np.nan)))
        shipped.ship(store, "group/small", tmp_path / "results")
        yield tmp_path / "results", store


def test_what_is_shipped_is_read_back(folder):
    results, store = folder
    (path,) = shipped.experiments(results).values()
    back = shipped.read(path)
    for ours, theirs in zip(store.outcomes("group/small"), back, strict=True):
        assert (ours.case, ours.seed, ours.outcome, ours.solved_at) == (
            theirs.case,
            theirs.seed,
            theirs.outcome,
            theirs.solved_at,
        )
        np.testing.assert_allclose([ours.test, ours.sparsity], [theirs.test, theirs.sparsity], rtol=1e-8)


def test_the_origin_is_told_without_paths_of_this_machine(folder):
    results, _ = folder
    about = shipped.about(results / "group" / "small.csv")
    assert about["command"] == ["nalm run small --seeds 3"] and about["runs"] == 3
    assert about["torch"] == ["2.13.0"] and about["device"] == ["cpu"] and about["run_steps"] == 6_000


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/x/nalm run small --data=/a --data /b --out /c --out /d --seeds 3", "nalm run small --seeds 3"),
        ("/x/nalm run 'small --out /c", ""),  # a quote is not closed
    ],
)
def test_no_folder_of_a_command_is_shipped(command, shown):
    assert shipped._without_paths(command) == shown


def test_curves_and_trajectories_come_along(folder):
    results, _ = folder
    curves = shipped.curves(results / "group" / "small.csv")
    assert curves[case().key, 1]["steps"].tolist() == [0, 1_000, 2_000]
    assert curves[case().key, 1]["test"].tolist() == [4.5, 0.5, 0.5]
    assert "0.weight[1]" in curves[case().key, 0]


def test_other_tables_are_not_taken_for_runs(folder):
    results, _ = folder
    (results / "notes.csv").write_text("a,b\n1,2\n")
    (results / "ladder.trials.csv").write_text("a,b\n1,2\n")
    (results / "ladder.json").write_text("{}")
    assert set(shipped.experiments(results)) == {"group/small"}


def test_shipping_twice_gives_the_same_bytes(folder, tmp_path):
    results, store = folder
    shipped.ship(store, "group/small", tmp_path / "again")
    for name in ("small.csv", "small.curves.csv", "small.json"):
        assert (results / "group" / name).read_bytes() == (tmp_path / "again" / "group" / name).read_bytes()


@pytest.mark.parametrize(
    ("outcome", "length", "kept"),
    [
        ("unsolved", 1_000, True),
        ("unsolved", 1_001, False),
        ("diverged", 1_001, False),
        ("solved", 9_999, True),
    ],
)
def test_a_very_long_formula_is_shipped_only_of_a_solved_run(folder, outcome, length, kept):
    _, store = folder
    run = replace(store.outcomes("group/small")[0], outcome=outcome, formula="a" * length)
    assert shipped.shortened(run) == (run if kept else replace(run, formula=""))
    (fit, *_) = EXPERIMENTS["heim/fsir"].cases
    assert shipped.shortened(replace(run, case=fit)).formula == run.formula


def test_a_folder_that_cannot_be_written_is_a_sentence(folder, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NALMError, match="could not be written"):
        shipped.ship(folder[1], "group/small", tmp_path / "file")


def test_nothing_to_ship_is_a_sentence(folder, tmp_path):
    _, store = folder
    with pytest.raises(NALMError, match="no finished run of 'other'"):
        shipped.ship(store, "other", tmp_path)


DAMAGE = {
    "empty": b"",
    "text": b"nonsense",
    "rows": b"case,seed\nx,y\n",
    "bytes": b"\xff",
    "nul": b"case\0,seed\n",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_table_is_refused(folder, damage):
    results, _ = folder
    path = results / "group" / "small.csv"
    path.write_bytes(damage)
    with pytest.raises(NALMError, match="not a table of runs"):
        shipped.read(path)


@pytest.mark.parametrize(
    "text", ["", "[]", '{"cases": 3}', '{"cases": [{"model": 3}]}', '{"cases": [{"evil": 1}]}']
)
def test_a_damaged_description_is_refused(folder, text):
    results, _ = folder
    path = results / "group" / "small.csv"
    (results / "group" / "small.json").write_text(text)
    with pytest.raises(NALMError):
        shipped.read(path)


def test_every_field_of_a_table_is_needed(folder):
    results, _ = folder
    path = results / "group" / "small.csv"
    lines = path.read_text().splitlines()
    names = lines[0].split(",")
    for name in ("case", "seed", "test", "outcome", "steps"):
        renamed = ",".join("x" if n == name else n for n in names)
        path.write_text("\n".join([renamed, *lines[1:]]))
        with pytest.raises(NALMError, match=f"no column '{name}'"):
            shipped.read(path)


def test_the_case_of_a_row_must_be_described(folder):
    results, _ = folder
    path = results / "group" / "small.csv"
    about = json.loads((results / "group" / "small.json").read_text("utf-8"))
    (results / "group" / "small.json").write_text(json.dumps(about | {"cases": []}))
    with pytest.raises(NALMError, match=r"small\.json does not describe: take both files"):
        shipped.read(path)


@pytest.mark.parametrize("name", ["steps", "best_step", "resets", "neighbours"])
def test_a_count_of_a_row_must_be_a_number(folder, name):
    results, _ = folder
    path = results / "group" / "small.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    rows[0][name] = ""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(NALMError, match="not a run"):
        shipped.read(path)


ROOT = Path(__file__).parents[2]


PARTLY = {
    "madsen/default",
    "mnist/colour",
    "mnist/division",
    "mnist/division-starts",
    "mnist/sequence-product",
    "thesis/ch7",
}  # of operations, of layers; units from a start that was not run yet
FEWER = {  # seeds that some of the cases have
    "thesis/ch4/arithmetic": {5},
    "thesis/ch4/noise-ranges": {5},
    "thesis/ch6/losses/arithmetic": {5},
    "beyond/code-architectures": {10},
    "beyond/coefficients": {10},
    "beyond/discreteness": {10},
    "beyond/invalid-outputs": {10},
    "beyond/noise-distributions": {10},
    "beyond/own-unit": {10},
    "beyond/own-unit-losses": {10},
    "beyond/own-unit-divisions": {10},
    "beyond/own-unit-sums": {10},
    "beyond/reversible-noise": {10},
    "beyond/scientific": {10},
    "beyond/scientific-factors": {10},
    "beyond/selection": {10},
    "beyond/two-layer-division": {10},
    "beyond/two-layer-penalty": {10},
    "mnist/division": {3},
    "mnist/division-starts": {3},
    "mnist/sequence-product": {1, 3},
    "mnist/sequence-losses": {1, 3},
    "mnist/sequence-sum": {1},
    "mnist/count": {1},
}


@pytest.mark.parametrize("name", sorted(shipped.experiments(ROOT / "results")))
def test_every_shipped_table_can_be_read_and_belongs_to_an_experiment(name):
    path = ROOT / "results" / f"{name}.csv"
    outcomes, origin = shipped.read(path), shipped.about(path)
    known = EXPERIMENTS[name]
    seeds: dict = {}
    for o in outcomes:
        seeds.setdefault(o.case, set()).add(o.seed)
    asked = {case if not case.task.extends else case.trunk for case in known.cases}  # images: however long
    have = {case if not case.task.extends else case.trunk for case in seeds}
    assert have == asked or name in PARTLY
    assert have <= asked
    for found in seeds.values():
        fewer = [set(range(count)) for count in FEWER.get(name, ())]
        assert found in (set(known.seeds), *fewer)
    assert len(outcomes) == origin["runs"]
    curves = shipped.curves(path)
    assert set(curves) <= {(o.case.key, o.seed) for o in outcomes}
    for asked_for, found in seeds.items():
        drawn = {seed for key, seed in curves if key == asked_for.key}
        needed = found if whole(asked_for) else set(sorted(found)[:SEEDS])
        assert drawn >= needed
    assert all({"steps", "test"} <= set(found) for found in curves.values())
    assert origin["command"] and origin["date"] and origin["torch"] and origin["device"]


@pytest.mark.system
def test_the_summary_in_the_package_is_that_of_the_shipped_results():
    """Means and quantiles differ in the last digits between processors, which add up in other orders.

    A summary is at most some thousand additions of doubles, so 1e-9 is far above what their order can change, and far
    below what one more run would.
    """
    spec = importlib.util.spec_from_file_location("summary_script", ROOT / "scripts" / "summary.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    made = json.loads(gzip.decompress(script.summary(ROOT / "results")))
    kept = json.loads(gzip.decompress((ROOT / "nalm" / "data" / "summary.json.gz").read_bytes()))
    assert len(made) == len(kept) >= 252
    for ours, theirs in zip(made, kept, strict=True):
        assert near(ours, theirs), f"{ours} is not {theirs}"


def near(one, other):
    """Whether two values of JSON are the same but for the last digits of their floats."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(near(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and one == other


def test_a_summary_of_one_run_more_is_another_one():
    row = {"n": 10, "error": {"estimate": 0.25, "low": None}, "seeds": [1, 2]}
    assert near(row, row | {"error": {"estimate": 0.25 * (1 + 1e-15), "low": None}})
    for change in ({"n": 11}, {"error": {"estimate": 0.2501, "low": None}}, {"seeds": [1]}, {"n": 10.0}):
        assert not near(row, row | change)


def test_all_shipped_results_together_stay_small():
    assert sum(p.stat().st_size for p in (ROOT / "results").rglob("*") if p.is_file()) < 30e6


def test_a_nmu_keeps_one_of_a_hundred_sums_or_three():
    runs = shipped.read(ROOT / "results" / "heim" / "large" / "add.csv")
    found = [o for o in runs if o.case.model[-1].unit == "NMU"]
    kept = {o.seed: round(o.measures["nonzero 1e-05"] / 101) for o in found}
    assert sorted(kept.values()) == [1] * 3 + [3] * 7
    for o in found:
        assert 0.004 < o.measures["test"] < 0.007 if kept[o.seed] == 1 else o.measures["validation"] > 17


def test_where_a_unit_divides_the_other_way_round_the_reader_reads_nine_over_the_digit():
    path = ROOT / "results" / "mnist" / "division-starts.csv"
    curves = shipped.curves(path)
    for o in shipped.read(path):
        unit = o.case.model[0].unit
        if unit in DIVIDERS:
            counts = curves[o.case.key, o.seed]["test.confusion"].reshape(2, 10, 10).sum(0)
            turned = unit == "NMRU" or o.case.task.start < 0
            assert o.formula == ("b/a" if turned else "a/b")
            asked = [d for d in range(1, 10) if counts[d].sum()]
            assert all(abs(counts[d].argmax() - (9 / d if turned else d)) <= turned for d in asked)
