"""Options of single units, and values that they refuse."""

import pytest
import torch
from torch import tensor

import nalm


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: nalm.NMU(2, 1, penalty="cubic"), "no penalty shape called 'cubic'"),
        (lambda: nalm.NAU(2, 1, bounds="clop"), "Did you mean 'clip'"),
        (
            lambda: nalm.SNMU(2, 1, noise_range=(5.0, 1.0)),
            r"noise_range=\(low, high\), low < high, or 'batch', in the range of float32, got \(5.0, 1.0\)",
        ),
        (lambda: nalm.SNMU(2, 1, noise_range="15"), "range of float32, got '15'"),
        (lambda: nalm.SNRU(2, 1, noise_range="15"), "range of float32, got '15'"),
        (lambda: nalm.SNMU(2, 1, noise_range=(1, float("inf"))), r"range of float32, got \(1, inf\)"),
        (lambda: nalm.SNRU(2, 1, noise_range=(1e-300, 1e300)), r"range of float32, got \(1e-300, 1e\+300\)"),
        (
            lambda: nalm.SNMU(2, 1)(torch.ones(1, 2), noise=[1.0, 2.0]),
            r"noise of x's shape \(1, 2\), .* got list",
        ),
        (
            lambda: nalm.StgNMU(2, 1)(torch.ones(1, 2), noise=torch.ones(3)),
            r"noise of mu's shape \(1, 2\), .* got \(3,\)",
        ),
        (lambda: nalm.NMRU(2, 1, eps="a"), "NMRU needs 0 <= eps < 1, got 'a'"),
        (lambda: nalm.NMU(2, 1, dtype="float32"), "dtype cannot be 'float32': use torch.float32"),
        (lambda: nalm.NMU(2, 1, device="gpu"), "There is no device 'gpu': use 'cpu', 'cuda'"),
        (lambda: nalm.NMU(2, 1, generator=3), r"got 3: use torch.Generator\(\).manual_seed\(0\)"),
        (lambda: nalm.NMU(2, 1).reset_parameters(3), r"got 3: use torch.Generator\(\).manual_seed\(0\)"),
        (lambda: nalm.SNMU(2, 1, denoising="power"), "denoising='linear' or 'powers', got 'power'"),
        (
            lambda: nalm.SNMU(2, 1, denoising="powers", noise_range=(0.0, 1.0)),
            r"noise above 0, got noise_range=\(0.0, 1.0\)",
        ),
        (
            lambda: nalm.ModifiedRealNPU(2, 1, towards=(0.0, 1.0)),
            r"\(-1, 1\) or \(-1, 0, 1\), got \(0.0, 1.0\)",
        ),
        (lambda: nalm.ModifiedNPU(2, 1, imaginary_part="fre"), "Did you mean 'free'"),
        (lambda: nalm.NSR(2, 1, redundancy=0), "redundancy >= 1 and scale > 0, got 0"),
        (lambda: nalm.NMU(2.0, 1), "in_features to be a whole number of at least 1, got 2.0"),
        (lambda: nalm.NMU(2, 1, dtype=torch.int64), "dtype cannot be torch.int64: use torch.float32"),
        (lambda: nalm.BASELINES["MLP"](2, 1, activation="relo"), "Did you mean 'relu'"),
        (lambda: nalm.BASELINES["MLP"](2, 1, hidden=(0,)), "hidden widths of at least 1"),
        (
            lambda: nalm.BASELINES["Fixed"](1, 1, operation="divide"),
            "'divide' has 2 operands, got in_features=1",
        ),
        (
            lambda: nalm.NMU(2, 1)(torch.ones(4, 3)),
            r"NMU\(2, 1\) expects x of shape \(..., 2\), got \(4, 3\)",
        ),
        (
            lambda: nalm.NMU(2, 1)(torch.ones(4, 2).int()),
            "expects real numbers, got torch.int32: use x.float()",
        ),
        (
            lambda: nalm.NMU(2, 1)([[1.0, 2.0]]),
            r"expects a tensor, got list: use torch.as_tensor\(x\).float\(\)",
        ),
        (lambda: nalm.NMU(2, 1).formulas([1, 2, 3]), "needs 2 symbols, got 3"),
    ],
)
def test_a_mistake_is_one_sentence_with_the_value_and_the_remedy(build, words):
    with pytest.raises(nalm.NALMError, match=words):
        build()


def test_a_population_of_the_wrong_size_is_refused():
    population = nalm.stack([nalm.NMU(2, 1) for _ in range(5)])
    with pytest.raises(nalm.NALMError, match=r"expects x of shape \(5, ..., 2\), got \(4, 7, 2\)"):
        population(torch.ones(4, 7, 2))
    with pytest.raises(nalm.NALMError, match=r"take nalm.member\(population, 0\)"):
        population.formulas()


def test_a_diverged_unit_says_so_instead_of_a_formula():
    unit = nalm.NMU(2, 1)
    unit.weight.data[0, 0] = float("nan")
    with pytest.raises(nalm.NALMError, match="the run diverged"):
        unit.formulas()
    assert "y =" not in repr(unit)


