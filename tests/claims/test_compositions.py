"""Chapter 7 in a table: counts per seed, how runs ended, and the claims beside them."""

from dataclasses import replace

import pytest
from made import outcomes

from nalm import claims
from nalm.claims import compositions
from nalm.cli.tables import results as tables
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.experiments import EXPERIMENTS
from nalm.experiments.thesis.ch7 import ARCHITECTURES, FORMULAS, LABELS, LEARNT, WHOLE
from nalm.formulas.truth import right

CH7 = EXPERIMENTS["thesis/ch7"]
FROZEN = [c for c in CH7.cases if unit_of(c) == "FrozenSelector"]


def run(case: Case, formula: str, seed=0, validation=1.0, outcome="unsolved"):
    (made,) = outcomes("NMU", [False])
    changed = {"case": case, "seed": seed, "formula": formula, "validation": validation, "outcome": outcome}
    return replace(made, **changed)


def test_the_chapter_has_13_networks_and_16_or_9_formulas():
    assert len(ARCHITECTURES) == 13 and len(FORMULAS) == 16 and len(WHOLE) == 9
    assert len(CH7.cases) == 10 * 16 + 3 * 9 and len(CH7.seeds) >= 10
    assert {c.recipe.optimiser for c in CH7.cases} == {"sgd"} and {c.recipe.steps for c in CH7.cases} == {
        200_000
    }
    assert {c.metric for c in CH7.claims} == {"n_correct", "interp_mse_mean", "extrap_mse_mean", "success"}
    assert len(set(LABELS.values())) == 13


def test_the_published_expressions_are_right_where_the_thesis_says_so():
    cases = {(unit_of(c), c.operation): c for c in CH7.cases}
    told = {
        (c.unit, c.operation): c.value for c in CH7.claims if c.metric == "success" and "Table" in c.place
    }
    assert len(told) == len(LEARNT) == 28
    for (network, formula), expression in LEARNT.items():
        key = LABELS[network], formula
        assert right(cases[key], 0, expression) == bool(told[key]), (network, formula)


@pytest.mark.parametrize(
    ("formula", "validation", "way"),
    [
        ("s1 = a + b; c*s1", 1.0, "exact"),
        ("s1 = 0; s1", 1.0, "collapsed weights"),
        ("s1 = 1; 1 + s1", 1.0, "collapsed weights"),
        ("s1 = a + b; d*s1", 1.0, "wrong selection"),
        ("s1 = a + b + c; c + s1", 0.01, "shortcut"),
        ("", 0.01, "shortcut"),
    ],
)
def test_how_a_run_ended(formula, validation, way):
    case = next(c for c in FROZEN if c.operation == "add-mul")
    assert compositions.way(run(case, formula, validation=validation)) == way
    assert compositions.way(run(case, formula, outcome="diverged")) == "diverged"


def test_a_row_counts_formulas_per_seed_beside_the_published():
    solved = {"add-add": "s1 = 1; a + b + c", "mul-mul": "s1 = 0; a*b*c"}
    found = [run(c, solved.get(c.operation, "s1 = 0; s1"), seed) for c in FROZEN for seed in (0, 1)]
    found = [o for o in found if not (o.seed == 1 and o.case.operation == "mul-mul")]
    (row,) = compositions.rows(found)
    assert row["correct"] == {"mean": 1.5, "low": 1, "high": 2} and row["ever"] == 2
    assert row["published"]["n_correct"] == 7 and row["network"] == "Recurrent frozen NALMs"
    assert row["ways"]["exact"] == 3 and row["ways"]["collapsed weights"] == 28
    assert row["expressions"][0]["published"] == "s1 = 1; a + b + c"
    assert len(list(tables.compositions([row]))) == 6
    mine = [v for v in claims.verdicts(CH7, found, {}) if v.claim.unit == "FrozenSelector"]
    verdict = {(v.claim.metric, v.claim.operation): v.verdict for v in mine}
    assert verdict["n_correct", ""] == "differs" and verdict["success", "add-add"] == "agrees"
    assert verdict["success", "div-div"] == "differs" and verdict["success", "add-mul"] == "agrees"
