"""The contract of every registered unit: one test per unit and check."""

import pytest

from nalm.testing import CHECKS
from nalm.units import UNITS


@pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_every_unit_keeps_the_contract(unit, check):
    check(unit)
