"""State dicts of the authors' repositories: each becomes the unit that computes what the authors' code computed."""

import json
from pathlib import Path

import pytest
import torch

from nalm.errors import NALMError
from nalm.networks import from_state
from nalm.networks.from_state import NAMES
from nalm.units import UNITS

VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "data" / "golden_units.json").read_text("utf-8"))
}
HATS = {"W_hat": "W_hat", "M_hat": "M_hat"}
NALU = {"W_hat": "nac_add.W_hat", "M_hat": "nac_add.M_hat", "G": "G_add"}
SEPARATE = {f"{t}_hat_{path}": f"nac_{path}.{t}_hat" for t in "WM" for path in ("add", "mul")}
MCFC = {"r": "junction.r", "gate_w": "out_gate.fc.weight", "gate_b": "out_gate.fc.bias"}
MUL = {**{k: f"mcfc.{v}" for k, v in MCFC.items()}, "bias": "bias", "g": "g"}
SAME = {name: name for name in ("W_a_hat", "M_a_hat", "W_m_hat", "M_m_hat", "g", "W_real", "W_im", "W")}
AS_STORED = (
    "W_a_hat",
    "M_a_hat",
    "W_m_hat",
    "M_m_hat",
    "W_real",
    "W_im",
    "r",
    "gate_w",
)  # axes as in the vectors
# vector of the reference code -> our unit, and the authors' names of the vector's parameters
CASES = {
    "g001": ("NAC", HATS),
    "g002": ("NACMul", HATS),
    "g004": ("SigmoidNMU", HATS),
    "g005": ("NALU", NALU),
    "g006": ("NALUSeparate", {**SEPARATE, "G": "G_add", "b_g": "bias_add"}),
    "g007": ("GNALU", NALU),
    "g008": ("INALU", SAME),
    "g012": ("NAU", SAME),
    "g013": ("NAU", SAME),  # a weight beyond its bounds, which the forward pass clamps
    "g014": ("NMU", SAME),
    "g016": ("NMU", SAME),
    "g019": ("RealNPU", SAME),
    "g022": ("NPU", SAME),
    "g024": ("MCFC", MCFC),
    "g025": ("MulMCFC", MUL),
    "g026": ("MulMCFCSignINALU", MUL),
    "g027": ("MulMCFCSignRealNPU", MUL),
    "g030": ("NRU", SAME),
    "g034": ("NRUSeparateSign", SAME),
    "g039": ("NMRU", SAME),
    "g040": ("NMRUNoSign", SAME),
}


def double(value) -> torch.Tensor:
    return torch.tensor(value, dtype=torch.float64)


def authors_state(id_: str, prefix: str = "") -> dict[str, torch.Tensor]:
    """The parameters of a golden vector as the authors' code saves them."""
    _, names = CASES[id_]
    state = {}
    for key, value in VECTORS[id_]["params"].items():
        if key in names:
            t = double(value)
            state[prefix + names[key]] = t.mT if t.ndim == 2 and key not in AS_STORED else t
    return state


@pytest.mark.parametrize("prefix", ["", "layer_1.layer."])
@pytest.mark.parametrize("id_", CASES)
def test_a_loaded_unit_computes_what_the_authors_code_computed(id_, prefix):
    unit = from_state(authors_state(id_, prefix), CASES[id_][0])
    assert type(unit) is UNITS[CASES[id_][0]] and not unit.training
    torch.testing.assert_close(
        unit(double(VECTORS[id_]["x"])), double(VECTORS[id_]["y"]).reshape(-1, unit.out_features)
    )


def test_the_names_are_those_of_parameters_of_the_units():
    for name, names in NAMES.items():
        options = {"gate_bias": True} if "gate_bias" in UNITS[name].options else {}
        own = {n for n, _ in UNITS[name](2, 3, **options).named_parameters()}
        assert {ours.split()[0] for ours in names.values()} == own, name


def test_several_layers_become_one_network():
    state = {"layer_1.layer.W": torch.tensor([[1.0, 1.0, 0.0]]).expand(2, 3)} | {
        "layer_2.layer.W": torch.tensor([[1.0, 1.0]])
    }
    network = from_state(state, ("NAU", "NMU"))
    assert network(torch.tensor([[2.0, 3.0, 9.0]])).tolist() == [[25.0]]


def test_a_state_that_only_one_unit_has_needs_no_name():
    assert type(from_state(authors_state("g008"))).__name__ == "INALU"
    assert from_state(authors_state("g006")).gate_bias


@pytest.mark.parametrize(
    ("state", "units", "message"),
    [
        ({"W": torch.ones(1, 2)}, None, "belong to NAU, NMU, .*: name it with units="),
        ({"W": torch.ones(1, 2)}, "NMUU", "Did you mean 'NMU'"),
        ({"W": torch.ones(1, 2)}, "NAC", "NAC has the parameters W_hat, M_hat there, got W"),
        ({"W": torch.ones(1, 2)}, ("NAU", "NMU"), "has 1 layers .* but 2 units were named"),
        ({"fc1.weight": torch.ones(1, 2)}, "NAU", "'fc1.weight' is no parameter of a unit"),
        ({"W_hat": torch.ones(1, 2), "M_hat": torch.ones(2, 2)}, "NAC", "needs 'm_hat' of shape"),
        ({}, "NAU", "The state is empty"),
    ],
)
def test_what_does_not_fit_is_refused(state, units, message):
    with pytest.raises(NALMError, match=message):
        from_state(state, units)
