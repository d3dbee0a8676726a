"""When two texts are the same formula."""

import pytest

from nalm.engine.same_formula import same_formula

GATE = "Piecewise((a + b, a + {}*b > 0), (a*b, True))"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            GATE.format("0.531632"),
            GATE.format("0.531633"),
        ),  # the last printed digit is rounded on the other side
        ("0.30000001*a", "0.3*a"),
        ("a*b + a", "a + b*a"),
        ("a*(b + c)", "a*b + a*c"),
        ("1.5e-9*a", "1.6e-9*a"),
        ("a*b; c", "a*b; c"),
    ],
)
def test_rounding_and_order_make_no_other_formula(first, second):
    assert same_formula(first, second) and same_formula(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (GATE.format("0.531632"), GATE.format("0.531732")),
        (GATE.format("0.531632"), GATE.format("-0.531632")),
        ("a*b", "a*b**7"),
        ("2*a", "3*a"),
        ("a + b", "a - b"),
        ("a", ""),
        ("__import__('os')", "a"),
        ("1.25*a", "1.27*a"),
    ],
)
def test_another_number_or_function_is_another_formula(first, second):
    assert not same_formula(first, second) and not same_formula(second, first)
