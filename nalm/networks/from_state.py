"""Trained units of the authors' repositories: their ``state_dict`` becomes a unit, or one after another.

The names are those of stable-nalu (Madsen & Johansen) and of nalm-benchmark, nalm-division and nalm-robust-nmu
(Mistry), whose layers are called ``layer_1.layer``, ``layer_2.layer``, ... in a network and have no prefix alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from nalm.errors import NALMError, unknown
from nalm.units import UNITS, Unit
from nalm.units.bounded import BoundedUnit

Names = dict[str, str]  # of a parameter there: the parameter here, with a T behind it if its axes are swapped

_ONE = {"W": "weight"}
_SIGMOID = {"W_hat": "w_hat"}
_NAC = {"W_hat": "w_hat", "M_hat": "m_hat"}
_GATE = {"G": "gate", "G_add": "gate", "bias": "bias", "bias_add": "bias"}
_NALU = {f"nac_add.{theirs}": ours for theirs, ours in _NAC.items()} | _GATE
_INALU = {"W_a_hat": "add_w_hat T", "M_a_hat": "add_m_hat T", "W_m_hat": "multiply_w_hat T"} | {
    "M_m_hat": "multiply_m_hat T",
    "g": "gate_hat",
}
_POWER = {"W_real": "weight T", "g": "gate"}
_COMPLEX = {**_POWER, "W_im": "imaginary T"}
_MCFC = {"junction.r": "r T", "out_gate.fc.weight": "gate_weight", "out_gate.fc.bias": "gate_bias"}
_MUL_MCFC = {f"mcfc.{theirs}": ours for theirs, ours in _MCFC.items()} | {"bias": "bias"}

NAMES: dict[str, Names] = {
    **dict.fromkeys(("NAC", "NACMul"), _NAC),
    **dict.fromkeys(("SigmoidNMU", "NACMulSigmoid"), _SIGMOID),
    **dict.fromkeys(("NALU", "GNALU"), _NALU),
    "NALUSeparate": {
        **{f"nac_add.{t}_hat": f"add_{t.lower()}_hat" for t in "WM"},
        **{f"nac_mul.{t}_hat": f"multiply_{t.lower()}_hat" for t in "WM"},
        **_GATE,
    },
    "GatedNAUNMU": {"nac_add.W": "add", "nac_mul.W": "multiply", **_GATE},
    "INALU": _INALU,
    **dict.fromkeys(("NAU", "NMU", "NormalisedNMU", "SNMU", "NACMulClamped"), _ONE),
    **dict.fromkeys(("NRU", "NRUSeparateSign", "NMRU", "NMRUNoSign"), _ONE),
    "NMRUGated": {**_ONE, "g": "gate"},
    **dict.fromkeys(("RealNPU", "ModifiedRealNPU"), _POWER),
    **dict.fromkeys(("NPU", "ModifiedNPU"), _COMPLEX),
    "MCFC": _MCFC,
    **dict.fromkeys(("MulMCFC", "MulMCFCSignINALU"), _MUL_MCFC),
    "MulMCFCSignRealNPU": {**_MUL_MCFC, "g": "sign_gate"},
}
KEYS = sorted({key for names in NAMES.values() for key in names}, key=len, reverse=True)


def from_state(state: Mapping[str, Tensor], units: str | Sequence[str] | None = None) -> nn.Module:
    """Return the trained unit of an authors' ``state_dict`` in evaluation mode; several layers become one network.

    ``units`` names the unit of each layer, as here: "NMU", or ("NAU", "NMU"). Several units have the same names of
    parameters there (W is that of NAU, NMU, NRU, ...), so that a state alone rarely tells.

    >>> import torch
    >>> from_state({"layer_1.layer.W": torch.tensor([[1.0, 0.0, 1.0]])}, "NMU").formulas()
    [a*c]
    """
    layers = _layers(state)
    names = [None] * len(layers) if units is None else [units] if isinstance(units, str) else list(units)
    if len(names) != len(layers):
        found = ", ".join(prefix or "one without a prefix" for prefix in layers)
        raise NALMError(f"The state has {len(layers)} layers ({found}), but {len(names)} units were named.")
    made = [_unit(name, own) for name, own in zip(names, layers.values(), strict=True)]
    return made[0] if len(made) == 1 else nn.Sequential(*made).eval()


def _layers(state: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """Group the tensors of a state by their layer, in the order of the layers' names."""
    found: dict[str, dict[str, Tensor]] = {}
    for name, value in state.items():
        key = next((k for k in KEYS if name == k or name.endswith(f".{k}")), None)
        if key is None or not isinstance(value, Tensor):
            raise NALMError(
                f"{name!r} is no parameter of a unit of stable-nalu or nalm-benchmark: leave out other layers."
            )
        found.setdefault(name.removesuffix(key).removesuffix("."), {})[key] = value.detach()
    if not found:
        raise NALMError("The state is empty: it needs the parameters of at least one unit.")
    return dict(sorted(found.items()))


def _unit(name: str | None, own: dict[str, Tensor]) -> Unit:
    """Return the unit of one layer."""
    fitting = [n for n, names in NAMES.items() if _fits(names, own)]
    if name is None:
        if len(fitting) != 1:
            raise NALMError(
                f"Parameters {', '.join(own)} belong to {', '.join(fitting) or 'no unit'}: name it with units=."
            )
        (name,) = fitting
    if name not in NAMES:
        raise unknown("unit of the authors' repositories", name, NAMES)
    if name not in fitting:
        raise NALMError(f"{name} has the parameters {', '.join(NAMES[name])} there, got {', '.join(own)}.")
    ours = {(spec := NAMES[name][key].split())[0]: (t.mT if spec[1:] else t) for key, t in own.items()}
    return _loaded(UNITS[name], ours)


def _fits(names: Names, own: Mapping[str, Tensor]) -> bool:
    """Return whether these are all parameters of a unit; a gate has one of two names, its bias may be missing."""
    needed = {ours for ours in names.values() if ours != "bias" or "G" not in names}
    return own.keys() <= names.keys() and needed <= {names[key] for key in own}


def _loaded(kind: type[Unit], ours: dict[str, Tensor]) -> Unit:
    """Build the unit that these parameters belong to, with the options that they imply."""
    first = next(ours[name] for name in ("weight", "w_hat", "add_w_hat", "add", "r") if name in ours)
    out, width = first.shape[0], first.shape[-1]
    options: dict[str, Any] = {}
    if issubclass(kind, BoundedUnit):
        low, high = kind.legal
        if bool(((first < low) | (first > high)).any()):  # there the clamp is in the forward pass
            options["bounds"] = "penalty"
    if "bias" in ours and "gate_bias" in kind.options:
        options["gate_bias"] = True
    inputs = width // 2 if kind.__name__.startswith("NMRU") else width
    unit = kind(inputs, out, dtype=first.dtype, **options).eval()
    state = {n: t for n, t in unit.state_dict().items() if n not in ours}  # the noise of stochastic units
    for name, value in unit.named_parameters():
        if name not in ours or ours[name].shape != value.shape:
            shape = tuple(ours[name].shape) if name in ours else "nothing"
            raise NALMError(f"{unit.label} needs {name!r} of shape {tuple(value.shape)}, got {shape}.")
    unit.load_state_dict({**state, **ours})
    return unit
