"""The golden vectors: outputs, gradients and penalties computed by the reference code, in float64."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, tensor

from nalm.units import UNITS
from nalm.units.baselines import Fixed, ProductFC, Quadratic
from nalm.units.snmu import SNMU

VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "golden_units.json").read_text("utf-8"))
}
SQUARED = {"penalty": "squared", "bounds": "penalty"}
TERNARY = {"towards": (-1.0, 0.0, 1.0)}

# id -> unit, options, {golden parameter: ours}, {golden regulariser: our penalty}
HATS = {"W_hat": "w_hat", "M_hat": "m_hat"}
GATED = {**HATS, "G": "gate"}
PATHS = {
    f"{p}_hat_{short}": f"{long}_{p.lower()}_hat"
    for p in "WM"
    for short, long in (("add", "add"), ("mul", "multiply"))
}
INALU = {
    f"{p}_{short}_hat": f"{long}_{p.lower()}_hat"
    for p in "WM"
    for short, long in (("a", "add"), ("m", "multiply"))
}
INALU |= {"g": "gate_hat"}
WEIGHT = {"W": "weight"}
REAL = {"W_real": "weight", "g": "gate"}
COMPLEX = {"W_real": "weight", "W_im": "imaginary"}
DISCRETE = {"W-NPU": "weight", "g-NPU": "gate"}
MCFC = {"gate_w": "gate_weight", "gate_b": "gate_bias", "r": "r", "bias": "bias", "g": "sign_gate"}
LOGIC = {"A": "weight", "G_neg": "negate_hat", "G_out": "output_hat", "G_outneg": "output_hat"}
STATUS = {"V_op1": "left_hat", "V_op2": "right_hat", "w_sign": "sign", "w_zero": "zero", "b": "bias"}

CASES = {
    "g001": ("NAC", {}, HATS, {}),
    "g002": ("NACMul", {}, HATS, {}),
    "g003": ("NACMul", {}, HATS, {}),
    "g004": ("SigmoidNMU", {}, HATS, {}),
    "g005": ("NALU", {}, GATED, {}),
    "g006": ("NALUSeparate", {"gate_bias": True}, {**PATHS, "G": "gate", "b_g": "bias"}, {}),
    "g007": ("GNALU", {}, GATED, {}),
    "g008": ("INALU", {}, INALU, {"inalu": "weight"}),
    "g009": ("INALU", {}, INALU, {"inalu": "weight"}),
    "g010": ("INAC", {}, HATS, {}),
    "g011": ("IMNAC", {}, HATS, {}),
    "g012": ("NAU", {}, WEIGHT, {"W": "weight"}),
    "g013": ("NAU", SQUARED, WEIGHT, {"W": "weight", "W-OOB": "bounds"}),
    "g014": ("NMU", {}, WEIGHT, {"W": "weight"}),
    "g015": ("NMU", {}, WEIGHT, {}),
    "g016": ("NMU", SQUARED, WEIGHT, {"W": "weight", "W-OOB": "bounds"}),
    "g017": ("NMU", {}, WEIGHT, {"W": "weight", "z": "inputs"}),
    "g018": ("NAU", {}, WEIGHT, {"W": "weight", "z": "inputs"}),
    "g019": ("ModifiedRealNPU", {}, REAL, DISCRETE),
    "g020": ("ModifiedRealNPU", TERNARY, REAL, DISCRETE),
    "g021": ("ModifiedRealNPU", {}, REAL, DISCRETE),
    "g022": ("ModifiedNPU", {}, {**COMPLEX, "g": "gate"}, DISCRETE),
    "g023": ("NaiveNPU", {}, COMPLEX, {}),
    "g024": ("MCFC", {}, MCFC, {"W": "magnitude"}),
    "g025": ("MulMCFC", {}, MCFC, {"W": "magnitude"}),
    "g026": ("MulMCFCSignINALU", {}, MCFC, {}),
    "g027": ("MulMCFCSignRealNPU", {}, MCFC, {"W": "magnitude", "g-NPU": "gate"}),
    **{i: ("NRU", {}, WEIGHT, {"W": "weight"}) for i in ("g029", "g030", "g031", "g032")},
    **{i: ("NRUSeparateSign", {}, WEIGHT, {"W": "weight"}) for i in ("g033", "g034", "g035", "g036")},
    **{i: ("NMRU", {}, WEIGHT, {"W": "weight"}) for i in ("g037", "g039", "g041", "g042")},
    **{i: ("NMRUNoSign", {}, WEIGHT, {}) for i in ("g038", "g040")},
    "g043": ("NMRUGated", {}, {**WEIGHT, "g": "gate"}, {"W": "weight", "g-NPU": "gate"}),
    "g044": ("SNMU", {}, WEIGHT, {}),
    "g045": ("SNMU", {}, WEIGHT, {}),
    "g047": ("StgProduct", {}, {"mu": "mu"}, {}),
    "g048": ("StgNMU", {}, {"mu": "mu"}, {}),
    "g049": ("StgNMU", {}, {"mu": "mu"}, {}),
    **{i: ("NLRL", {}, LOGIC, {}) for i in ("g050", "g051", "g052", "g053")},
    "g054": ("AndNLRL", {}, LOGIC, {}),
    **{i: ("NSR", {"scale": 10.0}, STATUS, {}) for i in ("g055", "g056", "g057", "g058")},
    "g059": ("NSR", {}, STATUS, {}),
    "g060": ("NSR", {"redundancy": 2}, STATUS, {}),
}
UNCHECKED = {"z", "W-OOB"}  # zero in every entry that does not switch them on


def double(values) -> Tensor:
    return tensor(values, dtype=torch.float64)


def ours(name: str, golden: Tensor, shape: torch.Size) -> Tensor:
    """Golden matrices are stored [in, out]; the gate of the MC-FC alone is [out, 1] already."""
    return golden.reshape(shape) if name == "gate_weight" or golden.ndim == 1 else golden.mT.reshape(shape)


def build(vector, unit_name, options, names):
    x = double(vector["x"])
    hidden = next(
        double(p)
        for key, p in vector["params"].items()
        if key in ("W", "W_hat", "W_real", "r", "mu", "A", "V_op1", "W_hat_add", "W_a_hat")
    )
    unit = UNITS[unit_name](x.shape[-1], hidden.shape[-1], dtype=torch.float64, **options)
    with torch.no_grad():
        for key, value in vector["params"].items():
            if key != "lambda":
                parameter = unit.get_parameter(names[key])
                parameter.copy_(ours(names[key], double(value), parameter.shape))
    return unit.train(vector.get("mode", "train") == "train"), x.requires_grad_()


@pytest.mark.parametrize("id_", CASES)
def test_a_unit_reproduces_its_golden_vector(id_):
    vector = VECTORS[id_]
    unit_name, options, names, regularisers = CASES[id_]
    unit, x = build(vector, unit_name, options, names)
    noise = vector.get("noise") or vector.get("noise_eps")
    if noise:
        given = double(noise)
        y = unit(x, noise=given.mT if "noise_eps" in vector else given)
    else:
        y = unit(x)
    expected = double(vector["y"])
    if unit_name == "NSR":  # the reference returns [p, 1 - p]
        y = torch.stack([y, 1 - y], -1)
    torch.testing.assert_close(y, expected.reshape(y.shape), rtol=1e-10, atol=1e-15)

    y.sum().backward()
    for key, golden in vector.get("grad_of_sum_y", {}).items():
        leaf = x if key == "x" else unit.get_parameter(names[key])
        expected = double(golden) if key == "x" else ours(names[key], double(golden), leaf.shape)
        torch.testing.assert_close(
            leaf.grad, expected, rtol=1e-10, atol=1e-13, msg=lambda m, k=key: f"{k}: {m}"
        )

    penalties = unit.penalties(x.detach())
    for key, golden in vector.get("regularisers", {}).items():
        if key in regularisers:
            torch.testing.assert_close(penalties[regularisers[key]], double(golden), rtol=1e-10, atol=1e-15)
        else:
            assert key in UNCHECKED
            assert golden == 0
    if "L0" in vector:
        torch.testing.assert_close(penalties["l0"], double(vector["L0"]), rtol=1e-10, atol=0)


def test_the_batch_noise_bound_is_the_golden_one():
    bound = SNMU.batch_bound(double(VECTORS["g046"]["x"]))
    torch.testing.assert_close(bound.squeeze(), double(VECTORS["g046"]["y"]), rtol=1e-10, atol=0)


def test_the_baselines_reproduce_their_golden_vectors():
    quadratic = Quadratic(2, 1, dtype=torch.float64)
    product = ProductFC(2, 1, dtype=torch.float64)
    names = {
        "W_j": "weight_j",
        "W_k": "weight_k",
        "W_l": "weight_l",
        "b_j": "bias_j",
        "b_k": "bias_k",
        "c": "bias_l",
    }
    with torch.no_grad():
        for key, value in VECTORS["g061"]["params"].items():
            parameter = quadratic.get_parameter(names[key])
            parameter.copy_(ours(names[key], double(value), parameter.shape))
        product.weight.copy_(double(VECTORS["g062"]["params"]["W"]).mT)
    layers = {
        "g061": quadratic,
        "g062": product,
        "g063": Fixed(2, 1),
        "g064": Fixed(2, 1, operation="divide"),
    }
    for id_, layer in layers.items():
        x, y = double(VECTORS[id_]["x"]), double(VECTORS[id_]["y"])
        torch.testing.assert_close(layer(x), y.reshape(-1, 1), rtol=1e-10, atol=0)


def test_every_vector_of_this_scope_is_tested():
    """g028 and g065, g066, g068 to g071 belong to networks, schedules and scaling; g067 to the losses."""
    elsewhere = {
        "g028",
        "g046",
        "g061",
        "g062",
        "g063",
        "g064",
        "g065",
        "g066",
        "g067",
        "g068",
        "g069",
        "g070",
        "g071",
    }
    assert set(CASES) | elsewhere == set(VECTORS)
