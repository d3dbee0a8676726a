"""The harness of all benchmarks: resuming, worker processes, the file format and the command line."""

import csv
import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from benchmarks import compositions, harness, ladder, trajectories
from benchmarks.harness import Benchmark, option
from benchmarks.journal import Journal, key
from benchmarks.laws.run import BENCHMARK as LAWS
from benchmarks.progress import Progress
from nalm.errors import NALMError

SHIPPED = {
    "ladder": ladder.BENCHMARK,
    "composition": compositions.BENCHMARK,
    "laws": LAWS,
    "ode": trajectories.BENCHMARK,
}
BEYOND = Path(__file__).parents[2] / "results" / "beyond"


@dataclass(frozen=True)
class Options:
    count: int = option(3, "numbers to square")
    label: str = option("", "a name")
    loud: bool = option(False, "say more")


@dataclass(frozen=True)
class Job:
    number: int


@dataclass(frozen=True)
class Trial:
    number: int
    square: float
    seconds: float


def square(job: Job) -> Trial:
    if job.number < 0:
        raise KeyboardInterrupt
    return Trial(job.number, job.number / 3, 0.5)


def totals(trials):
    return [{"trials": len(trials), "sum": sum(t.square for t in trials), "formula": None}]


def squares(numbers=None) -> Benchmark:
    def jobs(options):
        return [Job(n) for n in (numbers if numbers is not None else range(options.count))]

    return Benchmark("squares", "How to read it.", Options, Trial, jobs, square, totals)


def document(path):
    return json.loads(path.with_name(path.name + ".json").read_text("utf-8"))


def test_trials_and_totals_are_written_in_the_order_of_the_jobs(tmp_path, capsys):
    trials = harness.run(squares(), tmp_path / "deep" / "squares", Options(count=4), workers=1)
    rows = list(csv.DictReader((tmp_path / "deep" / "squares.trials.csv").read_text("utf-8").splitlines()))
    assert [Trial(int(r["number"]), float(r["square"]), float(r["seconds"])) for r in rows] == trials
    found = document(tmp_path / "deep" / "squares")
    assert found["totals"] == totals(trials)
    about = found["about"]
    assert about["benchmark"] == "squares" and about["note"] == "How to read it."
    assert about["command"] == "python -m benchmarks.squares results/beyond/squares --count 4"
    assert about["versions"]["nalm"] and about["cores"] and about["workers"] == 1 and about["date"]
    assert "4 trials" in capsys.readouterr().err and not list(tmp_path.rglob("*.jsonl"))


def test_facts_and_tables_of_a_benchmark_stand_beside_the_totals(tmp_path):
    more = replace(
        squares(),
        facts=lambda options: {"published": {"x": 1.0}},
        tables=lambda trials: {"speed": [{"n": 1}]},
    )
    harness.run(more, tmp_path / "squares", Options(), workers=1)
    found = document(tmp_path / "squares")
    assert found["about"]["published"] == {"x": 1.0} and found["speed"] == [{"n": 1}]
    assert [*found] == ["about", "totals", "speed"]


def test_an_interrupted_benchmark_continues_where_it_stopped(tmp_path, capsys):
    with pytest.raises(KeyboardInterrupt):
        harness.run(squares([1, 2, -1, 4]), tmp_path / "squares", Options(), workers=1)
    journal = tmp_path / "squares.journal.jsonl"
    assert len(journal.read_text("utf-8").splitlines()) == 3
    with journal.open("a") as file:
        file.write('["{\\"num')  # a line cut by the interruption
    trials = harness.run(squares([1, 2, 4]), tmp_path / "squares", Options(), workers=1)
    assert [t.number for t in trials] == [1, 2, 4] and not journal.exists()
    assert "2 of 3 trials are in" in capsys.readouterr().err


