"""The page of what there is of the documents: its items exist, hold every published number, and it is up to date."""

from collections import Counter
from pathlib import Path

import pytest
from made import outcomes
from typer.testing import CliRunner

from nalm.claims import ClaimVerdict
from nalm.claims.coverage import Compared, comparisons, counted, items, known, scale
from nalm.claims.coverage_page import page
from nalm.claims.ties import ties
from nalm.cli import app
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import papers
from nalm.landscapes import LANDSCAPES
from nalm.results.tally import Tally

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
WIDEST = 130  # characters of a line
OURS = ("quick", "beyond/", "mnist/smoke", "mnist/product-labels")  # experiments of no document


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


def test_a_number_is_in_the_comparison_of_the_first_experiment_that_has_it():
    first, second = EXPERIMENTS["thesis/ch3/mul"], EXPERIMENTS["thesis/ch4/single"]
    claim, other = next((c, d) for c in first.claims for d in second.claims if c.rows == d.rows)
    verdicts = {
        second.name: [ClaimVerdict(other, None, "differs", "")],
        first.name: [ClaimVerdict(claim, None, "agrees", "")],
    }
    found = comparisons(verdicts)
    assert found[claim.rows[0]] == Compared(first.name, claim.rows, "agrees")
    assert found.keys() == {tie.row for tie in ties()}
    words = Counter(one.word for one in found.values())
    assert words["agrees"] > 1_000 and words["not run"] > 3_000 and "differs" in words  # computed numbers


def test_points_and_repetitions_are_counted_once():
    many = Compared("heim/fsir", ("a:1", "a:2"), "differs")
    assert counted([many, many, Compared("", ("a:3",), "agrees")]) == "1 agree, 1 differ"


def test_an_experiment_without_runs_has_the_published_size_beside_nothing():
    assert scale(EXPERIMENTS["madsen/default"], []) == ((0, 66), (0, 100), (0, 5_000_000))


def test_counted_runs_are_seeds_too():
    runs = outcomes("NMU", (True, False, True))
    one = EXPERIMENTS["quick"].replace(cases=(runs[0].case,), seeds=tuple(range(25)))
    assert scale(one, runs)[:2] == ((1, 1), (3, 25))
    assert scale(one, runs[:1], [Tally.of(runs)])[:2] == ((1, 1), (3, 25))


def test_the_page_in_docs_has_every_item_experiment_and_reason_of_the_data():
    """Without runs, so that it is quick: all but comparisons, numbers of runs and what differs."""
    made, shipped = (_without_numbers(text) for text in (page({}, {}, {}), PAGE.read_text("utf-8")))
    assert made == shipped


def _without_numbers(text):
    head, _, rest = text.partition("## What differs")
    lines = (head + rest.partition("## Not compared")[2]).splitlines()
    return [line.split(" | ")[:3] if line.count(" | ") == 3 else line.split(" | ")[0] for line in lines]


@pytest.mark.slow
def test_the_page_in_docs_is_the_one_that_the_command_makes(monkeypatch):
    monkeypatch.chdir(ROOT)
    made = CliRunner().invoke(app, ["coverage"]).stdout
    assert PAGE.read_text("utf-8") == made
    assert max(map(len, made.splitlines())) <= WIDEST
