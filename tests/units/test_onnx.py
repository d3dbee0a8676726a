"""Units and laws as ONNX, computed by onnxruntime where it is installed: the same numbers as in torch."""

import importlib.util

import numpy as np
import pytest
import torch
from random_laws import EveryLaw, groups, laws_with_functions

from nalm.testing import inputs, seeded
from nalm.units import UNITS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of the exporters, about themselves
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxscript", "onnxruntime")),
        reason="onnx, onnxscript and onnxruntime are not installed",
    ),
]
BUILT_IN = [name for name in UNITS if "@" not in name]
WITHOUT_SCRIPT = ("ScientificNPU",)  # the older exporter has no exp2, which is exact for whole numbers


def through_onnx(module: torch.nn.Module, example: torch.Tensor, rows: torch.Tensor, path, dynamo: bool):
    """Export with a batch of any size and compute other rows with onnxruntime."""
    import onnxruntime

    options = (
        {"dynamo": True, "dynamic_shapes": {"x": {0: torch.export.Dim("rows", min=2)}}}
        if dynamo
        else {"dynamo": False, "dynamic_axes": {"x": {0: "rows"}}}
    )
    torch.onnx.export(module, (example,), path, input_names=["x"], verbose=False, **options)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": rows.numpy()})
    return y


@pytest.mark.parametrize(
    ("name", "dynamo"),
    [(name, dynamo) for name in BUILT_IN for dynamo in (True, False) if dynamo or name not in WITHOUT_SCRIPT],
)
def test_a_unit_computes_the_same_in_onnxruntime(name, dynamo, tmp_path):
    unit = UNITS[name](3, 2, generator=seeded(0)).eval()
    rows = inputs(UNITS[name], 9, 3, seed=1)
    y = through_onnx(unit, inputs(UNITS[name], 4, 3), rows, tmp_path / "unit.onnx", dynamo)
    np.testing.assert_allclose(y, unit(rows).detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "script"])
@pytest.mark.parametrize("laws", groups(), ids=range(10))
def test_laws_compute_the_same_in_onnxruntime(laws, dynamo, tmp_path):
    rows = torch.rand(9, 3, generator=seeded(0), dtype=torch.float64) + 0.5
    y = through_onnx(EveryLaw(laws).eval(), rows[:4], rows, tmp_path / "laws.onnx", dynamo)
    expected = np.stack([law.predict(rows.numpy()) for law in laws], -1)
    np.testing.assert_allclose(y, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "script"])
def test_laws_with_functions_compute_the_same_in_float32(dynamo, tmp_path):
    """onnxruntime knows tan, asin, acos, atan, sinh and cosh in float32 only, the script exporter no sinh and cosh."""
    unknown = () if dynamo else ("sinh", "cosh")
    laws = [law for law in laws_with_functions() if not any(name in str(law) for name in unknown)]
    rows = torch.rand(9, 3, generator=seeded(0)) + 0.5
    module = EveryLaw(laws, torch.float32).eval()
    y = through_onnx(module, rows[:4], rows, tmp_path / "laws.onnx", dynamo)
    expected = np.stack([law.predict(rows.double().numpy()) for law in laws], -1)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