def test_a_journal_with_other_settings_or_a_broken_line_is_refused(tmp_path):
    path, trial = tmp_path / "j.jsonl", Trial(1, 1.0, float("inf"))
    with Journal(path, Trial, {"nalm": "1"}) as journal:
        journal.add(Job(1), trial)
    with Journal(path, Trial, {"nalm": "1"}) as journal:
        assert journal.done == {key(Job(1)): trial}
    with pytest.raises(NALMError, match="other settings"), Journal(path, Trial, {"nalm": "2"}):
        pass
    path.write_text(path.read_text("utf-8") + "broken\n" + "{}\n")
    with pytest.raises(NALMError, match="Line 3"), Journal(path, Trial, {"nalm": "1"}):
        pass
    with pytest.raises(NALMError, match="closed"):
        Journal(path, Trial, {}).add(Job(1), trial)


def test_the_time_left_follows_from_the_trials_seen(capsys):
    progress = Progress([("slow", 10.0)] * 20 + [("fast", 1.0)] * 2, workers=2, every=0.0)
    assert progress.eta() == 101.0
    for _ in range(10):
        time.sleep(0.001)
        progress.step("slow", 4.0)
    assert progress.eta() == 21.0
    assert "10 of 22 trials, 21 s left" in capsys.readouterr().err


def test_a_table_aligns_columns_and_cuts_long_cells():
    text = harness.table([{"cell": "a", "n": 1, "x": None}, {"cell": "b" * 60, "n": 10, "x": 0.123456}], 20)
    assert text.splitlines() == [
        f"{'cell':20s}  n   x",
        f"{'a':20s}  1   -",
        f"{'b' * 20}  10  0.1235",
    ]
    assert harness.table([]) == ""


def test_the_command_line_runs_a_benchmark_and_prints_its_totals(tmp_path, capsys):
    words = [str(tmp_path / "squares"), "--workers", "1", "--count", "2", "--label", "my name", "--loud"]
    assert harness.main(squares(), words) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["trials", "sum", "formula"]
    command = document(tmp_path / "squares")["about"]["command"]
    assert command.endswith("results/beyond/squares --count 2 --label 'my name' --loud")


def test_the_command_line_prints_errors_as_one_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert harness.main(squares(), [str(tmp_path / "file" / "x"), "--workers", "1"]) == 2
    assert "could not be written" in capsys.readouterr().err


@pytest.mark.parametrize("benchmark", SHIPPED.values(), ids=lambda b: b.name)
def test_every_benchmark_has_the_same_command_line(benchmark, capsys):
    with pytest.raises(SystemExit) as stopped:
        harness.main(benchmark, ["--help"])
    text = capsys.readouterr().out
    assert stopped.value.code == 0 and "--workers" in text and f"benchmarks.{benchmark.name}" in text
    assert all(f"--{name}" in text for name in asdict(benchmark.options()))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_file_has_the_one_format(name):
    benchmark, found = SHIPPED[name], document(BEYOND / name)
    about = found.pop("about")
    assert about["benchmark"] == benchmark.name and about["note"] == benchmark.note
    assert about["command"].startswith(f"python -m benchmarks.{benchmark.name} results/beyond/{name} ")
    assert {"date", "seconds", "versions"} <= about.keys() and about["versions"]["nalm"]
    assert all(isinstance(row, dict) for table in found.values() for row in table)
    lines = (BEYOND / f"{name}.trials.csv").read_text("utf-8").splitlines()
    assert lines[0].split(",") == list(benchmark.trial.__dataclass_fields__)
    given = harness.described({"about": about, **found})
    assert json.loads(given) == {"about": about, **found}


@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_totals_follow_from_the_shipped_trials(name):
    benchmark, found = SHIPPED[name], document(BEYOND / name)
    text = (BEYOND / f"{name}.trials.csv").read_text("utf-8")
    kinds = {n: f.type for n, f in benchmark.trial.__dataclass_fields__.items()}
    trials = [
        benchmark.trial(**{n: value(kinds[n], cell) for n, cell in row.items()})
        for row in csv.DictReader(text.splitlines())
    ]
    del found["about"]
    assert {"totals": benchmark.totals(trials), **benchmark.tables(trials)} == found


def value(kind, cell):
    if kind is bool:
        return cell == "True"
    return None if cell == "" and kind is not str else (float if kind == float | None else kind)(cell)
