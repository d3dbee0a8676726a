"""Many seeds of several experiments: nalm run A B --no-curves, then nalm export --tally."""

import csv
import io

import pytest
from typer.testing import CliRunner

from nalm.cli import app
from nalm.errors import NALMError
from nalm.results.store import Store

CHOSEN = ("--only", "unit=NMU", "--only", "unit=NAU", "--only", "range=1:2", "--steps", "30")


def nalm(*words):
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """Two experiments of five seeds, trained in one command."""
    out = tmp_path_factory.mktemp("many") / "runs"
    options = ("--seeds", 5, "--no-curves", "--no-compile", "--workers", 1, "--device", "cpu", "--out", out)
    nalm("run", "thesis/ch3/add", "thesis/ch3/mul", *CHOSEN, *options)
    return out


def test_several_experiments_are_run_at_once(out):
    with Store(out) as store:
        assert set(store.experiments()) == {"thesis/ch3/add", "thesis/ch3/mul"}
        assert sum(sum(found.values()) for found in store.counts().values()) == len(store.outcomes()) == 10


def test_without_curves_the_last_evaluation_is_kept(out):
    with Store(out) as store:
        first = store.outcomes()[0]
        arrays = store.arrays(first.case.hash, first.seed)
    assert arrays["steps"].tolist() == [30] and len(arrays["test"]) == 1
    assert not [name for name in arrays if name.startswith("trajectories")]
    assert [name for name in arrays if name.startswith("weights.")]


def test_tallies_are_exported_as_files(out, tmp_path):
    nalm("export", "--out", out, "--tally", "--to", tmp_path)
    found = sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*.*"))
    assert found == [f"thesis/ch3/{name}.tally.{kind}" for name in ("add", "mul") for kind in ("csv", "json")]


def test_the_runs_of_the_first_seeds_are_exported_beside_a_tally(out, tmp_path):
    nalm("export", "--out", out, "--to", tmp_path, "--seeds", 2)
    with (tmp_path / "thesis/ch3/mul.csv").open(encoding="utf-8") as file:
        assert [row["seed"] for row in csv.DictReader(file)] == ["0", "1"]


def test_tallies_are_printed_as_a_table(out):
    rows = list(csv.DictReader(io.StringIO(nalm("export", "--out", out, "--tally"))))
    assert [(row["label"], row["runs"], row["seeds"]) for row in rows] == [
        ("NAU", "5", "0:5"),
        ("NMU", "5", "0:5"),
    ]


def test_images_are_judged_by_curves(tmp_path):
    words = ["run", "mnist/smoke", "--no-curves", "--device", "cpu", "--out", str(tmp_path)]
    with pytest.raises(NALMError, match="keep them"):
        CliRunner().invoke(app, words, catch_exceptions=False)


@pytest.mark.parametrize(
    ("options", "remedy"),
    [((), "add --to FOLDER"), (("--tally",), "leave out --tally"), (("--tally", "--to", "x"), "leave out")],
)
def test_an_export_that_would_not_choose_seeds_refuses_to(out, options, remedy):
    with pytest.raises(NALMError, match=f"--seeds 1 chooses among the runs that --to writes: {remedy}"):
        words = ["export", "--out", str(out), "--seeds", "1", *options]
        CliRunner().invoke(app, words, catch_exceptions=False)
