"""Laws as SymPy, LaTeX, Python and numbers."""

import numpy as np
import pytest
import sympy
import torch

from benchmarks.ladder import random_law
from nalm.discover import Law
from nalm.discover.law.expression import Input, Power, Sum, evaluate
from nalm.discover.law.rewrite import factored
from nalm.errors import NALMError
from nalm.formulas.parse import parse
from nalm.formulas.symbolic import evaluate as evaluate_sympy

A, B, C = Input(0), Input(1), Input(2)
NAMES = ("a", "b", "c", "d", "e")


@pytest.mark.parametrize("seed", range(30))
def test_sympy_and_python_say_the_same_as_the_law(seed):
    rng = np.random.default_rng(seed)
    law = Law(random_law(rng, 4), NAMES)
    x = rng.uniform(1, 2, (30, 5))
    with np.errstate(all="ignore"):
        y = law.predict(x)
    if not np.isfinite(y).all() or np.abs(y).max() > 1e6:
        return  # a difference that cancelled
    for expression in (law.sympy(), parse(law.python())):
        values = {sympy.Symbol(n): torch.from_numpy(x[:, i]) for i, n in enumerate(NAMES)}
        if expression.free_symbols:
            found = evaluate_sympy(expression, values).numpy()
        else:
            found = np.full(30, float(expression))
        np.testing.assert_allclose(found, y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("node", "source", "tex"),
    [
        (Sum((A, B), (-1.0, 2.5), -3.0), "-a + 2.5*b - 3.0", "- a + \\frac{5 b}{2} - 3"),
        (Power((A, B, C), (1.0, -1.0, -2.0)), "a/(b*c**2)", "\\frac{a}{b c^{2}}"),
        (
            Power((Sum((A, B), (1.0, 1.0)), C), (-0.5, 1.0), -2.0),
            "-2.0*c/(a + b)**0.5",
            "- \\frac{2 c}{\\sqrt{a + b}}",
        ),
        (Power((A,), (-1.0,), np.pi), "3.141592653589793/a", "\\frac{\\pi}{a}"),
        (Sum((), (), 0.0), "0.0", "0"),
        (
            Sum((Power((A,), (2.0,)), Sum((B,), (2.0,), 1.0)), (1.0, -1.0)),
            "a**2 - (2.0*b + 1.0)",
            "a^{2} - 2 b - 1",
        ),
    ],
)
def test_python_and_latex_of_a_law(node, source, tex):
    law = Law(node, ("a", "b", "c"))
    assert law.python() == source
    assert law.latex() == tex


def test_a_law_predicts_rows_and_refuses_other_shapes():
    law = Law(Sum((A, B), (1.0, 1.0)), ("a", "b"))
    np.testing.assert_array_equal(law.predict([[1, 2], [3, 4]]), [3.0, 7.0])
    with pytest.raises(NALMError, match=r"shape \(rows, 2\), got \(3,\)"):
        law.predict([1.0, 2.0, 3.0])


def test_common_factors_are_taken_out_where_that_is_shorter():
    terms = Power((A, C), (1.0, -1.0)), Power((B, C), (1.0, -1.0))
    assert str(Law(factored(Sum(terms, (1.0, 1.0), 2.0)), ("a", "b", "c"))) == "2 + (a + b)/c"
    plain = Sum((A, B), (1.0, 1.0))
    assert factored(plain) == plain


@pytest.mark.parametrize("seed", range(20))
def test_taking_factors_out_does_not_change_the_value(seed):
    rng = np.random.default_rng(seed)
    law = random_law(rng, 5)
    x = rng.uniform(1, 2, (20, 5))
    with np.errstate(all="ignore"):
        before, after = evaluate(law, x), evaluate(factored(law), x)
    fine = np.isfinite(before) & (np.abs(before) < 1e6)
    np.testing.assert_allclose(after[fine], before[fine], rtol=1e-9, atol=1e-9)
