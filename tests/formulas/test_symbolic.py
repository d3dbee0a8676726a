"""Units as formulas, and formulas as units."""

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import nalm
from nalm.formulas.parse import parse
from nalm.formulas.symbolic import evaluate

a, b, c = sympy.symbols("a b c")


def test_latex_of_a_solved_unit():
    assert nalm.latex(nalm.NRU.solved("divide")) == [r"\frac{a}{b}"]
    assert nalm.latex(nalm.NMU.solved("multiply"), sympy.symbols("m v")) == ["m v"]


def test_repr_of_a_solved_unit_shows_its_formula():
    assert repr(nalm.NAU.solved("subtract")).endswith("y = a - b)")
    assert repr(nalm.NALU.solved("multiply")).endswith("y = a*b for positive inputs)")
    assert "y =" not in repr(nalm.NMU(2, 1))


def test_many_inputs_get_numbered_names():
    assert str(nalm.NMU.solved("multiply", 30).formulas()[0]) == "x1*x2"


def test_a_formula_keeps_absolute_values():
    product = nalm.NACMul.solved("multiply")
    assert product.formulas([a, b]) == [sympy.Abs(a) * sympy.Abs(b)]
    positive = sympy.symbols("p q", positive=True)
    assert product.formulas(positive) == [positive[0] * positive[1]]
    assert nalm.RealNPU.solved("sqrt").formulas(positive) == [sympy.sqrt(positive[0])]


def test_a_trained_gate_is_spelt_as_a_condition():
    unit = nalm.NALU(2, 1)
    unit.assign_({**nalm.NALU.solved("add").weights(), "gate": torch.tensor([[1.0, -0.5]])})
    formula = unit.formulas([a, b])[0]
    assert formula == sympy.Piecewise((a + b, a - b / 2 > 0), (sympy.Abs(a) * sympy.Abs(b), True))


@pytest.mark.parametrize(
    "expression",
    [
        a + b,
        a * b / c,
        sympy.Abs(a) ** sympy.Rational(1, 2),
        sympy.sign(a) + 2,
        sympy.Piecewise((a, a > b), (c, True)),
    ],
    ids=str,
)
def test_evaluate_agrees_with_sympy(expression):
    rows = torch.tensor([[1.5, -2.0, 0.5], [-0.25, 3.0, -4.0]], dtype=torch.float64)
    values = dict(zip((a, b, c), rows.unbind(-1), strict=True))
    expected = [float(expression.subs(dict(zip((a, b, c), row.tolist(), strict=True)))) for row in rows]
    torch.testing.assert_close(evaluate(expression, values), torch.tensor(expected, dtype=torch.float64))


def test_evaluate_takes_the_real_part_of_a_root():
    value = evaluate(
        sympy.re(sympy.sqrt(a) * sympy.sqrt(b), evaluate=False),
        {a: torch.tensor([-4.0]), b: torch.tensor([-9.0])},
    )
    torch.testing.assert_close(value, torch.tensor([-6.0]))


def test_evaluate_refuses_what_it_does_not_know():
    with pytest.raises(nalm.NALMError, match="Cannot evaluate"):
        evaluate(sympy.Function("f")(a), {a: torch.ones(1)})
    with pytest.raises(nalm.NALMError, match="uses b, for which no values"):
        evaluate(a + b, {a: torch.ones(1)})


def test_disagreement_notices_a_unit_that_is_not_its_formula():
    unit = nalm.NMU.solved("multiply")
    x = torch.tensor([[2.0, 3.0], [1.5, -4.0]])
    assert nalm.disagreement(unit, x) == 0
    unit.weight.data[0, 0] = 0.9
    assert nalm.disagreement(unit, x) > 0.01


@pytest.mark.parametrize(
    ("text", "unit", "formula"),
    [
        ("a*b/c", "NRU", a * b / c),
        ("a + b - c", "NAU", a + b - c),
        ("-a", "NAU", -a),
        ("a*b*c", "NMU", a * b * c),
        ("a^2/b", "RealNPU", a**2 / b),
        ("1/b", "NRU", 1 / a),
        ("a < b", "NSR", sympy.Piecewise((1, a < b), (0, True))),
        ("b >= a", "NSR", sympy.Piecewise((1, b >= a), (0, True))),
        ("a & ~b", "NLRL", a * (1 - b)),
        ("a or b", "NLRL", 1 - (1 - a) * (1 - b)),
    ],
)
def test_a_formula_becomes_the_unit_that_spells_it_again(text, unit, formula):
    built = nalm.from_formula(text)
    assert type(built).__name__ == unit
    assert built.is_solved()
    assert sympy.simplify(built.formulas()[0] - formula) == 0


def test_inputs_can_be_named_and_ordered():
    unit = nalm.from_formula("force/mass", inputs=["mass", "colour", "force"])
    torch.testing.assert_close(unit(torch.tensor([[2.0, 9.0, 6.0]])), torch.tensor([[3.0]]))
    assert nalm.from_formula("x10 - x2")(torch.tensor([[1.0, 5.0]])).item() == 4.0  # x2 before x10


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2*a", "No single unit computes '2\\*a'"),
        ("a*b + c", "One unit can add and subtract"),
        ("a**b", "must be a number of at most 100, got b"),
        ("9**9**9", "at most 100"),
        ("((9**99)**99)**99", "too large"),
        ("__import__('os').system('ls')", "allowed are names, numbers"),
        ("a.b", "allowed are names"),
        ("[a for a in b]", "allowed are names"),
        ("a*(", "Cannot read the formula"),
        ("(a<b) + 1", "mixes numbers and truth values"),
        ("a" * 1001, "at most 1000 characters"),
        ("7", "needs at least one input"),
        ("1e7*a", "beyond a million"),
    ],
)
def test_the_error_for_an_impossible_formula_says_why(text, words):
    with pytest.raises(nalm.NALMError, match=words):
        nalm.from_formula(text)


def test_unknown_or_repeated_inputs_are_refused():
    with pytest.raises(nalm.NALMError, match="uses 'b', which is not among the inputs"):
        nalm.from_formula("a*b", inputs=["a"])
    with pytest.raises(nalm.NALMError, match="each named once"):
        nalm.from_formula("a", inputs=["a", "a"])


@settings(max_examples=300, deadline=None, database=None)
@given(st.text(alphabet="ab12+-*/^()&|~<>=. ,[]{}'\"_sqrtabs\n", max_size=40))
def test_no_text_breaks_the_parser(text):
    try:
        parse(text)
    except nalm.NALMError as error:
        assert len(str(error)) > 10
