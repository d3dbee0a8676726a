"""Units of measurement as tables write them."""

import pytest

from nalm.discover.dimensions.units import dimension
from nalm.errors import NALMError


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("m s-1", "m/s"),
        ("m3", "m^3"),
        ("kg m²", "kg*m^2"),
        ("W/m2", "W/m^2"),
        ("atm", "Pa"),
        ("yr", "s"),
        ("%", "1"),
    ],
)
def test_units_are_read_as_tables_write_them(text, same):
    assert dimension(text) == dimension(same)


def test_degrees_celsius_are_refused_with_the_remedy():
    for text in ("°C", "degC", "J/°C"):
        with pytest.raises(NALMError, match="convert the column to K"):
            dimension(text)
