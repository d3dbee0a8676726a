"""Tallies: what is counted of runs, written as files and read back."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made import case, outcomes, runs

from nalm import stats
from nalm.config import Experiment, Range
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.results import files as shipped
from nalm.results import source, tally_files
from nalm.results.store import Store
from nalm.results.summary import summarise
from nalm.results.tally import LEVELS, Spread, Tally, spans, tallies

RANDOM = np.random.default_rng(7)


def varied(n=40):
    """Runs with different errors: three of four are solved, one is not a number."""
    made = outcomes("NMU", [i % 4 != 3 for i in range(n)])
    values = RANDOM.gamma(0.5, 1e-3, size=(n, 2))
    changed = [
        replace(
            o,
            solved_at=None if o.solved_at is None else 1_000 * (1 + int(RANDOM.integers(9))),
            test=float(values[i, 0]),
            validation=float(values[i, 1]),
            sparsity=float(RANDOM.uniform(0, 0.5)),
            formula="a*b" if o.solved else "a",
        )
        for i, o in enumerate(made)
    ]
    return [replace(o, test=math.nan, outcome="diverged") if o.seed == 3 else o for o in changed]


@pytest.fixture
def folder(tmp_path):
    """Shipped runs of two seeds beside a tally of four."""
    with Store(tmp_path / "out", create=True) as store:
        store.begin("nalm run small --seeds 4 --out /some/folder", "2.13.0")
        store.register(Experiment("group/small", "A title", (case(),), (0, 1, 2, 3)))
        store.save(runs(seeds=(0, 1), test=(1e-12, 1.0)))
        shipped.ship(store, "group/small", tmp_path / "results")
        store.save(runs(seeds=(2, 3), test=(1e-12, np.nan)))
        path = tally_files.ship(store, "group/small", tmp_path / "results")
    assert path == tmp_path / "results" / "group" / "small.tally.csv"
    return tmp_path / "results"


def test_a_tally_gives_the_same_intervals_as_its_runs():
    found = varied()
    tally = Tally.of(found)
    solved = [o for o in found if o.solved]
    steps = [o.solved_at for o in solved]
    assert (tally.runs, tally.solved, tally.diverged, tally.not_finite) == (40, 30, 1, 1)
    assert tally.success == stats.success_rate([o.solved for o in found])
    assert stats.solved_at_published(tally.solved_steps) == stats.solved_at_published(sorted(steps))
    assert stats.median(tally.solved_steps) == stats.median(steps)
    assert tally.sparsity_published == stats.sparsity_published([o.sparsity for o in solved])
    tests = [math.inf if math.isnan(o.test) else o.test for o in found]
    assert tally.errors["test"].median == stats.median(tests)
    assert tally.errors["test"].quantiles[-1] == math.inf
    assert tally.errors["sparsity"].quantiles[0] == min(o.sparsity for o in solved)


def test_quantiles_are_values_of_runs():
    values = RANDOM.permutation(np.arange(1_000.0))
    assert Spread.of(values).quantiles == (0.0, 49.0, 249.0, 499.0, 749.0, 949.0, 999.0)
    assert Spread.of([]).quantiles == () and len(LEVELS) == 7


def test_seeds_are_told_as_spans():
    assert spans([]) == () and spans([4, 2, 3, 9]) == ((2, 5), (9, 10))


def test_nothing_cannot_be_counted():
    with pytest.raises(NALMError, match="nothing to count"):
        Tally.of([])


def test_what_is_written_is_read_back(tmp_path):
    both = [*varied(), *outcomes("NAU", [False] * 3, train=Range(-2, -1))]
    path = tmp_path / "a.tally.csv"
    path.write_text(tally_files.table(tallies(both)), encoding="utf-8")
    cases = [json.loads(t.case.json()) for t in tallies(both)]
    path.with_suffix(".json").write_text(json.dumps({"cases": cases}), encoding="utf-8")
    for ours, back in zip(tallies(both), tally_files.read(path), strict=True):
        assert (back.case, back.seeds, back.runs, back.solved) == (
            ours.case,
            ours.seeds,
            ours.runs,
            ours.solved,
        )
        assert back.solved_at == ours.solved_at and back.formulas == ours.formulas
        assert back.by_seed == ours.by_seed and len(back.by_seed) == ours.runs
        for name, spread in ours.errors.items():
            np.testing.assert_allclose(back.errors[name].quantiles, spread.quantiles, rtol=1e-6)
            np.testing.assert_allclose(
                [back.errors[name].median.low], [spread.median.low], rtol=1e-6, equal_nan=True
            )
        ends = [(i.estimate, i.low, i.high, i.n) for i in (ours.sparsity_published, back.sparsity_published)]
        np.testing.assert_allclose(*ends, rtol=1e-6)
        assert back.sparsity.method == ours.sparsity.method


def test_tallies_are_read_beside_the_runs(folder):
    assert list(shipped.experiments(folder)) == ["group/small"]
    (tally,) = source.tallies(folder)["group/small"]
    assert (tally.runs, tally.solved, tally.seeds) == (4, 2, ((0, 4),))
    (found,) = source.read(folder)
    assert len(found.outcomes) == 2 and str(found.tallies) == str((tally,))
    assert found.counted["runs"] == 4 and found.counted["command"] == ["nalm run small --seeds 4"]


def test_the_larger_number_of_seeds_is_summarised(folder):
    (found,) = source.read(folder)
    (larger,) = summarise(found.outcomes, found.tallies)
    assert larger.success == stats.wilson(2, 4) and larger.diverged == 1
    (smaller,) = summarise(outcomes("NMU", [True] * 9), tallies(outcomes("NMU", [True] * 3)))
    assert smaller.success.n == 9


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [
        ("runs", "x", "not a tally"),
        ("solved_at", "1000", "not a tally"),
        ("case", "other", r"small\.tally\.json does not describe"),
    ],
)
def test_a_damaged_row_is_refused(folder, column, text, words):
    path = folder / "group" / "small.tally.csv"
    head, row = (line.split(",") for line in path.read_text("utf-8").splitlines())
    at = head.index(column) + (column != "case")  # the range, before it, holds a comma
    row[at] = text
    path.write_text("\n".join(",".join(line) for line in (head, row)), encoding="utf-8")
    with pytest.raises(NALMError, match=words):
        source.tallies(folder)


@pytest.mark.parametrize(
    ("text", "expected"), [("", None), ("5", (0, 2)), ("3", (0, 1)), ("f", ""), ("11", "")]
)
def test_solved_seeds_are_the_bits_of_a_number(folder, text, expected):
    path = folder / "group" / "small.tally.csv"
    head, row = path.read_text("utf-8").splitlines()
    assert head.endswith(",solved_seeds") and row.endswith(",5")
    path.write_text(f"{head}\n{row.removesuffix('5')}{text}\n", encoding="utf-8")
    if expected == "":
        with pytest.raises(NALMError, match="solved seeds"):
            source.tallies(folder)
        return
    assert source.tallies(folder)["group/small"][0].solved_seeds == expected


def test_tables_without_solved_seeds_are_read(folder):
    path = folder / "group" / "small.tally.csv"
    lines = [line.rpartition(",")[0] for line in path.read_text("utf-8").splitlines()]
    path.write_text("\n".join(lines), encoding="utf-8")
    (tally,) = source.tallies(folder)["group/small"]
    assert tally.solved_seeds is None and tally.by_seed == {} and tally.solved == 2


def test_a_store_has_no_tallies(folder):
    assert source.tallies(folder.parent / "out") == {}


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(shipped.tallied(ROOT / "results")))
def test_every_shipped_tally_can_be_read_and_belongs_to_an_experiment(name):
    path = ROOT / "results" / f"{name}{shipped.TALLY}"
    found, origin = tally_files.read(path), shipped.about(path)
    assert {t.case for t in found} <= set(EXPERIMENTS[name].cases)
    assert sum(t.runs for t in found) == origin["runs"] and origin["command"] and origin["device"]
    for t in found:
        assert t.runs == sum(end - first for first, end in t.seeds) >= len(EXPERIMENTS[name].seeds)
        assert t.solved <= t.runs and sum(t.solved_at.values()) == t.solved
        assert list(t.errors["test"].quantiles) == sorted(t.errors["test"].quantiles)
