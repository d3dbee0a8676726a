"""Every experiment: its names are known, its claims have cases and rules, and its counts are those of the papers."""

import importlib
import subprocess
import sys

import pytest

from nalm.claims.rules import RULES
from nalm.config import Experiment
from nalm.config.labels import unit_of
from nalm.engine import check
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS, MODULES, below, experiments
from nalm.experiments.names import names
from nalm.experiments.published import AND

ALL = pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)


@ALL
def test_every_unit_loss_and_operation_of_an_experiment_is_known(experiment):
    check(experiment.cases)


@ALL
def test_an_experiment_is_equal_after_writing_and_reading_json(experiment):
    assert Experiment.from_json(experiment.json()) == experiment


@ALL
def test_an_experiment_has_a_title_seeds_and_a_name_without_slashes_around_it(experiment):
    assert experiment.title.strip() and experiment.seeds and experiment.name == experiment.name.strip("/")


@ALL
def test_every_claim_of_an_experiment_names_its_cases_and_has_a_rule(experiment):
    known = set(names(experiment.name, experiment.cases).labels.values())
    ranges = {str(case.train) for case in experiment.cases} | {"9 ranges"}
    hashes = {case.hash for case in experiment.cases}
    for claim in experiment.claims:
        assert claim.metric in RULES, claim
        if claim.cases:
            assert hashes.issuperset(claim.cases), claim
            continue
        assert set(claim.unit.replace(" minus ", " vs ").split(" vs ")) <= known, claim
        assert set(claim.where.split(AND)) <= ranges, claim


def test_chapter_3_has_the_runs_of_the_thesis():
    found = [e for e in experiments("thesis/ch3") if e.name != "thesis/ch3/redundancy"]
    assert sum(len(e.cases) * len(e.seeds) for e in found) == 5_175
    assert sum(len({unit_of(c) for c in e.cases}) for e in found) == 23
    redundancy = EXPERIMENTS["thesis/ch3/redundancy"]
    assert {(unit_of(c), c.operation, c.inputs) for c in redundancy.cases} == {
        *(("NAU", op, n) for op in ("add", "subtract") for n in (10, 100)),
        ("INALU", "add", 10),
    }
    assert {c.recipe.steps for c in redundancy.cases if unit_of(c) == "NAU"} == {100_000}


def test_quick_is_multiplication_at_full_length():
    quick = EXPERIMENTS["quick"]
    assert [unit_of(c) for c in quick.cases[::9]] == ["NACMul", "NALU", "INALU", "NMU", "SNMU", "RealNPU"]
    assert len(quick.cases) == 54 and len(quick.seeds) == 5
    assert {c.operation for c in quick.cases} == {"multiply"} and {c.recipe.steps for c in quick.cases} == {
        50_000
    }


def test_a_prefix_stands_for_all_below_it():
    assert len(experiments("thesis")) >= 5 and experiments("thesis/ch3/") == experiments("thesis/ch3")
    assert [e.name for e in experiments("quick")] == ["quick"]


def test_an_experiment_is_found_without_importing_other_papers():
    code = (
        "import sys; from nalm.experiments import EXPERIMENTS, experiments\n"
        "assert experiments('thesis/ch3') and EXPERIMENTS['trask/recurrent']\n"
        "print([m for m in sys.modules if m.endswith(('heim2020', 'madsen2020', 'sequences'))])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_the_module_of_an_experiment_is_found_by_the_first_part_of_its_name():
    for prefix, module in MODULES:
        found = importlib.import_module(f"nalm.experiments.{module}").EXPERIMENTS
        assert found and below(prefix, [e.name for e in found]) == [e.name for e in found]


@pytest.mark.parametrize("name", ["thesis/ch3/mull", "thesi", "", "quick/more"])
def test_an_unknown_name_gets_a_suggestion(name):
    with pytest.raises(NALMError, match="There is no experiment called"):
        experiments(name)


def test_settings_follow_the_code_where_the_text_differs():
    recipes = {
        (unit_of(c), c.operation): c.recipe
        for e in experiments("thesis/ch3")
        for c in e.cases
        if c.inputs == 2
    }
    assert dict(recipes["NAU", "add"].penalties)["weight"].weight == 0.01
    assert dict(recipes["NMU", "multiply"].penalties)["weight"].weight == 10
    assert (recipes["NPU", "multiply"].l1.start, recipes["NPU", "divide"].l1.end) == (1e-7, 1e-7)
    assert recipes["INALU", "divide"].inalu and recipes["INALU", "divide"].clip_value == 0.1
