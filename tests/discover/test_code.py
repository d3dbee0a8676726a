"""A law as source code: each text is run by its own tool and gives the numbers of the law."""

import ctypes
import importlib.util
import shutil
import subprocess

import numpy as np
import pytest
import torch
from random_laws import EveryLaw, laws_with_functions, random_law

from nalm.discover.law import Law
from nalm.discover.law.code import to_c, to_excel, to_jax, to_numpy
from nalm.discover.law.expression import Input, Power, Sum
from nalm.errors import NALMError

LAWS = [random_law(seed) for seed in range(100)]
X = np.random.default_rng(0).uniform(0.5, 1.5, (5, 3))
ROOTS = Law(
    Sum((Power((Input(0), Input(1)), (0.5, -1.5), 6.674), Input(2)), (1.0, -0.1), 2.0), ("a", "b", "c")
)
EVERY = [*LAWS, ROOTS, *laws_with_functions()]


def agree(y, law):
    np.testing.assert_allclose(y, law.predict(X), rtol=1e-9, atol=1e-12)


def made(source: str, name: str):
    """The function that a text defines."""
    space: dict = {}
    exec(source, space)
    return space[name]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
def test_c_computes_the_laws(tmp_path):
    laws = EVERY
    (tmp_path / "laws.c").write_text("\n".join(to_c(law, f"law{k}") for k, law in enumerate(laws)))
    command = ["gcc", "-std=c99", "-shared", "-fPIC", "-o", tmp_path / "laws.so", tmp_path / "laws.c", "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(tmp_path / "laws.so"))
    for k, law in enumerate(laws):
        function = getattr(library, f"law{k}")
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 3
        agree([function(*row) for row in X], law)


def test_numpy_computes_the_laws():
    for law in EVERY:
        agree(made(to_numpy(law), "law")(*X.T) * np.ones(len(X)), law)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_jax_computes_and_differentiates_the_laws():
    import jax

    with jax.enable_x64(True):
        for law in EVERY:
            function = made(to_jax(law), "law")
            agree(np.array([float(function(*map(jax.numpy.float64, row))) for row in X]), law)
        slope = jax.grad(made(to_jax(ROOTS), "law"))(4.0, 1.0, 0.0)
        assert float(slope) == pytest.approx(6.674 / 4)


@pytest.mark.skipif(
    importlib.util.find_spec("formulas") is None, reason="the package formulas is not installed"
)
@pytest.mark.filterwarnings("ignore")
def test_a_spreadsheet_computes_the_laws():
    import formulas

    for law in EVERY:
        function = formulas.Parser().ast(to_excel(law))[1].compile()
        names = [name.split("!")[-1] for name in function.inputs]
        values = [function(*(row["ABC".index(name[0])] for name in names)) for row in X] if names else None
        if values is not None:
            agree(np.array([float(np.asarray(v).item()) for v in values]), law)


@pytest.mark.parametrize(
    "laws", [[LAWS[1], ROOTS], pytest.param(EVERY, marks=pytest.mark.slow)], ids=["two", "every"]
)
def test_torch_export_computes_the_laws(laws):
    rows, module = torch.from_numpy(X), EveryLaw(laws).eval()
    shapes = {"x": {0: torch.export.Dim("rows", min=2, max=4096)}}
    program = torch.export.export(module, (rows[:3],), dynamic_shapes=shapes)
    for law, y in zip(laws, program.module()(rows).detach().numpy().T, strict=True):
        agree(y, law)


def test_every_digit_of_a_number_is_written():
    number = 0.12345678901234567
    law = Law(Sum((Input(0),), (number,), 0.0), ("a",))
    for text in (to_c(law), to_numpy(law), to_jax(law), to_excel(law)):
        assert repr(number) in text


def test_names_of_cells_and_functions_can_be_chosen():
    law = Law(Power((Input(0), Input(1)), (1.0, 2.0), -1.0), ("lambda_", "double"))
    assert to_excel(law, ["Sheet1!B7", "C3"]) == "=-1*C3^(2)*Sheet1!B7"
    assert "double area(double lambda_, double double_)" in to_c(law, "area")
    assert made(to_numpy(law, "area"), "area")(2.0, 3.0) == -18.0
    many = Law(Input(27), tuple(f"x{k}" for k in range(28)))
    assert to_excel(many) == "=AB2"
    with pytest.raises(NALMError, match="cannot be called 'my law'"):
        to_c(law, "my law")
    with pytest.raises(NALMError, match="has 2 inputs, got 1 cells"):
        to_excel(law, ["A1"])
