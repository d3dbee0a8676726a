"""The best unit for a problem, recomputed from the shipped summary."""

import copy
import gzip
import json
import math
import subprocess
import sys
from importlib.resources import files

import pytest
import torch
from rich.console import Console
from typer.testing import CliRunner

import nalm
import nalm.cli.compare  # (registers its commands)
from nalm import stats
from nalm.cli.app import app
from nalm.cli.tables import verdicts as verdict_tables
from nalm.config import Growth, Layer, Ramp, Range, Recipe
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.lab import request as asked
from nalm.lab.measured import BASELINES, NETWORKS, Measured, shipped_rows
from nalm.lab.suggest import distance, suggest

ROWS = json.loads(gzip.decompress(files("nalm.data").joinpath("summary.json.gz").read_bytes()))
CH3 = [r for r in ROWS if r["experiment"].startswith("thesis/ch3/")]  # for what is said here in numbers
OTHERS = {  # of sums, sequences, and products of a hundred inputs
    case.hash
    for e in EXPERIMENTS.values()
    for case in e.cases
    if case.task.subset > 1 or case.task.operands or case.task.times or case.task.subsets == 100
}
UNIFORM = [r for r in ROWS if r["train"].count("[") == 1 and r["train"][0] == "U" and r["case"] not in OTHERS]
PROBLEMS = sorted({(r["operation"], r["train"], r["inputs"]) for r in UNIFORM})
INFINITE = float("inf")


def ends(train):
    low, high = train.removeprefix("U[").removesuffix(")").split(",")
    return float(low), float(high)


def best(rows):
    """Written anew: the most often solved, by the low end of its interval; the earliest of these; the cheapest."""
    top = max(r["success"]["low"] for r in rows)
    rows = [r for r in rows if r["success"]["low"] == top]
    steps = {r["case"]: INFINITE if r["median"]["n"] == 0 else r["median"]["estimate"] for r in rows}
    rows = [r for r in rows if steps[r["case"]] == min(steps.values())]
    cost = min(r["seconds"] / r["success"]["n"] for r in rows)
    return next(r for r in rows if r["seconds"] / r["success"]["n"] == cost)


@pytest.mark.parametrize(
    ("operation", "train", "inputs"),
    [p if i % 4 == 0 else pytest.param(*p, marks=pytest.mark.slow) for i, p in enumerate(PROBLEMS)],
)
def test_the_suggestion_is_the_best_of_the_shipped_summary(operation, train, inputs):
    alike = [r for r in UNIFORM if (r["operation"], r["train"], r["inputs"]) == (operation, train, inputs)]
    alike.sort(key=lambda r: r["success"]["n"])
    asked_for = list({r["case"]: r for r in alike}.values())  # of a case, the row with most runs
    row, found = best(asked_for), suggest(operation, *ends(train), inputs)
    assert found.exact and found.unit == row["unit"] and found.best.case == row["case"]
    assert found.best.success.estimate == row["success"]["estimate"] and found.best.n == row["success"]["n"]
    assert found.best.seconds == pytest.approx(row["seconds"] / row["success"]["n"])
    assert json.loads(found.best.recipe.json()) == row["recipe"]
    assert found.verdict == ("solved" if row["success"]["estimate"] else "unsolved")
    units = {r["unit"] for r in asked_for}
    assert len({m.unit for m in (found.best, *found.others)}) == 1 + len(found.others) == min(4, len(units))
    rates = [m.success.low for m in (found.best, *found.others)]
    assert rates == sorted(rates, reverse=True)


def test_all_four_operations_were_asked_for():
    assert {p[0] for p in PROBLEMS} >= {"add", "subtract", "multiply", "divide"}
    assert shipped_rows() == tuple(ROWS)


@pytest.mark.parametrize("operation", ["add", "subtract", "multiply", "divide"])
def test_the_command_trains_the_very_case_and_the_code_makes_the_unit(operation):
    found = suggest(operation, 1, 2, rows=CH3)
    _, _, experiment, *words = found.best.command.split()
    options = list(zip(words[::2], words[1::2], strict=True))
    only = [value for name, value in options if name == "--only"]
    (wanted,) = asked.experiments([experiment], dict(options).get("--seeds", ""), asked.Changes(only=only))[0]
    assert [case.hash for case in wanted.cases] == [found.best.case] and len(wanted.seeds) == found.best.n
    assert found.code == f"nalm.{found.unit}(2, 1)" and found.unit in nalm.UNITS
    made = eval(found.recipe_code, {"Recipe": Recipe, "Ramp": Ramp, "Growth": Growth})
    assert made == found.best.recipe


