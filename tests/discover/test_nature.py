"""Constants of nature: their values, offers for fitted numbers, and their symbols in forms."""

import numpy as np
import pytest
from scipy import constants

from nalm import NALMError, NALMRegressor
from nalm.discover.dimensions.units import dimension
from nalm.discover.law.nature import named, natural_constants, offered, with_constants
from nalm.discover.selection.intervals import FittedNumber

ELSEWHERE = {"Wien displacement constant": "Wien wavelength displacement law constant"}
ELSEWHERE |= {"vacuum magnetic permeability": "vacuum mag. permeability"}


@pytest.fixture
def gas():
    rng = np.random.default_rng(0)
    x = np.stack([rng.uniform(1, 9, 30), rng.uniform(280, 400, 30), rng.uniform(0.01, 0.1, 30)], 1)
    return x, 8.314462618 * x[:, 0] * x[:, 1] / x[:, 2] * np.exp(0.01 * rng.standard_normal(30))


@pytest.mark.parametrize("symbol", natural_constants())
def test_a_constant_has_the_value_of_another_source_and_a_unit_that_can_be_read(symbol):
    constant = natural_constants()[symbol]
    value, _, error = constants.physical_constants[ELSEWHERE.get(constant.name, constant.name)]
    assert abs(constant.value - value) <= max(1e-9 * value, 30 * error)  # an older edition may differ
    dimension(constant.unit)
    assert constant.source and (constant.error == 0) == ("exact" in constant.source)


def test_a_fitted_number_is_offered_a_constant_that_it_agrees_with(gas):
    found = NALMRegressor(stages=["power"], constants=("R", "g", "c")).fit(*gas, ["n", "T", "V"])
    [(number, constant)] = found.offered_
    assert constant.symbol == "R" and number.low < 8.314 < number.high
    assert "R" not in found.formula_ and NALMRegressor(stages=["power"]).fit(*gas).offered_ == []


def test_a_vague_number_and_one_without_a_dimension_are_offered_nothing():
    assert offered([FittedNumber(9.0, 2.0, 5.0, 13.0)], ["R", "g"]) == []
    sharp = [FittedNumber(9.81, 0.01, 9.79, 9.83), FittedNumber(-0.0073, 1e-6, -0.0073019, -0.0072951)]
    assert [c.symbol for _, c in offered(sharp, ["g", "alpha"])] == ["g", "alpha"]
    assert [c.symbol for _, c in offered(sharp, ["g", "alpha"], with_units=True)] == ["alpha"]


def test_a_form_has_constants_by_name_and_may_have_no_parameter_at_all(gas):
    known = NALMRegressor(form="R*T*n/V", constants=["R"]).fit(*gas, ["n", "T", "V"])
    assert known.equations_[0].constants == () and known.certificate_.verdict == "consistent"
    np.testing.assert_allclose(known.predict([[1.0, 300.0, 0.1]]), 8.31446261815324 * 3000)
    wrong = NALMRegressor(form="g*T*n/V", constants=["g"]).fit(*gas, ["n", "T", "V"])
    assert wrong.certificate_.verdict == "none"
    free = NALMRegressor(form="R*T*n/V").fit(*gas, ["n", "T", "V"])
    assert [c.name for c in free.equations_[0].constants] == ["R"]


def test_mistakes_are_sentences():
    with pytest.raises(NALMError, match="constant of nature"):
        named(["Rgas"])
    with pytest.raises(NALMError, match="in a list"):
        named("R")
    with pytest.raises(NALMError, match="column and a constant"):
        with_constants("R*x", ["R"], ["R", "x"])
