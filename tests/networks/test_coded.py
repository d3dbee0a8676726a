"""A unit behind a reader of codes: what is read, which code a formula names, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
import sympy
import torch

import nalm
from nalm.errors import NALMError
from nalm.networks import CodedUnit
from nalm.networks.coded import DIGITS, code, names
from nalm.units import NRU
from nalm.units.spelling import letters

K = np.arange(1.0, DIGITS + 1)
A, B = sympy.symbols("a b")


def reading(network, *values):
    """Set the reader of each input so that it reads these values, exactly for codes without noise."""
    with torch.no_grad():
        for p in (network.weight0, network.bias0, network.weight1, network.bias1):
            p.zero_()
        for k, row in enumerate(values):
            network.weight0[k, :DIGITS] = torch.eye(DIGITS)
            network.weight1[k, 0, :DIGITS] = torch.tensor(row)
    return network


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (K * 1.01, "a"),
        (-K, "-a"),
        (1.2 * K, "a*c"),
        (9 / K, "c/a"),
        (K - 3, "a*c + d"),
        (0.5 * K**1.5, "a**p*c"),
        (-(K**-0.5), "a**p*c"),
        (np.full(9, 4.0), "f(a)"),
        (K[::-1] ** 2, "f(a)"),
        (np.zeros(9), "f(a)"),
    ],
)
def test_the_simplest_code_that_fits_is_named(values, expected):
    assert str(code(values, A)) == expected


def test_small_deviations_do_not_change_the_code_and_large_ones_do():
    noise = np.random.default_rng(0).uniform(-1, 1, DIGITS)
    assert str(code(9 / K + 0.02 * noise, A)) == "c/a"
    assert str(code(9 / K + 1.0 * noise, A)) == "f(a)"


def test_a_reciprocal_code_behind_a_swapped_divider_gives_the_right_quotient():
    network = reading(CodedUnit(2, 1, unit="NRU"), 9 / K).eval()
    network.assign_({"behind.weight": torch.tensor([[-1.0, 1.0]])})
    assert network.text([A, B]) == "r1 = c/a; r2 = c/b; r2/r1"
    x = torch.tensor([[8.0, 2.0], [3.0, 9.0]])
    torch.testing.assert_close(network(x), torch.tensor([[4.0], [1 / 3]]))
    torch.testing.assert_close(network.weights()["value"], torch.tensor(9 / K[None]).float())
    assert isinstance(network.behind, NRU) and float(network.sparsity_error().detach()) == 0


def test_separate_readers_read_separate_codes_before_a_given_operation():
    network = reading(CodedUnit(2, 1, unit="multiply", readers="separate"), 3 * K, K / 3).eval()
    assert network.text([A, B]) == "r1 = a*c; r2 = b*c2; r1*r2"
    torch.testing.assert_close(network(torch.tensor([[5.0, 7.0]])), torch.tensor([[35.0]]))
    assert float(network.sparsity_error().detach()) == 0


def test_constants_of_separate_readers_do_not_cancel():
    network = reading(CodedUnit(2, 1, unit="divide", readers="separate"), 2 * K, 7 * K).eval()
    assert str(network.formulas()[0]) == "a*c/(b*c2)"
    codes = [code(v, B, names("ab", 1)) for v in (9 / K, K - 3, 0.5 * K**1.5, np.sin(K))]
    assert list(map(str, codes)) == ["c2/b", "b*c2 + d2", "b**p2*c2", "f2(b)"]


def test_constants_have_no_letter_of_an_input():
    network = reading(CodedUnit(3, 1, unit="NMU"), 2 * K).eval()
    network.assign_({"behind.weight": torch.ones(1, 3)})
    assert network.text(sympy.symbols("a b c")) == "r1 = a*d; r2 = b*d; r3 = c*d; r1*r2*r3"
    assert str(network.formulas()[0]) == "a*b*c*d**3"
    assert network.text(sympy.symbols("c d p")) == "r1 = c*g; r2 = d*g; r3 = g*p; r1*r2*r3"


@pytest.mark.parametrize("count", range(1, 40))
def test_constants_and_inputs_have_different_names_for_any_number_of_inputs(count):
    inputs = list(map(str, letters(count)))
    own = [name for reader in range(count) for name in names(inputs, reader)]
    assert len({*own, *inputs}) == len(own) + len(inputs)


@pytest.mark.parametrize("unit", ["NMU", "minimum", "divide"])
@pytest.mark.parametrize("training", [True, False])
def test_the_result_of_what_is_no_digit_is_no_number(unit, training):
    network = reading(CodedUnit(2, 1, unit=unit), K).train(training)
    bad = torch.tensor([0.0, 10.0, -3.0, 2.4, 1e9, float("inf"), float("nan")])
    rows = torch.stack([bad, torch.full_like(bad, 2.0)], -1)
    x = torch.cat([rows, rows.flip(-1), torch.tensor([[3.0, 5.0], [3.00001, 4.99999]])])
    y = network(x)
    assert y[:-2].isnan().all() and y[-2:].isfinite().all()
    y[-2:].sum().backward()
    assert all(p.grad.isfinite().all() for p in network.parameters() if p.grad is not None)


def test_inputs_that_a_given_operation_does_not_use_may_be_anything():
    network = reading(CodedUnit(3, 1, unit="multiply"), K).eval()
    torch.testing.assert_close(network(torch.tensor([[3.0, 5.0, 0.5]])), torch.tensor([[15.0]]))


@pytest.mark.parametrize("value", ["softargmax", "bounded"])
def test_bounded_readers_stay_within_the_digits(value):
    network = CodedUnit(2, 1, value=value, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        network.weight1.mul_(100)
    read = network.weights()["value"]
    assert read.shape == (1, DIGITS) and read.min() >= 1 and read.max() <= DIGITS
    assert read.max() > read.min()


def test_a_reader_without_hidden_layer_looks_its_values_up():
    network = CodedUnit(2, 1, unit="divide", depth=0).eval()
    with torch.no_grad():
        network.weight0.copy_(torch.tensor(9 / K).reshape(1, 1, DIGITS))
        network.bias0.zero_()
    assert network.text([A, B]) == "r1 = c/a; r2 = c/b; r1/r2"
    torch.testing.assert_close(network(torch.tensor([[2.0, 8.0]])), torch.tensor([[4.0]]))


@pytest.mark.parametrize(("depth", "hidden"), [(0, 32), (1, 8), (2, 32), (3, 4)])
def test_a_reader_has_the_layers_that_it_is_given(depth, hidden):
    network = CodedUnit(
        2, 1, value="softargmax", depth=depth, hidden=hidden, generator=torch.Generator().manual_seed(5)
    )
    shapes = [tuple(p.shape[-2:]) for name, p in network.named_parameters() if name.startswith("weight")]
    sizes = [DIGITS, *[hidden] * depth, DIGITS]
    assert shapes == [(out, wide) for wide, out in pairwise(sizes)]
    network(torch.tensor([[2.0, 5.0]])).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())


@pytest.mark.parametrize(
    "options",
    [{"depth": -1}, {"hidden": 0}, {"hidden": "32"}, {"hidden": True}, {"depth": 1.5}, {"depth": None}],
)
def test_layers_that_cannot_be_are_refused(options):
    with pytest.raises(NALMError, match="depth=0 or more and hidden=1 or more"):
        CodedUnit(2, 1, **options)


def test_codes_are_noisy_in_training_only():
    network = CodedUnit(2, 1, generator=torch.Generator().manual_seed(2))
    x = torch.tensor([[2.0, 5.0]]).expand(4, 2)
    assert network(x).unique().numel() == 4
    assert network.eval()(x).unique().numel() == 1


def test_a_population_reads_as_its_members_do():
    members = [CodedUnit(2, 1, unit="NAU", generator=torch.Generator().manual_seed(s)).eval() for s in (3, 4)]
    x = torch.tensor([[1.0, 9.0], [4.0, 6.0]])
    together = nalm.stack(members)(x.expand(2, 2, 2))
    torch.testing.assert_close(together, torch.stack([member(x) for member in members]))


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"unit": "NNU"}, "NMU"),
        ({"unit": ["NMU"]}, "NMU"),
        ({"readers": "share"}, "shared"),
        ({"value": "fre"}, "free"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(options, word):
    with pytest.raises(NALMError, match=word):
        CodedUnit(2, 1, **options)


def test_operations_that_train_no_reader_or_lack_an_operand_are_refused():
    with pytest.raises(NALMError, match="through 'less', which has no slope"):
        CodedUnit(2, 1, unit="less")
    with pytest.raises(NALMError, match="'divide' takes 2 operands, got in_features=1"):
        CodedUnit(1, 1, unit="divide")
    assert CodedUnit(1, 1, unit="square").eval()(torch.ones(3, 1)).shape == (3, 1)


def test_a_weight_that_it_has_not_is_refused_and_its_own_are_snapped():
    network = CodedUnit(2, 1, unit="NRU")
    with pytest.raises(NALMError, match=r"Did you mean 'behind\.weight'"):
        network.assign_({"behind.wieght": torch.ones(1, 2)})
    network.snap_()
    assert float(network.sparsity_error().detach()) == 0
