"""Matrices of a trained system, read as equations."""

import numpy as np
import pytest
import sympy

from nalm.errors import NALMError
from nalm.formulas.readout import equations, spelled
from nalm.tasks.epidemic import NAMES, FractionalSIR

TRUTH = {
    "0.weight": np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [3.0, 2.0, 1.0]]),
    "0.gate": np.ones(3),
    "1.weight": np.array([[-0.06, 0, 0.01, 1e-4], [0.06, -0.05, 0, 0], [0, 0.05, -0.01, 0]]),
}


def test_the_true_matrices_spell_the_true_equations():
    symbols = sympy.symbols(" ".join(NAMES), positive=True)
    for ours, true in zip(equations(TRUTH, symbols), FractionalSIR().rates(*symbols), strict=True):
        difference = sympy.lambdify(symbols, ours - sympy.nsimplify(true))
        assert abs(difference(90.0, 8.0, 2.0)) < 1e-3


def test_a_closed_gate_leaves_its_input_out_and_a_half_open_one_mixes_it():
    weights = TRUTH | {"0.gate": np.array([0.0, 1.0, 0.25])}
    first, *_ = equations(weights, sympy.symbols("S I R", positive=True))
    assert {s.name for s in first.free_symbols} == {"I", "R"}
    at = dict(zip(sympy.symbols("S I R", positive=True), (90, 4, 2), strict=True))
    assert float(first.subs(at)) == pytest.approx(-0.06 * 2 + 0.01 * (0.25 * 2 + 0.75), abs=1e-3)


def test_the_text_names_each_rate_and_is_empty_for_other_models():
    text = spelled(TRUTH, NAMES)
    assert text.startswith("S' = ") and "R' = " in text and "sqrt(I)*sqrt(S)" in text
    assert spelled({"0.weight0": np.ones(2)}, NAMES) == ""
    assert spelled(TRUTH | {"0.imaginary": np.ones((4, 3))}, NAMES) == ""
    assert spelled(TRUTH | {"0.gate": np.array([np.nan, 1, 1])}, NAMES) == ""


def test_a_missing_matrix_is_refused():
    with pytest.raises(NALMError, match=r"1\.weight is missing"):
        equations({"0.weight": np.eye(3), "0.gate": np.ones(3)}, sympy.symbols("a b c"))
