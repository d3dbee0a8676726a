"""The laboratory from the command line, as a person would use it: processes, files and faults included."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nalm import cli

pytestmark = [pytest.mark.system, pytest.mark.xdist_group("laboratory")]  # one process makes the folder
SMALL = ["--only", "range=1:2", "--steps", "200", "--seeds", "2", "--no-compile"]
MINE = "import nalm\n\n\nclass Mine(nalm.NMU):\n    '''A unit of my own.'''\n"


def nalm(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nalm", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One small run, looked at by several tests."""
    out = tmp_path_factory.mktemp("lab") / "runs"
    done = nalm("run", "quick", *SMALL, "--only", "unit=NMU", "--workers", "1", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out, done


def test_a_run_ends_with_a_table_of_intervals_and_plain_lines_of_progress(folder):
    _, done = folder
    assert "share of 2 runs solved [95% interval]" in done.stdout and "U[1,2)" in done.stdout
    assert "2 of 2 runs finished" in done.stderr and "\x1b" not in done.stdout + done.stderr


def test_status_says_what_is_there(folder):
    out, _ = folder
    done = nalm("status", "--out", str(out))
    assert "quick" in done.stdout and "no run is unfinished" in done.stdout
    found = json.loads(nalm("status", "--out", str(out), "--json").stdout)
    assert found["experiments"][0]["runs"] == 2 and found["working"] == []


def test_export_is_a_table_of_runs(folder):
    out, _ = folder
    rows = list(csv.DictReader(io.StringIO(nalm("export", "--out", str(out)).stdout)))
    assert [(r["unit"], r["seed"], r["train"]) for r in rows] == [
        ("NMU", "0", "U[1,2)"),
        ("NMU", "1", "U[1,2)"),
    ]


def test_export_makes_the_files_that_are_shipped(folder, tmp_path):
    out, _ = folder
    done = nalm("export", "--out", str(out), "--to", str(tmp_path))
    assert done.returncode == 0
    assert {p.name for p in tmp_path.iterdir()} == {"quick.csv", "quick.curves.csv", "quick.json"}
    about = json.loads((tmp_path / "quick.json").read_text("utf-8"))
    assert about["command"][0].startswith("nalm run quick --only") and str(tmp_path.parent) not in str(
        about["cases"]
    )


def test_an_experiment_that_is_not_there_is_said(folder):
    out, _ = folder
    done = nalm("export", "--out", str(out), "--experiment", "thesis")
    assert done.returncode == 2 and "There is no experiment in" in done.stderr


@pytest.mark.slow
def test_a_unit_of_ones_own_is_run_beside_the_published_ones(tmp_path):
    (tmp_path / "my_unit.py").write_text(MINE)
    words = ["run", "thesis/ch3/mul", *SMALL, "--unit", "my_unit.py:Mine", "--json", "--workers", "2"]
    done = nalm(*words, "--only", "unit=NMU", "--only", "unit=Mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 2 and rows[-1]["unit"].startswith("Mine@") and rows[-1]["success"]["n"] == 2
    nmu = next(r for r in rows if r["unit"] == "NMU")
    assert rows[-1]["formulas"] == nmu["formulas"]  # the same unit, the same seeds, the same draws


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["run", "thesis/ch3/mull"], "Did you mean 'thesis/ch3/mul'"),
        (["show", "nothing"], "There is no experiment called 'nothing'"),
        (["run", "quick", "--device", "tpu"], "There is no device called 'tpu'"),
        (["run", "quick", "--seeds", "x"], "--seeds takes"),
        (["status", "--out", "nowhere"], "There are no results in nowhere"),
        (["run", "quick", "--unit", "x.py:Y"], "There is no file x.py"),
    ],
)
def test_a_mistake_is_one_sentence_and_makes_nothing(words, answer, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["nalm", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    said = capsys.readouterr().err
    assert stop.value.code == 2 and answer in said
    assert len(said.strip().splitlines()) == 1 and list(tmp_path.iterdir()) == []


def test_experiments_are_listed_and_shown():
    listed = json.loads(nalm("list", "--json").stdout)
    assert {e["name"] for e in listed} >= {"quick", "thesis/ch3/add", "thesis/ch3/redundancy"}
    asked = CliRunner().invoke
    assert "thesis/ch3/redundancy" in asked(cli.app, ["list"]).stdout
    assert "NACMul" in asked(cli.app, ["show", "thesis/ch3/mul"]).stdout
    shown = json.loads(nalm("show", "quick", "--json").stdout)
    assert len(shown[0]["cases"]) == 54


@pytest.mark.slow
def test_landscapes_are_shown_with_their_minima():
    text = nalm("show", "landscapes/nmu").stdout
    assert "(1, 1) solution" in text and "(-0.1667, -0.5)" in text
    (found,) = json.loads(nalm("run", "landscapes/nmu", "--json").stdout)
    assert len(found["z"]) == len(found["y"])
    done = nalm("show", "landscapes/nmuu")
    assert done.returncode == 2 and "Did you mean 'landscapes/nmu'" in done.stderr


@pytest.mark.system
def test_a_full_disk_is_a_sentence_and_loses_no_finished_run(tmp_path):
    """A file system of one megabyte: small runs fit, many long curves do not."""
    folder = tmp_path / "small"
    folder.mkdir()
    how = "--only unit=NMU --workers 1"
    first = f'"$0" -m nalm run quick {" ".join(SMALL)} {how} --out "$1"'
    fill = 'head -c 2000000 /dev/zero > "$1/ballast"'
    second = f'"$0" -m nalm run quick --steps 100 --seeds 300 --no-compile {how} --out "$1"'
    script = f'mount -t tmpfs -o size=900k none "$1" && {first} && ({fill}; {second}; echo code $?; '
    script += 'rm "$1/ballast"; "$0" -m nalm export --out "$1")'
    words = ["unshare", "-rm", "sh", "-c", script, sys.executable, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mounts here: {done.stderr.strip()[:100]}")
    assert "code 2" in done.stdout and "Traceback" not in done.stderr
    assert "free some space and run the same command again" in done.stderr or "No space left" in done.stderr
    kept = [line for line in done.stdout.splitlines() if ",NMU,multiply," in line]
    assert len(kept) == 2
