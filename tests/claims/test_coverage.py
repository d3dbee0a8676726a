"""The page of what there is of the documents: its items exist, hold every published number, and it is up to date."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nalm.claims import ClaimVerdict, coverage
from nalm.claims.coverage import counted, items, known, scale, words
from nalm.claims.coverage_page import markdown
from nalm.claims.ties import ties
from nalm.cli import app
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import papers
from nalm.landscapes import LANDSCAPES

ROOT = Path(__file__).parents[2]
OURS = ("quick", "beyond/", "mnist/smoke")  # experiments of no document


@pytest.mark.parametrize("item", items(), ids=lambda item: f"{item.document} {item.item} {item.about}")
def test_what_an_item_names_exists(item):
    assert item.document in papers() and item.item and item.about
    assert bool(item.here) != bool(item.reason), "it is here, or left out for a reason"
    for name in item.here:
        assert known(name, (*EXPERIMENTS, *LANDSCAPES)) or (ROOT / name).is_file(), name


def test_every_published_number_belongs_to_one_item():
    for tie in ties():
        assert len([item for item in items() if item.holds(tie)]) == 1, tie.claim


def test_every_experiment_and_analytic_figure_belongs_to_an_item():
    named = {
        name
        for item in items()
        for pattern in item.here
        for name in known(pattern, (*EXPERIMENTS, *LANDSCAPES))
    }
    rest = {*EXPERIMENTS, *LANDSCAPES} - named
    assert {name for name in rest if not name.startswith(OURS)} == set()


def test_a_number_has_the_word_of_the_first_experiment_that_compares_it():
    first, second = EXPERIMENTS["thesis/ch3/mul"], EXPERIMENTS["thesis/ch4/single"]
    shared = next(c for c in first.claims if any(c.rows == d.rows for d in second.claims))
    verdicts = {
        e.name: [ClaimVerdict(shared, None, word, "")] for e, word in ((second, "differs"), (first, "agrees"))
    }
    found = words(verdicts)
    assert found[shared.rows[0]] == "agrees"
    assert {found[tie.row] for tie in ties() if tie.kind == "reason"} == {"not compared"}
    assert sum(word == "not run" for word in found.values()) > 2_000
    assert counted(["differs", "agrees", "agrees", "not run"]) == "2 agree, 1 differ, 1 not run"


def test_an_experiment_without_runs_has_the_published_size_beside_nothing():
    assert scale(EXPERIMENTS["madsen/default"], []) == ((0, 66), (0, 100), (0, 5_000_000))


@pytest.mark.slow
def test_the_page_in_docs_is_the_one_that_the_command_makes(monkeypatch):
    monkeypatch.chdir(ROOT)
    made = markdown("results")
    assert (ROOT / "docs" / "coverage.md").read_text("utf-8") == made
    assert CliRunner().invoke(app, ["coverage"]).stdout == made
    assert max(map(len, made.splitlines())) <= coverage.WIDEST
