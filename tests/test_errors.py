"""The error for an unknown name: it suggests the nearest name and lists the known ones."""

import pytest

from nalm.errors import NALMError, unknown

NAMES = ["NAU", "NMU", "RealNPU"]


def test_an_error_is_a_value_error():
    with pytest.raises(ValueError, match=r"^It broke\.$"):
        raise NALMError("It broke.")


def test_a_near_name_is_suggested_and_all_names_are_listed():
    error = unknown("unit", "RealNP", NAMES)
    assert isinstance(error, NALMError)
    assert str(error) == "There is no unit called 'RealNP'. Did you mean 'RealNPU'? Known: NAU, NMU, RealNPU."


@pytest.mark.parametrize("written", ["realnpu", "REALNPU", "rEaLnPu"])
def test_a_suggestion_ignores_case_and_keeps_the_spelling_of_the_known_name(written):
    assert f"called {written!r}. Did you mean 'RealNPU'?" in str(unknown("unit", written, NAMES))


def test_the_nearest_of_several_names_is_suggested():
    assert "Did you mean 'greater_equal'?" in str(
        unknown("operation", "greater_equals", ["greater", "greater_equal"])
    )


def test_a_far_name_gets_no_suggestion():
    assert str(unknown("loss", "zzz", ["mse", "pcc"])) == "There is no loss called 'zzz'. Known: mse, pcc."


def test_a_name_that_is_no_string_is_shown_as_it_is():
    assert str(unknown("loss", 7, ["mse"])) == "There is no loss called 7. Known: mse."


def test_names_may_come_from_any_iterable_once():
    assert str(unknown("loss", "msee", (name for name in ("mse", "pcc")))).endswith("Known: mse, pcc.")
