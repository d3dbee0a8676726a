"""Tables of the commands, as text."""

import io
import math
from dataclasses import replace

import pytest
from made import claim, outcomes
from rich.console import Console

from nalm.claims import judge
from nalm.cli.tables import results, verdicts
from nalm.cli.tables.experiments import listing, shown
from nalm.cli.tables.numbers import few, number
from nalm.cli.tables.status import tables as status_tables
from nalm.config import Range
from nalm.experiments import EXPERIMENTS
from nalm.lab.costs import Machine
from nalm.results.summary import summarise

RUNS = (
    outcomes("NMU", [True] * 25)
    + outcomes("NALU", [True] * 5 + [False] * 20)
    + outcomes("NMU", [False] * 25, train=Range(-2, -1))
)


def printed(*parts, width=80):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


def test_the_table_fits_the_terminal_and_shows_intervals():
    summaries = summarise(RUNS)
    text = printed(*results.success(summaries, 80))
    assert max(map(len, text.splitlines())) <= 80
    assert "1.00" in text and "[.87,1.0]" in text and "U[-2,-1)" in text


def test_units_that_do_not_fit_go_into_a_second_table():
    many = [o for unit in ("NMU", "NALU", "NPU", "NAU", "NRU", "INALU") for o in outcomes(unit, [True])]
    parts = list(results.success(summarise(many), 40))
    assert len(parts) in (4, 6)  # a title and a table each
    text = printed(*parts, width=40)
    assert all(unit in text for unit in ("NMU", "INALU"))
    assert max(map(len, text.splitlines())) <= 40


def test_claims_are_shown_with_their_verdict():
    text = printed(results.beside([judge(claim("success_rate", 0.5), RUNS)]))
    assert "differs" in text and "0.5" in text and "Fig. 1" in text and "p 3e-05" in text


def test_totals_are_shown_by_paper_and_in_all():
    counts = {"Heim 2020": {"agrees": 1_200, "not run": 3}, "Mistry 2021": {"agrees": 1}, "Nobody 1999": {}}
    text = printed(verdicts.totals(counts))
    assert "1,201" in text and "not run" in text and "differs" not in text and "Nobody" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.system
def test_every_experiment_can_be_listed_and_shown():
    assert "thesis/ch3/mul" in printed(*listing(EXPERIMENTS.values(), Machine("cpu", 2)))
    for experiment in EXPERIMENTS.values():
        text = printed(*shown(experiment))
        assert experiment.name in text and max(map(len, text.splitlines())) <= 80


def test_cases_that_differ_in_their_loss_stand_side_by_side():
    plain = outcomes("NAU", [False] * 5)
    other = plain[0].case.replace(recipe=plain[0].case.recipe.replace(loss="centred"))
    summaries = summarise(plain + [replace(o, case=other, outcome="solved", solved_at=1_000) for o in plain])
    text = printed(*results.success(summaries))
    assert "NAU (centred)" in text and "0.00" in text and "1.00" in text
    assert [s.plain()["loss"] for s in summaries] == ["mse", "centred"]


def test_names_of_folders_are_no_markup():
    found = {
        "folder": "a[/b]",
        "experiments": [],
        "working": [],
        "checkpoints": [],
        "networks": [],
        "begun": 3,
    }
    assert "a[/b]" in printed(*status_tables(found)) and "3 runs were started" in printed(
        *status_tables(found)
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.01234, "0.0123"), (12_345.6, "12,346"), (5.4e17, "5.4e+17"), (math.inf, "not finite")],
)
def test_numbers_of_any_size_fit_a_cell(value, text):
    assert few(value) == text
    assert number(value, -math.inf, math.inf) == text
