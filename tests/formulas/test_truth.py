"""Targets of runs as formulas, and shipped runs in which the right loss finds them."""

from collections import defaultdict
from pathlib import Path

import pytest

from nalm.config import Arithmetic, Case, Layer, Range
from nalm.formulas.truth import right, truth
from nalm.results import files as shipped

ROOT = Path(__file__).parents[2]
SINGLE = Case((Layer("RealNPU"),), Arithmetic("divide", Range(1, 2), Range(2, 6), inputs=10))
SUMS = Case(
    (Layer("NAU", 2), Layer("NMU")),
    Arithmetic("multiply", Range(1, 2), Range(2, 6), inputs=6, subset=3, overlap=1),
)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [("h/i", True), ("1/(i/h)", True), ("i/h", False), ("h*i", False), ("", False), ("re(sqrt(h))/i", False)],
)
def test_a_formula_is_right_however_it_is_written(formula, expected):
    assert right(SINGLE, 0, formula) is expected


def test_signs_that_cancel_are_right():
    target = str(truth(SUMS, 0))
    first, second = (part.strip("()") for part in target.split("*"))
    flipped = f"(-{first.replace(' + ', ' - ')})*(-{second.replace(' + ', ' - ')})"
    assert right(SUMS, 0, target) and right(SUMS, 0, flipped) and not right(SUMS, 0, first)


def losses():
    """Right formulas by operation, range and loss, and runs, of the shipped experiment."""
    found = defaultdict(list)
    for o in shipped.read(ROOT / "results" / "beyond" / "losses.csv"):
        recipe = o.case.recipe
        name = f"{recipe.loss} then {recipe.then}" if recipe.then else recipe.loss
        found[o.case.operation, str(o.case.train), name].append(right(o.case, o.seed, o.formula))
    return {key: (sum(v), len(v)) for key, v in found.items()}


def test_the_right_loss_solves_every_cell_and_squared_errors_fail():
    table = losses()
    best = {"add": "centred", "subtract": "centred", "divide": "log", "multiply": "projected"}
    assert len(table) == 8 + 8 + 20 + 45
    for (operation, _, loss), (count, runs) in table.items():
        assert runs == 20
        if loss == best[operation]:
            assert count == 20
    for operation in ("add", "subtract"):
        assert all(n == 0 for (o, _, loss), (n, _) in table.items() if o == operation and loss == "mse")
    products = {where: n for (o, where, loss), (n, _) in table.items() if o == "multiply" and loss == "mse"}
    assert [where for where, n in products.items() if n] == ["U[-2,2)"]
