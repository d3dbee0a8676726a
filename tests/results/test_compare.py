"""What changed between two sets of runs, by hand and through the command line."""

import json
import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from made import case, outcomes, runs
from typer.testing import CliRunner

import nalm.cli.compare  # noqa: F401  (registers its commands)
from nalm.claims.compare import compare_published
from nalm.cli.app import app
from nalm.config import Arithmetic, Case, Experiment, Layer, Range
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.results.compare import compare
from nalm.results.files import ship
from nalm.results.store import Store

ROOT = Path(__file__).parents[2]
ALL, NONE = [True] * 10, [False] * 10


def by_unit(changes):
    return {c.case.model[0].unit: c for c in changes}


def test_the_same_runs_are_identical_and_nothing_changed():
    a = {"e": outcomes("NMU", ALL) + outcomes("NALU", NONE)}
    for c in compare(a, a):
        assert c.identical and not c.changed and not c.flipped and c.p == 1 and c.seeds == 10


def test_identical_is_about_how_runs_ended_not_about_what_they_cost():
    a = outcomes("NMU", ALL)
    dearer = [replace(o, seconds=9.0, device="cuda", version="2", test=o.test) for o in a]
    assert compare({"e": a}, {"e": dearer})[0].identical
    for change in ({"test": 1.0}, {"formula": "a"}, {"best_step": 1}, {"outcome": "diverged"}):
        other = [replace(o, **change) for o in a[:1]] + a[1:]
        assert not compare({"e": a}, {"e": other})[0].identical


def test_numbers_are_identical_to_the_digits_of_a_shipped_table():
    a = [replace(o, test=1 / 3, sparsity=math.nan) for o in outcomes("NMU", ALL)]
    short = [replace(o, test=float(f"{o.test:.9g}")) for o in a]
    assert compare({"e": a}, {"e": short})[0].identical
    off = [replace(o, test=o.test * 1.0001) for o in a]
    assert not compare({"e": a}, {"e": off})[0].identical


def test_planted_differences_are_found_and_corrected_by_hand():
    """McNemar's p is 2 / 2^10, 2 / 2^6 and 1; Holm's factors are 3, 2 and 1."""
    a = {"e": outcomes("NMU", ALL) + outcomes("NAU", ALL) + outcomes("NAC", ALL)}
    b = {"e": outcomes("NMU", NONE) + outcomes("NAU", [False] * 6 + [True] * 4) + outcomes("NAC", ALL)}
    found = compare(a, b)
    assert [c.case.model[0].unit for c in found] == ["NMU", "NAU", "NAC"]  # the most changed first
    nmu, nau, nac = found
    assert [c.success.p for c in found] == pytest.approx([2 / 1024, 2 / 64, 1])
    assert [c.success_p for c in found] == pytest.approx([6 / 1024, 4 / 64, 1])
    assert nmu.changed and not nau.changed and not nac.changed and nac.identical
    assert (nmu.success.estimate, nau.success.estimate) == (-1, -0.6)  # B minus A
    assert (nmu.gained, nmu.lost, nau.flipped) == (0, 10, 6)
    assert (nmu.a.estimate, nmu.b.estimate) == (1, 0)
    assert nmu.steps is None and nmu.steps_p == 1  # nothing is solved in both
    assert nau.steps.n == 4 and nau.steps.estimate == 0


def test_a_difference_in_steps_is_found_over_the_seeds_solved_in_both():
    """Nine pairs, each later by another amount: Wilcoxon's p is 2 / 2^9, and there is one other test."""
    a = outcomes("NMU", ALL) + outcomes("NAU", ALL)
    b = [replace(o, solved_at=o.solved_at + 100 * (o.seed + 1)) for o in outcomes("NMU", ALL)]
    b[0] = replace(b[0], outcome="unsolved")  # its solved_at remains and must not count
    found = by_unit(compare({"e": a}, {"e": b + outcomes("NAU", ALL)}))
    nmu = found["NMU"]
    assert nmu.steps.n == 9 and nmu.steps.estimate == pytest.approx(600)
    assert nmu.steps.p == pytest.approx(2 / 512) and nmu.steps_p == pytest.approx(4 / 512)
    assert nmu.changed and nmu.flipped == 1 and nmu.success_p == 1 and not found["NAU"].changed