def test_the_command_tells_apart_what_an_experiment_has_several_of():
    found = suggest("subtract", -2, 2, 100, CH3)
    assert found.best.command == (
        "nalm run thesis/ch3/redundancy --only unit=NAU --only range=-2:2 "
        "--only operation=subtract --only inputs=100 --seeds 1000"
    )
    assert found.code == "nalm.NAU(100, 1)"


def row(unit="NMU", solved=20, median=2_000.0, seconds=25.0, n=25, **changes):
    """A row of a summary, made by hand."""
    number = stats.wilson(solved, n).plain()
    steps = {"estimate": median, "low": None, "high": None, "n": solved, "method": "median"}
    made = {
        "experiment": "e",
        "unit": unit,
        "operation": "multiply",
        "train": "U[1,2)",
        "inputs": 2,
        "case": f"{unit} {changes}",
        "success": number,
        "median": steps,
        "seconds": seconds,
        "recipe": json.loads(Recipe().json()),
        "device": ["cpu"],
    }
    return made | changes


def test_success_goes_first_then_steps_then_cost():
    rows = [row("A", 25, 900.0), row("B", 24, 100.0), row("C", 25, 800.0, 9.0), row("D", 25, 800.0, 8.0)]
    found = suggest("multiply", 1, 2, rows=rows)
    assert [m.unit for m in (found.best, *found.others)] == ["D", "C", "A", "B"]
    assert found.best.seconds == 8 / 25
    more = [*rows, row("E", 1), row("F", 25, 10.0)]
    found = suggest("multiply", 1, 2, rows=more)
    assert found.unit == "F" and len(found.others) == 3


def test_few_runs_that_are_all_solved_do_not_beat_many():
    found = suggest("multiply", 1, 2, rows=[row("A", 25), row("B", 999, n=1_000)])
    assert found.unit == "B" and "999 of 1000 runs solved" in found.sentence


def test_runs_that_are_solved_before_the_first_step_tell_nothing():
    rows = [row("A", 25, 0.0), row("B", 9, 500.0)]
    assert suggest("multiply", 1, 2, rows=rows).unit == "B"
    assert suggest("multiply", 1, 2, rows=rows[:1]).unit == "A"  # a constant needs no training


@pytest.mark.parametrize(
    ("operation", "unit"), [("weighted_sum", "CoefficientUnit"), ("weighted_ratio", "CoefficientUnit")]
)
def test_operands_at_given_places_are_inputs_if_they_are_single(operation, unit):
    found = suggest(operation, 1, 2, 10)
    assert found.verdict == "solved" and unit in {m.unit for m in (found.best, *found.others)}


def test_the_code_of_every_measured_model_makes_it():
    lines = {m.code(m.inputs) for m in map(Measured.from_row, shipped_rows()) if m.known}
    for line in lines - {""}:
        assert isinstance(eval(line, {"nalm": nalm, "torch": torch}), torch.nn.Module), line
    assert any('nalm.NETWORKS["CoefficientUnit"](10, 1' in line for line in lines)


def test_the_suggestion_changes_when_the_summary_does():
    before = suggest("divide", 1, 2, rows=CH3)
    rows = copy.deepcopy(CH3)
    for r in rows:
        if r["case"] == before.best.case:
            r["success"] |= {"estimate": 0.0, "low": 0.0}
    after = suggest("divide", 1, 2, rows=rows)
    assert after.unit != before.unit and after.unit == before.others[0].unit
    without = [r for r in CH3 if r["unit"] != before.unit]
    assert suggest("divide", 1, 2, rows=without).unit != before.unit


def test_what_was_not_measured_gets_the_nearest_and_says_so():
    found = suggest("divide", -2, 2, 10, CH3)
    assert not found.exact and "nearest measured: divide on U[-2,2) with 2 inputs" in found.sentence
    found = suggest("multiply", 0.9, 2.2, rows=CH3)
    assert found.best.train == "U[1,2)" and not found.exact
    assert suggest("multiply", -30, -12, rows=CH3).best.train == "U[-20,-10)"
    found = suggest("add", -3, 3, 40, CH3)
    assert (found.best.train, found.best.inputs, found.code) == ("U[-2,2)", 100, "nalm.NAU(40, 1)")


