"""The generated table against the published one."""

import re

from nalm.formulas.capabilities import capabilities, markdown
from nalm.units import UNITS

# Mistry 2023, Table 2.1: unit -> operations, powers, gating, negative inputs, discretisation
PUBLISHED = {
    "NALU": ("add subtract multiply divide", "|p|≤1", True, False, False),
    "INALU": ("add subtract multiply divide", "none", True, True, True),
    "NAU": ("add subtract", "none", False, True, True),
    "NMU": ("multiply", "none", False, True, True),
    "NPU": ("multiply divide", "any", True, True, False),
    "GNALU": ("add subtract multiply divide", "|p|≤1", True, False, False),
    "NLRL": ("", "none", True, False, False),
    "NSR": ("", "none", False, True, False),
}
# Number of parameters for inputs I and outputs O, from the definition in each paper.
PARAMETERS = {
    "NAC": "2IO",
    "NACMul": "2IO",
    "NALU": "3IO",
    "NALUSeparate": "5IO",
    "GNALU": "3IO",
    "INALU": "4IO+O",
    "NAU": "IO",
    "NMU": "IO",
    "SNMU": "IO",
    "StgNMU": "IO",
    "NaiveNPU": "2IO",
    "NPU": "2IO+I",
    "RealNPU": "IO+I",
    "ModifiedRealNPU": "IO+I",
    "ModifiedNPU": "2IO+I",
    "NRU": "IO",
    "NMRU": "2IO",
    "NMRUGated": "2IO+2I",
    "MCFC": "IO+2O",
    "MulMCFC": "IO+3O",
    "NLRL": "2IO+O",
    "NSR": "2IO+3O",
}
BASIC = ("add", "subtract", "multiply", "divide")


def test_the_generated_table_agrees_with_the_thesis():
    rows = {row.unit: row for row in capabilities()}
    for name, published in PUBLISHED.items():
        row = rows[name]
        operations = " ".join(o for o in row.operations if o in BASIC)
        assert (operations, row.powers, row.gating, row.negative, row.discrete) == published, name
    assert "and" in rows["NLRL"].operations
    assert "less" in rows["NSR"].operations


def test_parameter_counts_agree_with_the_papers():
    counted = {row.unit: row.parameters for row in capabilities()}
    assert {name: counted[name] for name in PARAMETERS} == PARAMETERS


def test_every_row_of_the_markdown_table_has_a_cell_for_each_column():
    rows = [line for line in markdown().splitlines() if line.startswith("|")]
    assert len(rows) == len(UNITS) + 2
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {8}
    assert any(r"\|p\|≤1" in row for row in rows)


def test_units_are_found_by_what_they_can_represent():
    found = {row.unit for row in capabilities("divide")}
    assert {"NRU", "RealNPU"} <= found and not found & {"NAU", "NMU"}
