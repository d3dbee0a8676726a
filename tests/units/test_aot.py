"""Units and laws compiled ahead of time by AOTInductor: the library that is written computes the same numbers."""

import shutil

import numpy as np
import pytest
import torch
from random_laws import EveryLaw, groups, laws_with_functions

from nalm.testing import inputs, seeded
from nalm.units import UNITS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of the compiler, about itself
    pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler"),
]
BUILT_IN = [name for name in UNITS if "@" not in name]


def ahead_of_time(module: torch.nn.Module, rows: torch.Tensor, path):
    """Export with a batch of any size, compile, and load the library."""
    shapes = {"x": {0: torch.export.Dim("rows", min=2, max=4096)}}
    program = torch.export.export(module, (rows[:4],), dynamic_shapes=shapes)
    package = torch._inductor.aoti_compile_and_package(program, package_path=str(path))
    return torch._inductor.aoti_load_package(package)


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_unit_computes_the_same_ahead_of_time(name, tmp_path):
    unit = UNITS[name](3, 2, generator=seeded(0)).eval()
    rows = inputs(UNITS[name], 9, 3, seed=1)
    compiled = ahead_of_time(unit, rows, tmp_path / "unit.pt2")
    torch.testing.assert_close(compiled(rows), unit(rows).detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("laws", [*groups(), laws_with_functions()], ids=[*range(10), "functions"])
def test_laws_compute_the_same_ahead_of_time(laws, tmp_path):
    rows = torch.rand(9, 3, generator=seeded(0), dtype=torch.float64) + 0.5
    compiled = ahead_of_time(EveryLaw(laws).eval(), rows, tmp_path / "laws.pt2")
    expected = np.stack([law.predict(rows.numpy()) for law in laws], -1)
    np.testing.assert_allclose(compiled(rows).detach().numpy(), expected, rtol=1e-9, atol=1e-9)