def test_the_batch_noise_shrinks_with_the_spread_of_the_batch():
    unit = nalm.SNMU(2, 1, noise_range="batch", generator=torch.Generator().manual_seed(0))
    for width in (0.1, 10.0):
        x = width * torch.rand(1000, 2, generator=torch.Generator().manual_seed(1))
        noise, bound = unit.draw(x), unit.batch_bound(x).item()
        assert 1 <= noise.min() < 1 + 0.05 * (bound - 1)
        assert bound - 0.05 * (bound - 1) < noise.max() <= bound
    assert unit(torch.ones(4, 2)).isfinite().all()  # no spread at all


def test_powers_of_the_noise_cancel_it_for_solved_weights_only():
    x, noise = (0.5 + 4 * torch.rand(9, 3, generator=torch.Generator().manual_seed(s)) for s in (1, 2))
    unit = nalm.SNMU(3, 1, denoising="powers")
    for weight in ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]):
        unit.assign_({"weight": tensor([weight])})
        torch.testing.assert_close(unit(x, noise=noise), unit.eval()(x))
        unit.train()
    unit.assign_({"weight": tensor([[0.5, 1.0, 0.2]])})
    w = unit.weight
    expected = (w * noise * x + 1 - w).prod(-1) / (noise**w).prod(-1)
    torch.testing.assert_close(unit(x, noise=noise).squeeze(-1), expected)
    linear = nalm.SNMU(3, 1).assign_({"weight": w})
    assert not torch.isclose(linear(x, noise=noise), unit(x, noise=noise)).any()


def test_the_gate_bias_lets_a_nalu_work_for_both_signs():
    unit = nalm.NALU.solved("add")
    biased = nalm.NALU(2, 1, eps=0.0, gate_bias=True)
    weights = unit.weights() | {"gate": torch.zeros(1, 2), "bias": torch.full((1,), 1e30)}
    x = tensor([[-3.0, 1.0], [3.0, 1.0]])
    torch.testing.assert_close(biased.assign_(weights)(x), tensor([[-2.0], [4.0]]))
    assert str(biased.formulas()[0]) == "a + b"
    assert unit(x)[0].item() != -2.0


def test_normalised_nmu_multiplies_the_scaled_inputs():
    """Document 002, section 2.3, by hand."""
    unit = nalm.NormalisedNMU(2, 1, dtype=torch.float64)
    unit.weight.data = tensor([[0.8, 0.3]], dtype=torch.float64)
    x = tensor([[2.0, 3.0], [-1.5, 0.5]], dtype=torch.float64)
    c = x.std()
    expected = (0.8 * x[:, 0] / c + 0.2) * (0.3 * x[:, 1] / c + 0.7) * c**1.1
    torch.testing.assert_close(unit(x).squeeze(-1), expected)


def test_the_gated_nau_nmu_mixes_its_two_units():
    unit = nalm.GatedNAUNMU(2, 1, generator=torch.Generator().manual_seed(0))
    nau, nmu = nalm.NAU(2, 1), nalm.NMU(2, 1)
    nau.assign_({"weight": unit.add})
    nmu.assign_({"weight": unit.multiply})
    x = tensor([[2.0, 3.0], [-1.5, 0.5]])
    gate = torch.sigmoid(x @ unit.gate.T)
    torch.testing.assert_close(unit(x), gate * nau(x) + (1 - gate) * nmu(x))
    assert unit.penalties()["weight"] == nau.penalties()["weight"] + nmu.penalties()["weight"]


def test_the_published_sparsity_errors_differ_by_unit():
    """Spec 1.4: the iNALU averages its two matrices' errors, the NPU those of its two parts."""
    inalu, npu = nalm.INALU(2, 1), nalm.NPU(2, 1)
    w = inalu.weights()
    errors = [torch.minimum(m.abs(), (1 - m.abs()).abs()).max() for m in (w["add"], w["multiply"])]
    assert inalu.sparsity_error() == (errors[0] + errors[1]) / 2
    npu.assign_({"weight": tensor([[0.7, -1.2]]), "imaginary": tensor([[0.1, -0.2]])})
    torch.testing.assert_close(npu.sparsity_error(), tensor((0.3 + 0.2) / 2))


def test_the_penalty_on_inputs_of_a_clamped_nac_acts_on_logarithms():
    """Madsen's code keeps what the layer sees, which is the logarithm, and presses it to the NMU's 1."""
    unit = nalm.NACMulClamped(2, 1, dtype=torch.float64)
    with torch.no_grad():
        unit.weight.copy_(torch.tensor([[0.5, 0.25]]))
    x = torch.tensor([[1.0, torch.e], [1.0, -(torch.e**3)]], dtype=torch.float64)  # mean logarithms 0 and 2
    found = unit.penalties(x)
    assert found["inputs"].item() == pytest.approx((0.5 * 1 + 0.75 * 1) / 2, rel=1e-6)
    assert set(unit.penalties()) == {"weight"}
