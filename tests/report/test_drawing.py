"""Drawings of units: made from the contract, so that every unit has one."""

from xml.etree import ElementTree

import pytest
from torch import Generator

from nalm import NMU
from nalm.report.drawing import draw
from nalm.units import UNITS


def texts(unit) -> list[str]:
    return [element.text for element in ElementTree.fromstring(draw(unit)).iter() if element.text]


@pytest.mark.parametrize("name", UNITS)
def test_a_drawing_names_the_unit_its_weights_and_its_operations(name):
    unit = UNITS[name]
    found = texts(unit)
    assert name in found
    assert set(unit.gold) <= set(found)
    for weight in unit(2, 1, generator=Generator()).weights():
        assert any(text.split(" ×")[0] == weight for text in found), weight


def test_a_drawing_shows_grids_gold_weights_and_formulas():
    found = texts(NMU)
    assert found.count("weight") == 2  # one for each of two inputs
    assert "{0, 1}" in found
    assert "weight (1, 1)" in found
    assert "y = a*b" in found


def test_a_unit_of_ones_own_is_drawn_too():
    class Ternary(NMU):
        """Multiplies & more."""

        grids = {"weight": (0.0, 0.5, 1.0)}

    assert "{0, 0.5, 1}" in texts(Ternary)
    assert "Ternary: Multiplies & more." in texts(Ternary)


def test_nothing_reaches_outside_the_drawing():
    for name, unit in UNITS.items():
        root = ElementTree.fromstring(draw(unit))
        width, height = map(float, root.get("viewBox").split()[2:])
        for element in root.iter():
            for key, limit in (("x", width), ("cx", width), ("x2", width), ("y", height), ("cy", height)):
                assert 0 <= float(element.get(key, 0)) <= limit, (name, element.attrib)
