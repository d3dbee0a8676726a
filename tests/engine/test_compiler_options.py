"""Settings of torch's C++ generator that the draws and folders with spaces rely on."""

import locale
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from nalm import draws
from nalm.engine import compiler
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run
from nalm.lab.bench import numbers as bench

pytestmark = pytest.mark.skipif(
    locale.getpreferredencoding(False).lower().replace("-", "") != "utf8",
    reason="torch reads its own templates in the locale's encoding, and compiles nothing in one without UTF-8",
)
SPACED = """
import torch, warnings
from nalm.engine.compiler import Compiler
warnings.simplefilter("error")
assert " " in torch.__file__, torch.__file__
made = Compiler(True)
assert made("double", lambda x: x * 2)(torch.ones(40)).sum() == 80
assert made.proven == {"double"}
"""


def test_generated_code_is_compiled_with_wrapping_integers():
    from torch._inductor import config
    from torch._inductor.cpp_builder import CppOptions

    with config.patch(compiler.options()):
        assert any("-fwrapv" in flag for flag in CppOptions().get_cflags())
    assert not any("-fwrapv" in flag for flag in CppOptions().get_cflags())


@pytest.mark.parametrize(
    "rows", [7, pytest.param(1, marks=pytest.mark.system), pytest.param(64, marks=pytest.mark.system)]
)
def test_compiled_draws_are_those_of_integers_that_wrap(rows):
    """Python's integers do not overflow, so they say which bits are right; 1 and 7 rows leave no whole vector."""
    key, step = draws.key(3, "train"), 2**20 + 5
    words = draws.packed(torch.arange(rows, dtype=torch.int32))

    def drawn(first: torch.Tensor, second: torch.Tensor, at: torch.Tensor, words: torch.Tensor):
        return draws.hashed(first, second, at, draws.unpacked(words))

    compiled = compiler.Compiler(True)("draw", drawn)
    tensors = [torch.tensor([v], dtype=torch.int32) for v in (*key, step)]
    assert compiled(*tensors, words).tolist() == [by_hand(*key, step, position) for position in range(rows)]


def by_hand(first: int, second: int, step: int, position: int) -> int:
    """The hash in Python's integers, reduced modulo 2^32 after every operation."""
    mask = 2**32 - 1

    def mix(x: int) -> int:
        x = ((x ^ (x >> 16)) * 0x7FEB352D) & mask
        x = ((x ^ (x >> 15)) * 0x846CA68B) & mask
        return x ^ (x >> 16)

    first, second = first & mask, second & mask
    offset = mix((step * 0x85EBCA6B + first) & mask)
    factor = mix(offset ^ second) | 1
    word = mix((((((position ^ second) * 0x9E3779B1) & mask) ^ offset) * factor + second) & mask)
    return word - (word >> 31 << 32)


def adds_one(x: torch.Tensor) -> None:
    x.add_(1)


def test_a_call_that_works_in_place_can_be_repeated_without_its_arguments():
    made, x = compiler.Compiler(True), torch.zeros(40)
    assert made.again("step", x) is None
    for _ in range(2):
        made("step", adds_one)(x)
    again = made.again("step", x)
    again()
    assert x.tolist() == [3.0] * 40
    assert made.again("step", torch.zeros(40)) is None


def test_a_call_that_returns_something_is_not_repeated():
    made, x = compiler.Compiler(True), torch.zeros(40)
    for _ in range(3):
        made("double", lambda x: x * 2)(x)
    assert made.again("double", x) is None


def test_repeated_steps_are_those_taken_one_by_one():
    case = bench.small("NALU")
    one, other = (Program([Run(case, s, s) for s in range(3)], torch.device("cpu"), True) for _ in range(2))
    for _ in range(20):
        one.advance(1, "mse")
    other.advance(20, "mse")
    assert other.compiler.again("train mse", *other._state(None)) is not None
    assert all(torch.equal(one.params[name], p) for name, p in other.params.items())


@pytest.mark.system
@pytest.mark.skipif(sys.platform == "win32", reason="links to folders need rights on Windows")
def test_it_compiles_where_torch_lies_below_a_folder_with_a_space(tmp_path):
    folder = tmp_path / "a checkout"
    folder.mkdir()
    (folder / "packages").symlink_to(Path(torch.__file__).parent.parent, target_is_directory=True)
    root = Path(compiler.__file__).parents[2]
    path = os.pathsep.join([str(root), str(folder / "packages")])
    subprocess.run([sys.executable, "-c", SPACED], env={**os.environ, "PYTHONPATH": path}, check=True)
