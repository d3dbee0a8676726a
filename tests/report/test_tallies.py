"""A page with tallies: numbers of all seeds that were counted, and the runs of the first seeds behind them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from nalm import stats
from nalm.report import page as pages
from nalm.report.study import best, studies
from nalm.results import files as shipped
from nalm.results import tally_files
from nalm.results.tally import tallies

RESULTS, NAME = Path(__file__).parents[2] / "results", "thesis/ch5/l1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The shipped runs of 25 seeds, and a tally of four times as many of every case but the last."""
    folder = tmp_path_factory.mktemp("results")
    path = folder / f"{NAME}.csv"
    path.parent.mkdir(parents=True)
    for suffix in (".csv", ".json"):
        path.with_suffix(suffix).write_text(
            (RESULTS / NAME).with_suffix(suffix).read_text("utf-8"), encoding="utf-8"
        )
    runs = [replace(o, seed=o.seed + add) for add in (0, 25, 50, 75) for o in shipped.read(path)]
    found = tallies(runs)[:-1]
    path.with_suffix(".tally.csv").write_text(tally_files.table(found), encoding="utf-8")
    about = shipped.about(path) | {"runs": len(runs), "command": ["nalm run much"]}
    path.with_suffix(".tally.json").write_text(shipped.described(about), encoding="utf-8")
    return folder


def test_the_larger_number_of_seeds_is_shown_with_the_runs_that_are_here(folder):
    (study,) = studies(folder)
    (found,) = pages.content([study], with_landscapes=False)["experiments"]
    cells = [cell for group in found["panels"] for cell in group["cells"]]
    assert sorted({cell["success"]["n"] for cell in cells}) == [25, 100]
    assert [cell["success"]["n"] for cell in cells].count(25) == 1
    for cell in cells:
        rows = found["runs"][cell["case"]]
        solved = sum(row[1] == "solved" for row in rows)
        times = cell["success"]["n"] // 25
        assert cell["success"]["low"] == pytest.approx(stats.wilson(times * solved, times * 25).low, rel=1e-6)
        assert len(rows) == 25 and cell["right"]["n"] == 25
    assert found["counted"] == 100 and found["cost"]["counted"]["runs"] == 4 * len(study.outcomes)


def test_the_page_says_which_numbers_are_counted(folder, tmp_path):
    text = re.sub(r"\s+", " ", pages.write(folder, tmp_path / "x.html", NAME).read_text("utf-8"))
    assert "up to 100 seeds of each case" in text and "the first 25 seeds" in text
    assert "Counted in tallies" in text and "<code>nalm run much</code>" in text
    without = pages.write(RESULTS, tmp_path / "y.html", "thesis/ch3/add").read_text("utf-8")
    assert ("Counted in tallies" in without) == (RESULTS / "thesis/ch3/add.tally.csv").exists()


def test_few_runs_that_are_all_solved_do_not_beat_many():
    sure, lucky = studies(RESULTS, NAME)[0].summaries[:2]
    sure = replace(sure, case=lucky.case, success=stats.wilson(999, 1_000))
    lucky = replace(lucky, success=stats.wilson(25, 25))
    study = replace(studies(RESULTS, NAME)[0], summaries=[lucky, sure])
    (ranges,) = best([study]).values()
    assert next(iter(ranges.values()))[0] is sure
