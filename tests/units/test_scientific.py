"""Scientific encoding: no rounding on the way, products and quotients over 1e-30 to 1e30 in float32."""

import pytest
import torch

from nalm.units import ModifiedRealNPU, ScientificNPU
from nalm.units.scientific import Scientific, decode, encode


def numbers(n, width, seed=0, decades=30.0):
    """Float32 numbers of both signs, spread evenly over the orders of magnitude."""
    g = torch.Generator().manual_seed(seed)
    size = 10 ** (decades * (2 * torch.rand(n, width, generator=g, dtype=torch.float64) - 1))
    return size.float() * (torch.rand(n, width, generator=g) - 0.5).sign()


def test_encoding_and_decoding_give_the_same_number_back():
    ends = torch.tensor([[0.0, 1.0, -2.0, 2.0**-126, 1e-30, 3.4e38, -1e30, 1e-40]])
    for x in (numbers(20_000, 1), ends, 2.0 ** torch.arange(-126.0, 128.0)):
        number = encode(x)
        assert torch.equal(decode(number), x)
        assert ((number.mantissa >= 1) & (number.mantissa <= 2)).all()
        assert torch.equal(number.exponent, number.exponent.round())


@pytest.mark.parametrize(("operation", "exponents"), [("multiply", (1, 1)), ("divide", (1, -1))])
def test_solved_units_are_right_to_rounding_from_1e_minus_30_to_1e30(operation, exponents):
    x = numbers(20_000, 2)
    truth = x[:, 0].double() * x[:, 1].double() ** exponents[1]
    normal = (truth.abs() > 1.2e-38) & (truth.abs() < 3.3e38)
    assert normal.float().mean() > 0.5
    y = ScientificNPU.solved(operation).eval()(x)[:, 0].double()
    assert ((y - truth) / truth)[normal].abs().max() < 4 * 2**-24


def test_a_quotient_whose_parts_overflow_is_right():
    x = torch.tensor([[1e30, 1e30, 1e30, -1e-30]])
    unit = ScientificNPU(4, 1)
    unit.assign_({"weight": torch.tensor([[1.0, 1.0, -1.0, 1.0]])})
    assert not torch.isfinite(x[0, 0] * x[0, 1])
    torch.testing.assert_close(unit(x), torch.tensor([[-1.0]]), rtol=1e-6, atol=0)


def test_a_product_of_a_hundred_factors_is_right_where_the_parts_are_not_finite():
    x = numbers(500, 100, decades=30)
    signs = torch.ones(100)
    signs[::2] = -1.0
    logs = (x.double().abs().log10() * signs).sum(-1)
    inside = logs.abs() < 37
    assert inside.sum() > 10
    unit = ScientificNPU(100, 1)
    unit.assign_({"weight": signs.expand(1, 100)})
    truth = x.double().sign().prod(-1) * 10**logs
    torch.testing.assert_close(unit(x)[inside, 0].double(), truth[inside], rtol=2e-5, atol=0)


@pytest.mark.parametrize("width", [64, 65, 300, 1_000])
def test_mantissas_of_many_factors_do_not_overflow(width):
    x = torch.full((2, width), 1.9)
    x[:, width // 2 :] = 1 / 1.9
    signs = torch.ones(1, width)
    unit = ScientificNPU(width, 1)
    unit.assign_({"weight": signs})
    truth = x.double().prod(-1, keepdim=True)
    torch.testing.assert_close(unit(x).double(), truth, rtol=2e-7 * width, atol=0)
    unit.assign_({"weight": torch.where(torch.arange(width) < width // 2, signs, -signs)})
    truth = 10 ** (width * x[:1, :1].double().log10())
    inside = truth < 3e38
    found = unit(x)[:1].double()
    assert (found == torch.inf) if not inside else abs(found / truth - 1) < 2e-7 * width


def test_logarithms_in_float32_are_not_exact_there():
    x = numbers(2_000, 2).abs().clamp_min(1.0)
    truth = (x[:, 0].double() / x[:, 1].double()).unsqueeze(-1)
    by_logarithms = ModifiedRealNPU.solved("divide")
    by_logarithms.eps = ModifiedRealNPU.paper_eps
    worst = ((by_logarithms(x).double() - truth) / truth).abs().max()
    encoded = ((ScientificNPU.solved("divide")(x).double() - truth) / truth).abs().max()
    assert worst > 10 * encoded


def test_the_gradient_is_that_of_the_power():
    x = torch.tensor([[3.0, 0.2]], dtype=torch.float64)
    unit = ScientificNPU(2, 1).double()
    unit.assign_({"weight": torch.tensor([[0.3, -0.6]])})
    y = unit(x)
    y.sum().backward()
    torch.testing.assert_close(unit.weight.grad, (y * x.log()).detach())


def test_an_overflow_stays_an_overflow():
    number = Scientific(torch.tensor(-1.0), torch.tensor(1.5), torch.tensor(300.0))
    assert decode(number) == -torch.inf
    assert decode(number._replace(exponent=torch.tensor(-300.0))) == 0


def test_in_float64_products_and_quotients_are_right_over_its_whole_range():
    x = torch.tensor([[1e50, 1e50], [1e-50, 1e-50], [-1e200, 1e100], [5e-324, 3e307]], dtype=torch.float64)
    for operation, truth in (("multiply", x[:, 0] * x[:, 1]), ("divide", x[:, 0] / x[:, 1])):
        y = ScientificNPU.solved(operation).double().eval()(x)[:, 0]
        torch.testing.assert_close(y, truth, rtol=1e-15, atol=0)
    a, b, c = (torch.tensor([v], dtype=torch.float64) for v in (1e300, 1e300, 1e-295))
    unit = ScientificNPU(3, 1).double().assign_({"weight": torch.tensor([[1.0, 1.0, 1.0]])})
    assert unit(torch.stack([a, b, c], -1)).item() == pytest.approx(1e305, rel=1e-14)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_encoding_keeps_the_ends_of_every_type(dtype):
    info = torch.finfo(dtype)
    ends = torch.tensor([info.max, -info.tiny, info.smallest_normal * 1.5, 0.0, 1.0], dtype=dtype)
    smallest = ends[1] * info.eps  # subnormal
    x = torch.cat([ends, smallest.reshape(1)])
    assert torch.equal(decode(encode(x)), x)
    assert encode(x).mantissa.isfinite().all()


def test_decoding_drops_no_part_of_a_large_exponent():
    number = Scientific(torch.ones(()), torch.tensor(2.0**-149), torch.tensor(270.0))
    assert decode(number) == 2.0**121


def test_an_infinite_divisor_among_many_inputs_gives_0_and_no_number_gives_no_number():
    x, weight = torch.ones(3, 70), torch.zeros(1, 70)
    weight[0, 0], weight[0, 1:4], weight[0, 69] = -1.0, 1.0, 1.0
    x[0, 0], x[0, 1:4] = torch.inf, 1e30
    x[1, 69] = torch.nan
    x[2, 0], x[2, 1:4] = torch.nan, 0.0
    unit = ScientificNPU(70, 1).assign_({"weight": weight})
    y = unit(x)[:, 0]
    assert y[0] == 0 and y[1:].isnan().all()
    torch.testing.assert_close(y[:1], unit(x[:1].double())[:, 0].float())
