"""The tables of docs/future-work.md: what they say of runs that are better, equal or not there."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from nalm import stats
from nalm.config.labels import loss_of, unit_of
from nalm.experiments import EXPERIMENTS
from nalm.lab.measured import shipped_rows

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def future(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    before = set(sys.modules)
    import future as found

    yield found
    for name in {"future", "tables"} - before:
        sys.modules.pop(name, None)


def of_the_papers():
    """The shipped rows without those of the studies."""
    return tuple(r for r in shipped_rows() if not r["experiment"].startswith("beyond/"))


def row(experiment, case, solved, n):
    """A row of the summary as scripts/summary.py makes it."""
    rate = asdict(stats.wilson(solved, n))
    none = {**rate, "estimate": None, "low": None, "high": None, "n": 0}
    return {
        "experiment": experiment,
        "unit": unit_of(case),
        "operation": case.operation,
        "train": str(case.train),
        "test": str(case.test),
        "inputs": case.inputs,
        "case": case.hash,
        "loss": loss_of(case),
        "success": rate,
        "median": none,
        "seconds": 1.0,
        "device": ["cpu"],
        "recipe": json.loads(case.recipe.json()),
    }


def test_without_shipped_runs_a_table_names_the_command(future, monkeypatch):
    monkeypatch.setattr(future, "shipped_rows", lambda: ())
    for table in future.TABLES.values():
        assert table().startswith("No runs of `beyond/")


def test_the_proposal_stands_beside_the_best_published_unit_of_each_cell(future, monkeypatch):
    chosen = [
        case
        for case in EXPERIMENTS["beyond/own-unit"].cases
        if str(case.train) == "U[1.1,1.2)"
        and case.inputs in (10, 100)
        and case.operation in ("add", "multiply")
    ]
    ours = [row("beyond/own-unit", case, 1000, 1000) for case in chosen]
    monkeypatch.setattr(future, "shipped_rows", lambda: (*of_the_papers(), *ours))
    lines = [line for line in future.own_unit().splitlines() if line.startswith("| add")]
    assert [line.split(" | ")[1] for line in lines] == ["10", "100"]
    assert all("`NAU`" in line and line.endswith("| better |") for line in lines)
    assert future.alone().count("| multiply |") == 2  # of which the thesis has no cell


def test_noise_is_compared_with_the_same_unit_without_it(future, monkeypatch):
    case = next(c for c in EXPERIMENTS["beyond/reversible-noise"].cases if c.inputs == 2)
    same = next(
        r
        for r in shipped_rows()
        if r["experiment"] == "thesis/ch5/main"
        and (r["unit"], r["train"], r["inputs"]) == ("NMRU", str(case.train), 2)
    )
    n = same["success"]["n"]
    ours = row("beyond/reversible-noise", case, round(same["success"]["estimate"] * n), n)
    monkeypatch.setattr(future, "shipped_rows", lambda: (*of_the_papers(), ours))
    line = future.noise().splitlines()[2]
    assert line.startswith("| `SNMRU` | uniform | divide | 2 |") and line.endswith("| 1 | no difference |")


def test_the_page_says_what_the_tables_show(future):
    text = (DOCS / "future-work.md").read_text("utf-8")
    cells = [
        line
        for line in future.own_unit().splitlines()
        if line.endswith(("better |", "difference |", "worse |"))
    ]
    better, worse = (sum(line.endswith(f"| {word} |") for line in cells) for word in ("better", "worse"))
    assert f"in {better} of {len(cells)} cells more often than the best published unit" in text
    assert f"in {worse} less often" in text
    assert all("1,000\u00a0of\u00a01,000 | " in line.split(" | ", 5)[5] for line in cells)
    noise = [
        line for line in future.noise().splitlines() if line.endswith(("better |", "difference |", "worse |"))
    ]
    helped, hurt = (sum(line.endswith(f"| {word} |") for line in noise) for word in ("better", "worse"))
    assert f"better in {helped} of {len(noise)} cells and worse in {hurt}" in text
