"""A results folder from the command line: one run, deletion, comparison of units, and the list of experiments."""

import json
import os

import pytest
from made import case, runs
from typer.testing import CliRunner

from nalm.cli import app
from nalm.config import Experiment, Layer
from nalm.errors import NALMError
from nalm.results.store import Store

NMU, NALU = case(), case().replace(model=(Layer("NALU"),))


def nalm(*words, columns=80, typed=""):
    env = {"COLUMNS": str(columns)}
    done = CliRunner().invoke(app, [str(w) for w in words], env=env, catch_exceptions=False, input=typed)
    assert all(len(line) <= columns for line in done.stdout.splitlines() if "http" not in line) or typed
    return done


@pytest.fixture
def folder(tmp_path):
    with Store(tmp_path / "runs", create=True) as store:
        store.register(Experiment("mine/first", "Which?", (NMU, NALU), (0, 1)))
        store.save(runs([NMU, NMU], test=(1e-12, 1e-12)))
        store.save(runs([NALU, NALU], test=(1.0, 1e-12)))
    return tmp_path / "runs"


@pytest.mark.parametrize("columns", [40, 200])
def test_a_folder_its_cases_and_one_run_are_shown(folder, columns):
    assert NMU.key in nalm("show", folder, columns=columns).stdout
    listed = nalm("show", folder, NALU.key[:6], columns=columns).stdout
    assert "a*b" in listed and "solved" in listed
    one = nalm("show", folder, NALU.key, 0, columns=columns).stdout
    text = " ".join(one.split())
    assert "NALU, seed 0: multiply of 2 inputs, U[1,2) to U[2,6)" in text and "Recipe: adam, lr 0.001" in text
    assert "Ended: not discrete, near the right formula" in text and "Formula: a*b" in text
    assert "log10 of the test error" in text and "0.weight" in text


def test_a_run_that_is_not_there_is_a_sentence(folder):
    for words, said in (
        (("ffffff",), "has no single case 'ffffff'"),
        (("",), None),
        ((NMU.key, 9), "has no finished run of case"),
    ):
        if said:
            with pytest.raises(NALMError, match=said):
                nalm("show", folder, *words)
    with pytest.raises(NALMError, match="CASE and SEED choose a run of a results folder, and quick is none"):
        nalm("show", "quick", NMU.key)


def test_a_run_speaks_json(folder):
    (found,) = json.loads(nalm("show", folder, NALU.key, 0, "--json", columns=10_000).stdout)
    assert found["seed"] == 0 and found["ended"].startswith("not discrete") and found["solved_at"] is None


def test_runs_are_deleted_after_a_question(folder):
    done = nalm("delete", "mine/first", "--only", "unit=NALU", "--out", folder, typed="n\n")
    assert "2 runs in" in done.stdout and done.exit_code == 1
    with Store(folder) as store:
        assert len(store.outcomes()) == 4
    nalm("delete", NALU.key, "--out", folder, "--yes", columns=500)
    with Store(folder) as store:
        assert {o.case for o in store.outcomes()} == {NMU}
    nalm("delete", "mine", "--out", folder, "--yes", columns=500)
    with Store(folder) as store:
        assert store.experiments() == {} and store.outcomes() == []


@pytest.mark.parametrize("columns", [40, 200])
def test_units_are_ranked_and_compared_on_any_terminal(folder, columns):
    ranked = nalm("compare", folder, columns=columns).stdout
    assert "mine/first: multiply, 2 inputs" in " ".join(ranked.split()) and "NALU" in ranked
    both = " ".join(nalm("compare", folder, "--units", "NMU", "NALU", columns=columns).stdout.split())
    assert "Nothing tells NMU from NALU over 1 task and 2 pairs of runs" in both


def test_comparisons_speak_json_and_draw(folder, tmp_path):
    pytest.importorskip("matplotlib")
    words = ("compare", folder, "--units", "NMU", "NALU", "--json", "--figure", tmp_path / "lead.svg")
    found = json.loads(nalm(*words, columns=10_000).stdout)
    assert found["first"] == "NMU" and found["overall"]["estimate"] == 0.5 and len(found["tasks"]) == 1
    assert os.path.getsize(tmp_path / "lead.svg") > 2_000
    places = json.loads(nalm("compare", folder, "--json", columns=10_000).stdout)
    assert [u["place"] for u in places[0]["units"]] == [1, 1]
    with pytest.raises(NALMError, match="give one folder alone"):
        nalm("compare", folder, folder, "--units", "NMU", "NALU")


@pytest.mark.parametrize("columns", [40, 200])
def test_experiments_are_listed_one_line_each(folder, columns):
    from nalm.experiments import EXPERIMENTS, MODULES

    lines = nalm("list", columns=columns).stdout.splitlines()
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert named == list(EXPERIMENTS)
    assert len(lines) <= len(EXPERIMENTS) + len(MODULES) + 6  # a line each, one per paper, two sentences


def test_the_list_is_searched_by_word_paper_unit_and_what_is_done(folder):
    def found(*words):
        return {e["name"] for e in json.loads(nalm("list", *words, "--json", columns=10_000).stdout)}

    assert found("parity") == set() and "quick" in found("multiply")
    assert found("--paper", "madsen") and all(
        name.startswith("madsen") for name in found("--paper", "Madsen 2020")
    )
    assert "quick" in found("--unit", "SNMU") and "thesis/ch3/add" not in found("--unit", "SNMU")
    assert found("--done", "--out", str(folder)) == set()
