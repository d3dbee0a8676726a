"""What docs/torch-internals.md says we rely on inside torch: one test per assumption."""

import operator
import re
from pathlib import Path

import pytest
import torch

from nalm.engine import compiler
from nalm.units import NMU
from nalm.units.noise import without_gradient_wrapper

ROOT = Path(__file__).parents[1]


def test_a_function_compiled_without_guards_is_never_compiled_again():
    calls = []

    def backend(graph, inputs):
        calls.append(graph)
        return graph.forward

    settings = {"factor": 2}
    quick = torch.compile(
        lambda x: x * settings["factor"],
        backend=backend,
        fullgraph=True,
        dynamic=False,
        options={"guard_filter_fn": lambda entries: [False] * len(entries)},
    )
    assert quick(torch.ones(3)).tolist() == [2, 2, 2]
    settings["factor"] = 5  # a guard would notice
    assert quick(torch.ones(3)).tolist() == [2, 2, 2]
    assert len(calls) == 1


@pytest.mark.system
def test_dynamo_keeps_compiled_code_per_code_object():
    def times(factor):
        return lambda x: x * factor

    compiled = compiler.Compiler(True)
    assert compiled("double", times(2.0))(torch.ones(3)).tolist() == [2, 2, 2]
    assert compiled("triple", times(3.0))(torch.ones(3)).tolist() == [3, 3, 3]
    assert compiled("double", times(2.0))(torch.ones(3)).tolist() == [2, 2, 2]
    assert compiled.proven == {"double", "triple"}


def test_functional_call_passes_tensors_by_reference():
    outside = {"weight": torch.tensor([[1.5, -0.5]])}
    compiler.Methods(NMU(2, 1), "project")("project", outside)
    assert outside["weight"].tolist() == [[1.0, 0.0]]


def test_functorch_unwraps_a_tensor_of_a_gradient_transform():
    functorch = torch._C._functorch
    kept = {}

    def loss(x):
        kept["wrapped"] = functorch.is_gradtrackingtensor(x)
        kept["inside"] = without_gradient_wrapper(x + 1)
        return x.sum()

    torch.func.grad(torch.func.grad(lambda x: loss(x).square()))(torch.tensor(2.0))
    assert kept["wrapped"] and not functorch.is_gradtrackingtensor(kept["inside"])
    assert kept["inside"].item() == 3


def test_inductor_knows_every_setting_that_we_give_it():
    from torch._inductor import config

    with config.patch(compiler.options(wide=True)):
        for name, value in compiler.options(wide=True).items():
            assert operator.attrgetter(name)(config) == value


def test_every_assumption_in_the_documentation_has_its_test():
    page = (ROOT / "docs" / "torch-internals.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) == 9
    for row in rows:
        found = re.search(r"`(tests/\S+\.py)::(test_\w+)` \|$", row)
        assert found, row
        assert f"def {found[2]}(" in (ROOT / found[1]).read_text("utf-8"), row
