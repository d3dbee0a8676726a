"""Trials of the ladder on published cells, random laws inside the class, and targets outside of it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import harness
from benchmarks import ladder as trials
from benchmarks.cells import CELLS, PRODUCTS
from nalm.discover.law.expression import size, used

ROOT = Path(__file__).parent.parent.parent
KINDS = {cell.name.split(" ")[0]: cell for cell in CELLS}  # the last cell of each kind


def test_every_published_failure_is_a_cell():
    names = [cell.name for cell in (*CELLS, *PRODUCTS)]
    assert len(set(names)) == len(names)
    assert sum(n.startswith("div 10") for n in names) == 9 + 4 + 6 + 5
    assert sum("-" in n.split(" ")[0] and "100" not in n for n in names) == 3 * 16
    assert len(PRODUCTS) == 9


def test_a_cell_is_a_function_of_its_seed():
    cell = PRODUCTS[0]
    first, second = cell.sample(3), cell.sample(3)
    np.testing.assert_array_equal(first[0], second[0])
    assert cell.law(3) == cell.law(3)
    assert len({cell.law(seed) for seed in range(20)}) > 10
    assert len(used(cell.law(0))) == 38


def test_the_test_range_is_another():
    cell = CELLS[0]
    (x, _), (far, _) = cell.sample(0), cell.sample(0, "test")
    assert x.min() >= -20
    assert far.max() < -20


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("cell", KINDS.values(), ids=KINDS)
def test_a_cell_of_every_kind_is_solved(cell, precision):
    outcome = trials.run_cell(replace(cell, precision=precision), seed=1000)
    assert (outcome.verdict, outcome.right, outcome.network) == ("exact", True, True)


@pytest.mark.parametrize("cell", PRODUCTS[2::5], ids=lambda c: c.name)
def test_the_two_layer_product_is_solved_on_narrow_ranges(cell):
    outcome = trials.run_cell(replace(cell, precision="float32"), seed=1000)
    assert (outcome.verdict, outcome.right, outcome.network) == ("exact", True, True)


def test_random_laws_have_the_operations_asked_for():
    rng = np.random.default_rng(0)
    assert {size(trials.random_law(rng, 0)) for _ in range(10)} == {1}
    assert max(size(trials.random_law(rng, 3)) for _ in range(50)) >= 7


def test_random_laws_inside_the_class_are_certified_and_right():
    outcomes = [trials.inside(seed) for seed in range(5000, 5060)]
    certified = [o for o in outcomes if o.verdict == "exact"]
    assert len(certified) >= 57
    assert all(o.right and o.network for o in certified)


@pytest.mark.slow
def test_targets_outside_the_class_are_never_certified():
    assert {trials.outside(seed).verdict for seed in range(5000, 5006)} == {"none"}


WANTED = [trials.Job("inside", "", "", seed) for seed in range(2)]
WANTED.append(trials.Job("cells", CELLS[0].name, "float32", 3))


def test_random_laws_and_cells_are_counted_in_the_totals(tmp_path):
    few = replace(trials.BENCHMARK, jobs=lambda options: WANTED)
    found = harness.run(few, tmp_path / "ladder", trials.Options(), workers=1)
    assert [t.verdict for t in found] == ["exact"] * 3
    rows = json.loads((tmp_path / "ladder.json").read_text("utf-8"))["totals"]
    assert [(r["suite"], r["right"], r["networks"]) for r in rows] == [
        ("inside", 1, 1),
        ("inside", 1, 1),
        ("cells", 1, 1),
    ]


@pytest.mark.system
def test_worker_processes_give_the_same_trials(tmp_path):
    few = replace(trials.BENCHMARK, jobs=lambda options: WANTED)
    there, here = (
        harness.run(few, tmp_path / "ladder", trials.Options(), workers=workers) for workers in (2, 1)
    )
    assert [replace(o, seconds=0.0) for o in there] == [replace(o, seconds=0.0) for o in here]


def test_every_seed_of_every_cell_is_a_job():
    found = trials.jobs(trials.Options(seeds=3, products=2, random=5))
    assert len(found) == 2 * (3 * len(CELLS) + 2 * len(PRODUCTS)) + 10 and len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("cell", "best"),
    [
        ("div 10 U[-100,100) float64", 0.0),
        ("div 10 TN(1,3)[-10,5) float32", 0.92),
        ("two-layer product 100 U[-0.2,-0.1) float64", 0.9),
        ("div 10 U[-2,2) float64", None),  # the best unit's number is not published
        ("add-mul 4 U[1,2) float64", None),
    ],
)
def test_the_published_best_is_the_highest_claim_where_the_best_unit_has_one(cell, best):
    assert trials.published_best(cell) == best


def shipped_totals():
    return json.loads((ROOT / "results" / "beyond" / "ladder.json").read_text("utf-8"))["totals"]


def test_the_shipped_trials_hold_what_is_promised():
    rows = shipped_totals()
    cells = [r for r in rows if r["suite"] == "cells"]
    assert len(cells) == 2 * len((*CELLS, *PRODUCTS))
    for r in cells:
        assert r["problems"] == (20 if "two-layer" in r["cell"] else 100)
        assert r["right"] >= 0.99 * r["problems"] and r["networks"] == r["certified"] == r["right"]
    inside = [r for r in rows if r["suite"] == "inside"]
    assert sum(r["problems"] for r in inside) == 1_000
    assert sum(r["right"] for r in inside) == sum(r["certified"] for r in inside) >= 950
    outside = [r for r in rows if r["suite"] == "outside"]
    assert sum(r["problems"] for r in outside) == 1_000 and sum(r["certified"] for r in outside) == 0


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_cell_is_solved(precision):
    cells = [replace(c, precision=precision) for c in (*CELLS, *PRODUCTS)]
    outcomes = [trials.run_cell(cell, seed) for cell in cells for seed in range(2000, 2003)]
    assert all(o.right and o.verdict == "exact" for o in outcomes)


@pytest.mark.slow
def test_false_certificates_do_not_occur():
    assert {trials.outside(seed).verdict for seed in range(10_000, 10_200)} == {"none"}
