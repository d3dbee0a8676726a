"""Functions compiled once and called without guards, and a network's methods as functions of its parameters."""

import types
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.func import functional_call

from nalm.engine.model import Tensors
from nalm.errors import NALMError

Function = Callable[..., object]


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
    """Whether this is how Python, the CPU's allocator or a GPU says so."""
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

    def __init__(self, wanted: bool):
        self.wanted = wanted
        self.functions: dict[str, Function] = {}
        self.proven: set[str] = set()  # names of functions that have run compiled

    def __call__(self, name: str, function: Function) -> Function:
        """The function to call under this name."""
        if name not in self.functions:
            self.functions[name] = self._first(name, function) if self.wanted else function
        return self.functions[name]

    def _first(self, name: str, function: Function) -> Function:
        quick = torch.compile(
            _own_code(function),
            fullgraph=True,
            dynamic=False,
            options={"guard_filter_fn": lambda entries: [False] * len(entries)},
        )

        def first(*arguments: object) -> object:
            try:
                with warnings.catch_warnings():
                    # torch's own notices while it compiles; nothing of ours passes through here
                    warnings.simplefilter("ignore", DeprecationWarning)
                    warnings.simplefilter("ignore", FutureWarning)
                    result = quick(*arguments)
            except Exception as error:
                if out_of_memory(error):  # it would take as much uncompiled: fewer runs are the remedy
                    raise
                lines = str(error).strip().splitlines() or [type(error).__name__]
                warnings.warn(
                    f"This population runs uncompiled and slower: {lines[0]}", NotCompiled, stacklevel=2
                )
                self.functions[name] = function
                return function(*arguments)
            self.functions[name] = quick
            self.proven.add(name)
            return result

        return first


def _own_code(function: Function) -> Function:
    """The function with a code object of its own."""
    if not isinstance(function, types.FunctionType):
        raise NALMError(f"{function!r} is not a function.")
    code = function.__code__.replace()
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