def test_distances_are_as_documented():
    here = Range(1, 2)
    assert distance("U[1,2)", 2, here, 2) == 0
    assert distance("U[1,2)", 20, here, 2) == pytest.approx(20 * math.log(10))
    assert distance("TN(0,1)[1,2)", 2, here, 2) == 1
    assert distance("U[1,4)", 2, here, 2) == pytest.approx(math.asinh(40) - math.asinh(20))
    assert distance("U[-6,-2)u[2,6)", 2, Range(-6, 6), 2) == 1
    assert distance("N(1,0.5)", 2, Range(0, 2), 2) == 1
    assert distance("Exp(2)", 2, Range(0, 4), 2) == 1


def test_equally_near_problems_are_told_apart_the_same_way_every_time():
    rows = [row(inputs=8), row("NAU", inputs=2)]
    assert suggest("multiply", 1, 2, 4, rows).unit == suggest("multiply", 1, 2, 4, rows[::-1]).unit == "NAU"


def test_operands_that_are_sums_are_another_problem(monkeypatch):
    case = planted(monkeypatch, inputs=4, subset=2)
    sums = row(experiment="planted", case=case.hash, inputs=4)
    assert suggest("multiply", 1, 2, 4, [sums, row("NAU", 1, inputs=4)]).unit == "NAU"
    alone = suggest("multiply", 1, 2, 4, [sums])
    assert (
        alone.verdict == "unknown"
        and "on sums of inputs, sequences, images or noisy targets only (1 cases)" in alone.sentence
    )


def test_products_of_all_inputs_are_another_problem_than_products_of_two():
    two, all_of_them = suggest("multiply", 1, 2, 100), suggest("multiply", 1, 2, 100, operands=100)
    experiments = [{m.experiment for m in (s.best, *s.others)} for s in (two, all_of_them)]
    assert experiments[0].isdisjoint(experiments[1]) and experiments[1] == {"beyond/scientific-factors"}
    assert "subsets" not in two.snippet and "inputs=100, subsets=100" in all_of_them.snippet
    assert "multiply of 100 operands on U[1,2) with 100 inputs" in all_of_them.sentence
    assert "not measured, only of 2 and 100" in suggest("multiply", 1, 2, 10, operands=7).sentence
    with pytest.raises(NALMError, match="takes 2 operands or more, got 1"):
        suggest("multiply", 1, 2, operands=1)


def planted(monkeypatch, **changes):
    """A case like one of the package's, in an experiment of its own."""
    case = EXPERIMENTS["quick"].cases[0].replace(**changes)
    monkeypatch.setitem(EXPERIMENTS, "planted", EXPERIMENTS["quick"].replace(name="planted", cases=(case,)))
    return case


def test_of_a_case_in_two_experiments_the_one_with_more_runs_counts():
    rows = [row(solved=5, n=5, case="x"), row(solved=20, case="x", experiment="f"), row("NAU", 22)]
    found = suggest("multiply", 1, 2, rows=rows)
    assert found.unit == "NAU" and [(m.experiment, m.n) for m in found.others] == [("f", 25)]


def test_an_operation_that_was_never_measured_is_not_known():
    for rows in ([], CH3, [row(operation="or")]):
        found = suggest("xor", 0, 1, rows=rows)
        assert found.verdict == "unknown" and found.best is None and not found.others
        assert found.sentence.startswith("Not known: nothing was measured for xor")
        assert found.unit == found.code == found.recipe_code == ""
    assert suggest("multiply", 1, 2, rows=[row() | {"success": row(n=25)["success"] | {"n": 0}}]).unit == ""


def test_what_nobody_solves_is_said_plainly():
    found = suggest("multiply", 1, 2, rows=[row("A", 0, None), row("B", 0, None, 3.0)])
    assert found.verdict == "unsolved" and found.exact and found.code == ""
    assert found.sentence.startswith("Nothing measured solves it (multiply on U[1,2) with 2 inputs)")
    assert suggest("divide", -2, 2, rows=CH3).verdict == "unsolved"


def test_questions_that_make_no_sense_are_sentences():
    with pytest.raises(NALMError, match=r"no operation called 'divid'. Did you mean 'divide'"):
        suggest("divid", 1, 2)
    with pytest.raises(NALMError, match="low < high"):
        suggest("divide", 2, 1)
    with pytest.raises(NALMError, match="finite number"):
        suggest("divide", math.nan, 1)
    with pytest.raises(NALMError, match="divide takes 2 operands, got 1 inputs"):
        suggest("divide", 1, 2, 1)


