"""Chapter 7 in a table: counts per seed, how runs ended, and the claims beside them."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from made import outcomes

from nalm import claims
from nalm.claims import compositions
from nalm.claims.rules.formulas import _one_more
from nalm.cli.tables import results as tables
from nalm.config import Case
from nalm.config.labels import unit_of
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run
from nalm.experiments import EXPERIMENTS
from nalm.experiments.thesis.ch7 import ARCHITECTURES, FORMULAS, LABELS, LEARNT, WHOLE
from nalm.formulas.truth import right, truth

CH7 = EXPERIMENTS["thesis/ch7"]
FROZEN = [c for c in CH7.cases if unit_of(c) == "FrozenSelector"]


def run(case: Case, formula: str, seed=0, last=1.0, outcome="unsolved", best=1e-3):
    """A run with an error at its last step and one at its best, on both ranges."""
    (made,) = outcomes("NMU", [False])
    changed = {"case": case, "seed": seed, "formula": formula, "outcome": outcome}
    measures = {"validation": last, "test": last}
    return replace(made, **changed, validation=best, test=best, measures=measures)


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
    ("formula", "last", "way"),
    [
        ("s1 = a + b; c*s1", 1.0, "exact"),
        ("s1 = 0; s1", 1.0, "collapsed weights"),
        ("s1 = 1; 1 + s1", 1.0, "collapsed weights"),
        ("s1 = a + b; d*s1", 1.0, "wrong selection"),
        ("s1 = a + b + c; c + s1", 0.01, "shortcut"),
        ("", 0.01, "shortcut"),
    ],
)
def test_how_a_run_ended(formula, last, way):
    case = next(c for c in FROZEN if c.operation == "add-mul")
    assert compositions.way(run(case, formula, last=last)) == way
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
    assert verdict["n_correct", ""] == "cannot tell" and verdict["success", "add-add"] == "cannot tell"


def judged(found, metric: str):
    """The verdict on one number of Table 7.3 about the frozen selector."""
    mine = [v for v in claims.verdicts(CH7, found, {}) if v.claim.unit == "FrozenSelector"]
    (verdict,) = [v for v in mine if v.claim.metric == metric]
    return verdict


def spread(centre: float, factor: float, seeds=range(10)):
    """Runs of every formula whose last errors lie around a centre, by a factor between the seeds."""
    sizes = dict(zip(seeds, centre * factor ** np.linspace(-1, 1, len(seeds)), strict=True))
    return [run(c, "s1 = 0; s1", seed, last=size) for c in FROZEN for seed, size in sizes.items()]


def test_errors_are_judged_at_the_last_step_not_at_the_best():
    found = spread(0.891, 1.05)
    verdict = judged(found, "interp_mse_mean")
    assert verdict.verdict == "agrees" and verdict.ours.estimate == pytest.approx(0.891)
    (row,) = compositions.rows(found)
    assert row["interpolation"]["mean"] == pytest.approx(0.891, rel=0.01)
    wrong = [replace(o, validation=0.891, measures={"validation": 2e-3, "test": 1.0}) for o in found]
    assert judged(wrong, "interp_mse_mean").verdict == "differs"


def test_seeds_that_spread_widely_agree_with_nothing():
    """The range over seeds took in any number, and a published spread over formulas any of ours."""
    assert judged(spread(0.05, 100.0), "interp_mse_mean").verdict == "cannot tell"
    assert judged(spread(0.003, 1.2), "interp_mse_mean").verdict == "differs"
    diverged = [
        replace(o, measures={"validation": math.inf}) if o.seed < 8 else o for o in spread(0.891, 1.05)
    ]
    lost = judged(diverged, "interp_mse_mean")
    assert lost.verdict == "cannot tell" and "8 of 10 seeds are not finite" in lost.why
    before = [replace(o, measures={}) for o in spread(0.891, 1.05)]
    assert judged(before, "interp_mse_mean").verdict == "cannot tell"


def test_a_published_count_is_compared_with_what_our_shares_predict():
    right_in = dict.fromkeys(("add-add", "mul-mul", "add-sub", "mul-div", "div-add", "div-mul", "div-div"))
    found = [
        run(c, str(truth(c, 0)) if c.operation in right_in else "s1 = 0; s1", seed)
        for c in FROZEN
        for seed in range(10)
    ]
    assert judged(found, "n_correct").verdict == "agrees"
    nothing = [replace(o, formula="s1 = 0; s1") for o in found]
    assert judged(nothing, "n_correct").verdict == "differs"


def test_equal_errors_are_called_different_in_at_most_one_of_twenty():
    """Of one published run beside ten of ours, whose errors are lognormal, as wide as those of chapter 7."""
    generator = np.random.default_rng(7)
    (claim,) = [c for c in CH7.claims if c.unit == "FrozenSelector" and c.metric == "interp_mse_mean"]
    rejected = 0
    for _ in range(2_000):
        theirs, *ours = np.exp(generator.normal(0, 1.5, 11)).tolist()
        rejected += _one_more(claim.replace(value=theirs), ours, "").test.p < 0.05
    assert rejected <= 130  # 100 are expected, and 130 exceeded by chance once in a thousand


def test_quadratic_networks_begin_as_linear_ones():
    """From Xavier's start on all matrices 8 of 10 seeds diverged in every formula."""
    for case in (c for c in CH7.cases if c.model[0].unit == "Quadratic"):
        program = Program([Run(case, 0, 0), Run(case, 1, 0)], torch.device("cpu"), compiled=False)
        x = torch.rand(2, 5, 4, generator=torch.Generator().manual_seed(0))
        zero, one, two = (program.predict(k * x) for k in (0.0, 1.0, 2.0))
        assert torch.allclose(two - zero, 2 * (one - zero), atol=1e-5) and (one != zero).all()
        assert case.hash[:16] not in OLD


OLD = ("4e4a813f4f3d1295", "9ce71975b0d69cc2")  # add-add from Xavier's start: its runs are not these
