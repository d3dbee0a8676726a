"""The reader of the benchmarks under results/beyond and the sections of the page that show them."""

import json
from pathlib import Path

import pytest

from nalm.errors import NALMError
from nalm.report import page
from nalm.report.sections.benchmarks import benchmarks

RESULTS = Path(__file__).parents[2] / "results"


def shipped(tmp_path, document, name="mine"):
    folder = tmp_path / "beyond"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(document))
    (folder / f"{name}.trials.csv").write_text("seed\n")
    return tmp_path


def test_every_shipped_benchmark_is_read_in_the_order_of_the_page():
    found = benchmarks(RESULTS)
    assert [b["kind"] for b in found] == [
        "compositions",
        "ladder",
        "laws",
        "trajectories",
        "attached",
        "computing",
        "empirical",
        "feynman-contest",
        "feynman",
        "noisy-rivals",
        "noisy",
        "rounded",
    ]
    for b in found:
        name = b["kind"].partition("-")[0]
        assert b["note"] and b["command"].startswith(f"python -m benchmarks.{name} ") and b["rows"]
    json.dumps(found, allow_nan=False)


def test_a_row_of_the_ladder_counts_both_precisions():
    totals = json.loads((RESULTS / "beyond" / "ladder.json").read_text("utf-8"))["totals"]
    (ladder,) = [b for b in benchmarks(RESULTS) if b["kind"] == "ladder"]
    for name in ("problems", "certified", "right", "networks"):
        assert sum(row[name] for row in ladder["rows"]) == sum(row[name] for row in totals)
    assert len({(row["suite"], row["cell"]) for row in ladder["rows"]}) == len(ladder["rows"]) < len(totals)


def test_compositions_have_a_cell_per_method_with_an_interval():
    (found,) = [b for b in benchmarks(RESULTS) if b["kind"] == "compositions"]
    cell = found["rows"][0]["composition"]
    assert (
        cell["rate"]["n"] == cell["problems"]
        and cell["rate"]["low"] < 1
        and cell["right"] <= cell["problems"]
    )


def test_a_benchmark_without_a_view_is_shown_as_a_table(tmp_path):
    about = {"benchmark": "mine", "note": "A <note>.", "command": "python -m benchmarks.mine x"}
    where = shipped(tmp_path, {"about": about, "totals": [{"cell": "a & b", "right": 3, "seconds": None}]})
    (found,) = benchmarks(where)
    assert found["columns"] == ["cell", "right", "seconds"]
    text = page.render(page.content([], with_landscapes=False) | {"benchmarks": [found]}, "here")
    assert 'id="mine"' in text and "A &lt;note&gt;." in text and "<td>a &amp; b</td><td>3</td>" in text


@pytest.mark.parametrize(
    "document",
    [{}, [], {"about": {"benchmark": "ladder"}}, {"about": {"benchmark": "laws", "note": "", "command": ""}}],
)
def test_a_broken_file_is_named_in_the_error(tmp_path, document):
    with pytest.raises(NALMError, match=r"mine\.json cannot be read"):
        benchmarks(shipped(tmp_path, document))


def test_a_folder_without_benchmarks_has_none_and_tables_of_runs_are_left_out(tmp_path):
    assert benchmarks(tmp_path) == []
    (tmp_path / "beyond").mkdir()
    (tmp_path / "beyond" / "losses.json").write_text("{}")
    assert benchmarks(tmp_path) == []
