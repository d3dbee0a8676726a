"""Whatever the numbers, a search answers; it never fails."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.certificate.verdict import Verdict

TABLES = {
    "normal": lambda rng, x: x,
    "whole": lambda rng, x: np.round(2 * x),
    "sizes apart": lambda rng, x: x * 10.0 ** rng.uniform(-200, 150, x.shape[1]),
    "heavy tails": lambda rng, x: np.exp(5 * x),
    "repeated": lambda rng, x: np.where(np.arange(x.shape[1]) <= x.shape[1] // 2, x[:, :1], x),
    "mostly zero": lambda rng, x: np.where(rng.random(x.shape) < 0.6, 0.0, x),
    "nearly constant": lambda rng, x: 1 + 1e-9 * x,
    "huge": lambda rng, x: np.abs(x) * 1e300,
    "tiny": lambda rng, x: np.abs(x) * 1e-300,
}
TARGETS = {
    "sum": lambda rng, a, b: a + b,
    "quotient": lambda rng, a, b: a / b,
    "chance": lambda rng, a, b: rng.standard_normal(len(a)),
    "wave": lambda rng, a, b: np.sin(a) * b,
    "step": lambda rng, a, b: np.where(a > 0, 1.0, 0.0),
    "nothing": lambda rng, a, b: 0 * a,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "kind",
    [pytest.param(k, marks=[pytest.mark.system] * (k in ("nearly constant", "normal"))) for k in TABLES],
)
def test_any_table_has_an_answer(kind, target):
    rng = np.random.default_rng(len(kind) * 100 + len(target))
    rows, columns = int(rng.choice([6, 10, 40, 120])), int(rng.choice([1, 2, 5, 15]))
    x = TABLES[kind](rng, rng.standard_normal((rows, columns)))
    with np.errstate(all="ignore"):
        y = np.nan_to_num(TARGETS[target](rng, x[:, 0], x[:, -1]), nan=0.0, posinf=1.0, neginf=-1.0)
    found = search(x, y, noise=(0.0, None, 0.05)[rows % 3])
    assert found.certificate.verdict in tuple(Verdict)
    assert found.law.inputs or found.certificate.verdict in ("exact", "none")  # a number is no law of a table
    assert found.law.python()
    assert str(found.law)
    assert found.certificate.tested.endswith(".")
