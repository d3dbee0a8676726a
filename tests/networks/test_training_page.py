"""The page docs/training.md: its blocks print what they say, and its table shows the shipped figures."""

import json
import re
from pathlib import Path

import pytest
import torch

from benchmarks.attached import WAYS
from benchmarks.computing import NETWORKS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
TRAINS = (0, 2)  # blocks that take long
ADDED = ("nalm.NMU", "nalm.attach", "nalm.diagnose", "nalm.formulas_in", "nalm.snap")


def test_the_tutorial_adds_at_most_five_lines_to_a_loop():
    own = [line for line in BLOCKS[0].splitlines() if "nalm." in line]
    assert len(own) == len(ADDED) and all(name in line for name, line in zip(ADDED, own, strict=True))


@pytest.mark.parametrize(
    "index",
    [pytest.param(i, marks=pytest.mark.slow) if i in TRAINS else i for i in range(len(BLOCKS))],
)
def test_a_block_of_the_page_prints_what_it_says(index, capsys):
    expected = [line.split("# ->")[1].strip() for line in BLOCKS[index].splitlines() if "# ->" in line]
    assert expected
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        exec(BLOCKS[index], {"__name__": "page"})
    output = capsys.readouterr().out
    for line in expected:
        assert line in output, output


def test_the_table_shows_the_shipped_figures():
    totals = json.loads((ROOT / "results" / "beyond" / "attached.json").read_text("utf-8"))["totals"]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.count("|") == 9
    ]
    shown = {row[0]: row[1:] for row in rows if row[1][:1].isdigit()}
    assert len(shown) == len(totals)
    for row in totals:
        figures = ["steps", *(f"{way}_{what}" for what in ("right", "formula") for way in WAYS)]
        assert [int(cell.split()[0].replace(",", "")) for cell in shown[row["problem"]]] == [
            row[f] for f in figures
        ]


def test_the_table_of_networks_that_compute_shows_the_shipped_figures():
    totals = json.loads((ROOT / "results" / "beyond" / "computing.json").read_text("utf-8"))["totals"]
    shown = [line for line in PAGE.splitlines() if any(f"| {network} |" in line for network in NETWORKS)]
    assert shown == [computing_line(row) for row in totals]


def computing_line(row) -> str:
    exact = f"{row['exact']} of {row['seeds']}"
    cells = (
        row["problem"],
        row["network"],
        str(row["parameters"]),
        f"{row['steps']:,}",
        exact,
        f"{row['alone']:g}",
        f"{row['right']:g}",
    )
    return f"| {' | '.join(cells)} |"