def test_seeds_are_paired_and_those_without_a_partner_are_counted():
    a, b = outcomes("NMU", ALL), outcomes("NMU", [False] * 4 + [True] * 12)
    (c,) = compare({"e": a[2:]}, {"e": b})
    assert (c.seeds, c.only_a, c.only_b) == (8, 0, 8) and not c.identical
    assert c.lost == 2 and c.success.estimate == -0.25 and c.a.n == 8
    (fewer,) = compare({"e": a[:5]}, {"e": a})
    assert not fewer.identical and not fewer.changed and not fewer.flipped
    (alone,) = compare({"e": a[:3]}, {"e": a[3:]})
    assert (alone.seeds, alone.only_a, alone.only_b) == (0, 3, 7)
    assert alone.success is None and alone.p == 1 and not alone.changed and not alone.missing


def test_cases_without_a_test_do_not_weigh_on_the_others():
    a, b = outcomes("NMU", ALL), outcomes("NMU", NONE)
    extra = outcomes("NAC", ALL)
    (c, *_) = compare({"e": a + extra[:5]}, {"e": b + extra[5:]})
    assert c.success_p == pytest.approx(2 / 1024)


def test_cases_of_one_side_are_listed_as_missing():
    found = by_unit(compare({"e": outcomes("NMU", ALL)}, {"f": outcomes("NAU", ALL)}))
    assert (found["NMU"].missing, found["NAU"].missing) == ("B", "A")
    assert found["NMU"].experiment == "e" and found["NAU"].experiment == "f"
    assert compare({}, {}) == []


def test_a_case_is_known_by_its_content_whatever_the_experiment_is_called():
    a = outcomes("NMU", ALL)
    (c,) = compare({"quick": a, "again": a}, {"other": a})
    assert c.identical and c.seeds == 10 and c.experiment == "quick"


def test_a_change_is_plain_json():
    a, b = outcomes("NMU", [True]), outcomes("NMU", [True], at=4_000)
    for c in compare({"e": a + outcomes("NAC", ALL)}, {"e": b}):
        row = json.loads(json.dumps(c.plain(), allow_nan=False))
        assert row["experiment"] == "e" and row["changed"] is False and row["train"] == "U[1,2)"
        assert row["missing"] == "B" or (row["steps"]["estimate"] == 1_000 and row["steps"]["low"] is None)


def test_ten_times_the_cases_take_about_ten_times_as_long():
    def taken(cases):
        a, b = ([o for lr in range(1, cases + 1) for o in relearned(lr, shift)] for shift in (0, 7))
        began = time.process_time()
        assert len(compare({"e": a}, {"e": b})) == cases
        return time.process_time() - began

    taken(2)  # what is imported or cached once
    assert taken(200) < 30 * taken(20)


def relearned(lr, shift):
    made = outcomes("NMU", [(lr + i) % 3 > 0 for i in range(25)], at=3_000 + shift)
    other = made[0].case.replace(recipe=made[0].case.recipe.replace(lr=lr))
    return [replace(o, case=other) for o in made]


# -- beside what was published --------------------------------------------------------------------


def published(rate, name="thesis/ch3/mul", steps=50_000):
    """Runs of the NMU on the ranges of the experiment, so many of 25 solved."""
    cases = [c for c in EXPERIMENTS[name].cases if c.model[0].unit == "NMU"]
    cases = [c.replace(recipe=c.recipe.replace(steps=steps)) for c in cases]
    made = outcomes("NMU", [i < rate for i in range(25)])
    return {name: [replace(o, case=c) for c in cases for o in made]}


def test_claims_stand_beside_the_runs_they_are_about():
    verdicts = compare_published(published(25), {})["thesis/ch3/mul"]
    assert len(verdicts) == len(EXPERIMENTS["thesis/ch3/mul"].claims)
    assert any(v.claim.unit == "NMU" and v.verdict == "agrees" for v in verdicts)
    words = [v.verdict for v in compare_published(published(0), {})["thesis/ch3/mul"]]
    assert "differs" in words
    assert words == sorted(words, key=["differs", "agrees", "cannot tell", "not run"].index)


def test_runs_of_another_recipe_do_not_count_as_published():
    verdicts = compare_published(published(25, steps=100), {})["thesis/ch3/mul"]
    assert {v.verdict for v in verdicts} == {"not run"}
    assert {v.why for v in verdicts} == {"no runs of ours: nalm run thesis/ch3/mul"}


