"""What cannot be compiled runs as it is; memory that runs out is another matter."""

import pytest
import torch

from nalm.engine.compiler import Compiler, NotCompiled, out_of_memory


def test_real_shortage_of_memory_is_recognised():
    with pytest.raises(RuntimeError) as found:
        torch.empty(2**46, dtype=torch.uint8)
    assert out_of_memory(found.value) and out_of_memory(MemoryError())
    assert not out_of_memory(RuntimeError("x"))


@pytest.mark.parametrize("error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory")])
def test_memory_that_runs_out_is_not_tried_again_uncompiled(monkeypatch, error):
    def greedy(*_, **__):
        def call(x):
            raise error

        return call

    monkeypatch.setattr(torch, "compile", greedy)
    compiler = Compiler(True)
    with pytest.raises(type(error)):
        compiler("double", lambda x: x + x)(torch.ones(1))
    assert not compiler.proven


def test_what_cannot_be_compiled_runs_as_it_is():
    def printed(x):
        torch._dynamo.graph_break()
        return x + x

    compiler = Compiler(True)
    with pytest.warns(NotCompiled, match="runs uncompiled and slower"):
        assert compiler("double", printed)(torch.ones(1)) == 2
    assert compiler("double", printed) is printed and not compiler.proven
