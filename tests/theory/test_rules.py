"""Statements of Mistry 2023 in words: the sign rules of appendix G.1 and the properties of Table 2.1."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nalm.units import NMRU, UNITS, RealNPU


def built(cls, inputs, outputs, options=None, **parameters):
    unit = cls(inputs, outputs, dtype=torch.float64, **(options or {}))
    with torch.no_grad():
        for name, value in parameters.items():
            unit.get_parameter(name).copy_(value)
    return unit


# -- sign rules: thesis G.1 -------------------------------------------------------------------------

NONZERO = st.builds(lambda size, sign: sign * size, st.floats(0.01, 100), st.sampled_from((-1, 1)))
TERNARY, BINARY = st.sampled_from((-1.0, 0.0, 1.0)), st.sampled_from((0.0, 1.0))
quiet = settings(deadline=None, derandomize=True, database=None)


def check_sign(unit, x: Tensor, flips: list[bool]):
    state = (-1) ** sum(flips)
    y, size = unit(x).item(), unit(x.abs()).item()
    assert math.copysign(1, y) == state
    assert y == pytest.approx(state * size, rel=1e-3)  # 1 / (x + eps) is not quite odd


@quiet
@given(st.lists(st.tuples(NONZERO, TERNARY, BINARY), min_size=1, max_size=5))
def test_the_real_npu_changes_sign_for_each_relevant_negative_input(columns):
    x, weight, gate = torch.tensor(columns, dtype=torch.float64).T
    unit = built(RealNPU, len(columns), 1, weight=weight.unsqueeze(0), gate=gate)
    check_sign(unit, x, [x_i < 0 and w_i in (-1, 1) and g_i == 1 for x_i, w_i, g_i in columns])


@quiet
@given(st.lists(st.tuples(NONZERO, BINARY, BINARY), min_size=1, max_size=5), st.booleans())
def test_the_nmru_changes_sign_for_each_selected_negative_input_or_reciprocal(columns, training):
    x, multiply, reciprocal = torch.tensor(columns, dtype=torch.float64).T
    unit = built(NMRU, len(columns), 1, weight=torch.cat([multiply, reciprocal]).unsqueeze(0))
    check_sign(unit.train(training), x, [x_i < 0 and w_i == 1 for x_i, *w in columns for w_i in w])


# -- thesis Table 2.1 ---------------------------------------------------------------------------------

COLUMNS = ("NALU", "INALU", "NAU", "NMU", "NPU", "GNALU", "NLRL", "NSR")
ROWS = {  # row -> how a unit declares it, and the columns with a tick
    "Addition": (lambda unit: "add" in unit.gold, "NALU INALU NAU GNALU"),
    "Subtraction": (lambda unit: "subtract" in unit.gold, "NALU INALU NAU GNALU"),
    "Multiplication": (lambda unit: "multiply" in unit.gold, "NALU INALU NMU NPU GNALU"),
    "Division": (lambda unit: "divide" in unit.gold, "NALU INALU NPU GNALU"),
    "Arbitrary Power": (lambda unit: "sqrt" in unit.gold, "NALU NPU GNALU"),
    "Arbitrary Power, without *": (lambda unit: "square" in unit.gold, "NPU"),  # beyond powers of -1 to 1
    "Boolean Logic": (lambda unit: "and" in unit.gold, "NLRL"),
    "Control Logic": (lambda unit: "less" in unit.gold, "NSR"),
    "Gating": (
        lambda unit: bool({"gate", "negate"} & unit(2, 1).weights().keys()),
        "NALU INALU NPU GNALU NLRL",
    ),
    "Negative Input": (lambda unit: unit.domain == "real", "INALU NAU NMU NPU NSR"),
    "Discretisation": (lambda unit: "weight" in unit(2, 1).penalties(), "INALU NAU NMU"),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_units_declare_what_table_2_1_says(row):
    declares, ticks = ROWS[row]
    assert [name for name in COLUMNS if declares(UNITS[name])] == ticks.split()