def test_an_experiment_without_claims_is_a_sentence():
    with pytest.raises(NALMError, match="Nothing is published about quick"):
        compare_published({"quick": outcomes("NMU", ALL)}, {})


# -- the command --------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path):
    """A store, another in which every run of one case failed, and the first as files."""
    seeds, names = tuple(range(8)), ("a", "b")
    cases = (case(), case(lr=1e-2))
    for name, test in zip(names, (1e-12, 1.0), strict=True):
        with Store(tmp_path / name, create=True) as store:
            store.begin("nalm run small", "2.13.0")
            store.register(Experiment("small", "A title", cases, seeds))
            store.save(runs(cases=[cases[0]] * 8, seeds=seeds, test=[test] * 8))
            store.save(runs(cases=[cases[1]] * 8, seeds=seeds, test=[1e-12] * 8))
            ship(store, "small", tmp_path / f"{name}-files")
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_folder_and_itself_show_no_change(folders):
    assert run(folders / "a", folders / "a") == "0 of 2 cases changed (Holm's p < 0.05); 2 identical.\n"
    assert run(folders / "a", folders / "a-files").startswith("0 of 2 cases changed")


def test_what_changed_is_marked_and_counted(folders):
    text = run(folders / "a", folders / "b-files")
    assert "changed" in text and "+0 -8" in text and "-1.00, p 0.016" in text
    assert text.splitlines()[-1] == "1 of 2 cases changed (Holm's p < 0.05); 1 identical."
    assert max(map(len, text.splitlines())) <= 80
    first, second = json.loads(run(folders / "a", folders / "b", "--json"))
    assert first["changed"] and first["lost"] == 8 and second["identical"]


@pytest.mark.slow
def test_the_published_claims_stand_for_the_second_folder():
    text = run(ROOT / "results", "published")
    assert "published numbers differ from ours" in text.splitlines()[-1]
    assert max(map(len, text.splitlines())) <= 80
    found = json.loads(run(ROOT / "results", "published", "--json"))
    rows, totals = found["numbers"], found["totals"]
    assert sum(n for of in totals.values() for n in of.values()) > 2_000 and "Mistry 2023" in totals
    differ = sum(row["verdict"] == "differs" for row in rows)
    assert text.splitlines()[-1].startswith(f"{differ} of ") and rows[0]["place"]


def test_mistakes_are_sentences(folders, tmp_path):
    def mistake(*arguments):
        return str(CliRunner().invoke(app, ["compare", *map(str, arguments)]).exception)

    assert "The word published comes second" in mistake("published", folders / "a")
    assert "There is no folder" in mistake(folders / "a", tmp_path / "nowhere")
    assert "Nothing is published about small" in mistake(folders / "a", "published")


SHOWN = "[/red][bold]x[/bold]\\[link=file:///]" + "y" * 90
HOSTILE = "[/red][bold]x[/bold]\\[link=file:///]\x1b[31m\r\n" + "y" * 90


def test_hostile_names_are_text(tmp_path):
    odd = Case((Layer(HOSTILE),), Arithmetic(HOSTILE, Range(1, 2), Range(2, 6)))
    for name, test in (("a", 1e-12), ("b", 1.0)):
        with Store(tmp_path / name, create=True) as store:
            store.register(Experiment(SHOWN, SHOWN, (odd,), (0, 1)))
            store.save(runs(cases=[odd] * 2, test=[test] * 2))
            with pytest.raises(NALMError, match="printable characters, got"):
                store.register(Experiment(HOSTILE, "", (odd,), (0, 1)))
    text = run(tmp_path / "a", tmp_path / "b")
    assert "[/red][bold]x[/bold]" in "".join(line.split("  ")[0].strip() for line in text.splitlines())
    assert "\x1b" not in text and max(map(len, text.splitlines())) <= 80
    assert "0 of 1 cases changed" in text


def test_a_long_list_is_cut_and_counted(tmp_path):
    cases = tuple(case(lr=lr) for lr in range(1, 41))
    for name, test in (("a", 1e-12), ("b", 1.0)):
        with Store(tmp_path / name, create=True) as store:
            store.register(Experiment("many", "", cases, (0,)))
            store.save(runs(cases=cases, seeds=[0] * 40, test=[test] * 40))
    text = run(tmp_path / "a", tmp_path / "b")
    assert "... and 10 more; --json lists all." in text and "0 of 40 cases changed" in text
