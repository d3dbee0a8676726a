"""The tables of docs/images.md: whether their columns of the last epoch are those of the shipped runs."""

import math
import statistics
from pathlib import Path

import pytest

from nalm.results import files as shipped
from nalm.stats import mean

ROOT = Path(__file__).parents[1]
PRODUCT = ROOT / "results" / "mnist" / "product.csv"
LAYERS = {
    "MUL": ("Fixed", {}),
    "ProductFC": ("ProductFC", {}),
    "NMU": ("NMU", {}),
    "sNMU [1, 5]": ("SNMU", {}),
    "sNMU, noise of the batch": ("SNMU", {"noise_range": "batch"}),
}


def rows(head):
    """Return the cells of the table whose first columns are named so."""
    text = (ROOT / "docs" / "images.md").read_text("utf-8")
    lines = text[text.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.fixture(scope="module")
def last():
    """Exact and rounded products of the last epoch in percent, by layer and fold."""
    curves = shipped.curves(PRODUCT)
    found = {}
    for o in shipped.read(PRODUCT):
        (layer,) = o.case.model
        options = {n: v for n, v in layer.options if n == "noise_range"}
        (name,) = [name for name, key in LAYERS.items() if key == (layer.unit, options)]
        rounded = curves[o.case.key, o.seed]["test.output.rounded"][-1]
        found[name, o.seed] = 100 * (1 - o.test), 100 * rounded
    return found


def test_every_shipped_run_stands_in_the_table_with_its_last_epoch(last):
    table = {(row[0], int(row[1])): row for row in rows("| layer | fold |")}
    assert table.keys() == last.keys()
    for key, (exact, rounded) in last.items():
        row = table[key]
        assert math.isclose(float(row[2]), exact, abs_tol=0.051), key
        assert math.isclose(float(row[6]), rounded, abs_tol=0.051), key


def test_means_over_folds_follow_from_the_table_of_runs(last):
    runs = [[row[0], *row[2:4]] for row in rows("| layer | fold |")]
    for layer, _, at_last, over_hundred, *_ in rows("| layer | exact, published |"):
        exact = mean([exact for (name, _), (exact, _) in last.items() if name == layer])
        shown = [float(word.strip("[],")) for word in at_last.split()]
        expected = exact.estimate, max(0.0, exact.low), min(100.0, exact.high)
        assert shown == pytest.approx(expected, abs=0.06), layer
        hundred = statistics.mean(float(row[2]) for row in runs if row[0] == layer)
        assert float(over_hundred.split()[0]) == pytest.approx(hundred, abs=0.06), layer


@pytest.fixture(scope="module")
def quotients():
    """The folds of quotients at the published length, by layer and fold, with their shares of the last epoch."""
    path = PRODUCT.with_name("division.csv")
    curves = shipped.curves(path)
    found = {}
    for o in shipped.read(path):
        if o.steps < 570_000:
            continue
        unit = o.case.model[0].unit
        layer = {"Fixed": "DIV", "ModifiedRealNPU": "RealNPU"}.get(unit, unit)
        layer += ", clipped" if o.case.recipe.clip_norm else ""
        last = [100 * curves[o.case.key, o.seed][f"test.output.{n}"][-1] for n in ("decimals", "rounded")]
        found[layer, o.seed] = o, last
    return found


def test_every_quotient_of_the_published_length_stands_in_its_table(quotients):
    table = {(row[0], int(row[1])): row for row in rows("| layer | fold | at the chosen epoch |")}
    assert table.keys() == quotients.keys()
    for key, (o, last) in quotients.items():
        shown = [float(table[key][i]) for i in (2, 3, 7)]
        assert shown == pytest.approx([100 * (1 - o.test), *last], abs=0.051), key
        assert table[key][8] == o.formula, key


def test_means_of_quotients_over_folds_follow_from_the_shipped_runs(quotients):
    table = {row[0]: row for row in rows("| layer | right, published |")}
    assert table.keys() == {layer for layer, _ in quotients}
    for layer, row in table.items():
        runs = [o for (name, _), (o, _) in quotients.items() if name == layer]
        right = mean([100 * (1 - o.test) for o in runs])
        shown = [float(word.strip("[],")) for word in row[2].split()]
        assert shown == pytest.approx([right.estimate, max(0.0, right.low), min(100.0, right.high)], abs=0.06)
        ends = f"{sum(o.formula == 'a/b' for o in runs)} of {len(runs)}"
        assert row[3] == ("" if layer == "DIV" else ends), layer