@pytest.mark.parametrize("name", ["unit", "success", "recipe", "seconds", "train"])
def test_a_row_that_is_not_whole_is_refused(name):
    broken = row()
    del broken[name]
    with pytest.raises(NALMError, match="A row of the summary is incomplete"):
        suggest("multiply", 1, 2, rows=[broken])


def test_a_range_that_cannot_be_read_is_refused():
    for train in ("U[a,b)", "somewhere", "[bold]"):
        with pytest.raises(NALMError, match="cannot be read"):
            suggest("multiply", 1, 2, rows=[row(train=train)])


def test_models_of_several_layers_and_baselines_have_their_line(monkeypatch):
    assert set(BASELINES) == set(nalm.BASELINES) and set(NETWORKS) == set(nalm.NETWORKS)
    assert suggest("multiply", 1, 2, rows=[row("Linear")]).code == 'nalm.BASELINES["Linear"](2, 1)'
    assert suggest("multiply", 1, 2, rows=[row("NAU-NMU")]).code == ""  # how wide the first is, is not known
    layers = (Layer("NAU", 2), Layer("Linear", 1, (("bias", False),)))
    case = planted(monkeypatch, model=layers, inputs=9)
    rows = [row("NAU-Linear", experiment="planted", case=case.hash, inputs=9)]
    line = 'torch.nn.Sequential(nalm.NAU(7, 2), nalm.BASELINES["Linear"](2, 1, bias=False))'
    found = suggest("multiply", 1, 2, 7, rows)
    assert found.code == line and len(eval(line, {"nalm": nalm, "torch": torch})) == 2
    assert found.best.command.startswith("nalm run planted --only unit=NAU-Linear --only range=")


# -- the command --------------------------------------------------------------------------------


def run(*arguments):
    result = CliRunner().invoke(app, ["suggest", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_names_unit_recipe_runs_and_cost():
    text, found = run("--operation", "multiply", "--range", "-2", "2"), suggest("multiply", -2, 2)
    assert text.startswith(f"{found.unit} is the best of the ")
    assert str(found.best.success) in text and f" {found.best.n} " in text and " s on c" in text
    assert f"Use it:        {found.code}\n" in text and f"recipe = {found.recipe_code}\n" in text
    assert f"Reproduce it:  {found.best.command}\n" in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith(f" {found.unit} ")]


def test_the_command_speaks_json():
    found = json.loads(run("--operation", "divide", "--range", "-2", "2", "--inputs", "10", "--json"))
    assert found["asked"] == {"operation": "divide", "train": "U[-2,2)", "inputs": 10}
    assert found == suggest("divide", -2, 2, 10).plain() and found["best"]["n"] >= 20
    unsolved = suggest("divide", -2, 2, rows=CH3).plain()
    assert unsolved["best"]["median"]["estimate"] is None and json.dumps(unsolved, allow_nan=False)


def test_the_command_says_when_it_does_not_know(monkeypatch):
    monkeypatch.setattr("nalm.lab.suggest.shipped_rows", lambda: CH3)
    assert run("--operation", "xor", "--range", "0", "1").startswith(
        "Not known: nothing was measured for xor"
    )
    assert json.loads(run("--operation", "xor", "--range", "0", "1", "--json"))["best"] is None
    text = " ".join(run("--operation", "divide", "--range", "-2", "2", "--inputs", "10").split())
    assert (
        "Nothing measured solves it (nearest measured: divide on U[-2,2) with 2 inputs; asked for: " in text
    )
    assert "Use it" not in text


def test_hostile_names_in_a_summary_are_text():
    hostile = "[/red][bold]x\\\x1b[31m\n"
    found = suggest("multiply", 1, 2, rows=[row(hostile, experiment=hostile, device=[hostile])])
    console = Console(width=80, force_terminal=True, color_system=None)
    with console.capture() as capture:
        for part in verdict_tables.suggestion(found):
            console.print(part)
    assert "[/red][bold]x\\" in capture.get() and "\x1b[31m" not in capture.get()
    assert found.code == "" and found.best.command == ""


def test_neither_answers_nor_help_need_torch():
    code = (
        "import sys\nimport nalm.cli.compare as commands\n"
        "print({'torch', 'sympy', 'numpy', 'rich.table'} & set(sys.modules))\n"
        "import nalm.results.source, nalm.results.compare, nalm.lab.suggest, nalm.cli.tables.verdicts\n"
        "nalm.lab.suggest.suggest('divide', 1, 2)\nprint({'torch', 'sympy'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\nset()\n"
