"""Functions compiled once and called without guards, and a network's methods as functions of its parameters."""

import contextlib
import functools
import shlex
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.func import functional_call
from torch.utils._pytree import tree_leaves

from nalm.engine.model import Tensors
from nalm.errors import NALMError

Function = Callable[..., object]
SETTINGS: dict[str, bool | int] = {
    # Trust the processor's own list of vector instructions instead of building and starting a program to test it.
    "cpp.vec_isa_ok": True,
    # Shapes never change between calls, so they need no check before every call.
    "size_asserts": False,
    "alignment_asserts": False,
}
# Write a reduction both as a loop and at once, and keep the one that a measurement on the GPU finds faster.
WIDE: dict[str, bool | int] = {"triton.multi_kernel": 1}
CONTRACT = "enable_floating_point_contract_flag"  # torch pastes its value into the compiler's command line


@functools.cache
def options(wide: bool = False) -> dict[str, str | bool | int]:
    """Return settings of torch's generator of code; ``wide`` ones for sums over many inputs.

    They make signed integers wrap, as the draws need: gcc and clang have a flag for it, MSVC always does.
    torch has no option for further flags, but passes one value on as text.
    """
    from torch._inductor import config as inductor  # takes a second, which uncompiled training need not spend

    found: dict[str, str | bool | int] = {}
    contract = getattr(inductor.cpp, CONTRACT, None)
    if isinstance(contract, str):
        found[f"cpp.{CONTRACT}"] = f"{contract} -fwrapv"
    known, wanted = inductor.get_config_copy(), SETTINGS | (WIDE if wide else {})
    if torch.backends.cpu.get_cpu_capability() == "AVX2":
        # Run the last, incomplete vector of a loop as a scalar loop: AVX2 takes it through the stack, AVX-512 has
        # masks. Loops over the few weights of a unit are nothing but incomplete vectors.
        wanted["cpp.enable_loop_tail_vec"] = False
    return found | {name: value for name, value in wanted.items() if name in known}


@dataclass(frozen=True)
class _Call:
    """Generated code, the tensors it was called with, and the arguments of the function it belongs to."""

    code: Function
    inputs: list[Any]
    leaves: list[Any]


def _same(first: Sequence[object], second: Sequence[object]) -> bool:
    """Return whether two sequences hold the very same objects."""
    return len(first) == len(second) and all(a is b for a, b in zip(first, second, strict=True))


@contextlib.contextmanager
def _recorded() -> Iterator[list[tuple[Function, list[Any]]]]:
    """Collect the compiled graphs that are called, with their inputs."""
    from torch._inductor.output_code import CompiledFxGraph

    calls: list[tuple[Function, list[Any]]] = []
    original = CompiledFxGraph.__call__

    def record(graph: CompiledFxGraph, inputs: Sequence[Any]) -> Any:
        calls.append((graph.current_callable or graph, list(inputs)))
        return original(graph, inputs)

    setattr(CompiledFxGraph, "__call__", record)  # noqa: B010 - a type checker takes an assignment for a mistake
    try:
        yield calls
    finally:
        setattr(CompiledFxGraph, "__call__", original)  # noqa: B010


@contextlib.contextmanager
def _quoted_library_folder() -> Iterator[None]:
    """Quote the folder of torch's libraries while it compiles: torch puts it bare into a shell-like command.

    Without this nothing compiles where torch is installed below a folder with a space in its name.
    """
    folder = str(Path(torch.__file__).parent / "lib")
    if shlex.quote(folder) == folder:
        yield
        return
    from torch.utils import cpp_extension

    before = cpp_extension.TORCH_LIB_PATH
    cpp_extension.TORCH_LIB_PATH = shlex.quote(folder)
    try:
        yield
    finally:
        cpp_extension.TORCH_LIB_PATH = before


class _Method(nn.Module):
    """A method of a network as a module, so that functional_call can hand it parameters."""

    def __init__(self, network: nn.Module, method: str):
        super().__init__()
        self.network = network
        self.method = method

    def forward(self, *arguments: object) -> object:
        return getattr(self.network, self.method)(*arguments)


class Methods:
    """A network's methods with parameters and buffers handed in."""

    def __init__(self, network: nn.Module, *methods: str):
        self._modules = {method: _Method(network, method) for method in methods}

    def __call__(self, method: str, tensors: Tensors, *arguments: object) -> Any:
        inside = {f"network.{name}": t for name, t in tensors.items()}
        return functional_call(self._modules[method], inside, arguments)


def out_of_memory(error: Exception) -> bool:
    """Return whether an error of Python, the CPU's allocator or a GPU means that memory ran out."""
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error)


class NotCompiled(UserWarning):
    """A population runs eagerly although compilation was asked for."""


class Compiler:
    """Compiles each function on its first call; if that fails, says so once and runs it as it is.

    Memory that runs out on that call is no failure of the compiler, and goes on to whoever can halve the population.

    Shapes and objects never change between calls of one population, so the checks dynamo makes before every
    call (half the cost of a small step) are switched off. That is safe because each function gets a code
    object of its own: dynamo keeps its cache, and its limit of recompilations, per code object.
    """

    def __init__(self, wanted: bool, wide: bool = False):
        self.wanted, self.wide = wanted, wide
        self.functions: dict[str, Function] = {}
        self.proven: set[str] = set()  # names of functions that have run compiled
        self._repeatable: dict[str, _Call] = {}

    def __call__(self, name: str, function: Function) -> Function:
        """Return the function to call under this name."""
        if name not in self.functions:
            self.functions[name] = self._first(name, function) if self.wanted else function
        return self.functions[name]

    def again(self, name: str, *arguments: object) -> Function | None:
        """Return a function without arguments that repeats a call which only changes tensors in place.

        It calls the generated code itself: on the way there dynamo and autograd look at every argument, which takes
        longer than a step of a small population. None unless the last two calls with these very arguments read the
        same tensors and returned nothing.
        """
        found = self._repeatable.get(name)
        if found is None or not _same(found.leaves, tree_leaves(arguments)):
            return None
        return lambda: found.code(list(found.inputs))  # the generated code empties the list it gets

    def _second(self, name: str, quick: Function, first: _Call) -> Function:
        """Return a function that calls the compiled one and notes whether it reads the same tensors again."""

        def second(*arguments: object) -> object:
            with _recorded() as calls:
                result = quick(*arguments)
            leaves = tree_leaves(arguments)
            if result is None and len(calls) == 1 and _same(first.leaves, leaves):
                code, inputs = calls[0]
                if code == first.code and _same(first.inputs, inputs):
                    self._repeatable[name] = first
            self.functions[name] = quick
            return result

        return second

    def _first(self, name: str, function: Function) -> Function:
        quick = torch.compile(
            _own_code(function),
            fullgraph=True,
            dynamic=False,
            options={"guard_filter_fn": lambda entries: [False] * len(entries), **options(self.wide)},
        )

        def first(*arguments: object) -> object:
            try:
                with _quoted_library_folder(), _recorded() as calls, warnings.catch_warnings():
                    # torch's own notices while it compiles; nothing of ours passes through here
                    warnings.simplefilter("ignore", DeprecationWarning)
                    warnings.simplefilter("ignore", FutureWarning)
                    warnings.filterwarnings("ignore", "TensorFloat32")  # full precision is our choice
                    result = quick(*arguments)
            except Exception as error:
                if out_of_memory(error):  # it would take as much uncompiled: fewer runs are the remedy
                    raise
                reason = _reason(error)
                warnings.warn(
                    f"This population runs uncompiled and slower: {reason}", NotCompiled, stacklevel=2
                )
                self.functions[name] = function
                return function(*arguments)
            self.functions[name] = quick
            self.proven.add(name)
            if result is None and len(calls) == 1:
                self.functions[name] = self._second(name, quick, _Call(*calls[0], tree_leaves(arguments)))
            return result

        return first


def _own_code(function: Function) -> Function:
    """Return the function with a code object of its own."""
    if not isinstance(function, types.FunctionType):
        raise NALMError(f"{function!r} is not a function.")
    code = function.__code__.replace()
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


def _reason(error: Exception) -> str:
    """Return the first line of an error, with the next one where the first only announces it.

    >>> _reason(RuntimeError("backend='inductor' raised:\\nOutOfResources: shared memory\\nSet TORCHDYNAMO_VERBOSE=1"))
    "backend='inductor' raised: OutOfResources: shared memory"
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return " ".join(lines[:2] if lines[0].endswith(":") else lines[:1])
