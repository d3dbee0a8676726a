"""Populations: many modules as one with a leading axis of runs, and back again."""

import copy
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from nalm.errors import NALMError
from nalm.units.base import Trainable

M = TypeVar("M", bound=nn.Module)


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers under every name they have."""
    parameters = module.named_parameters(remove_duplicate=False)
    return dict(parameters) | dict(module.named_buffers(remove_duplicate=False))


def _kind(module: nn.Module) -> list[tuple[str, type, tuple[object, ...]]]:
    """Return what two modules must have in common to be stacked: the classes inside and their options."""
    return [
        (name, type(part), tuple(getattr(part, option) for option in part.options))
        if isinstance(part, Trainable)
        else (name, type(part), ())
        for name, part in module.named_modules()
    ]


def _replace(module: M, tensors: dict[str, Tensor]) -> M:
    """Replace the parameters and buffers of a module, and return it."""
    parts = dict(module.named_modules(remove_duplicate=False))
    made: dict[int, Tensor] = {}  # a tensor that two layers share stays shared
    for name, value in tensors.items():
        owner, _, leaf = name.rpartition(".")
        old = getattr(parts[owner], leaf)
        if id(old) not in made:
            fresh = value.detach()
            is_parameter = isinstance(old, nn.Parameter)
            made[id(old)] = nn.Parameter(fresh, requires_grad=old.requires_grad) if is_parameter else fresh
        setattr(parts[owner], leaf, made[id(old)])
    return module


def _line(module: nn.Module) -> str:
    """Return a module's text on one line, for error messages."""
    return " ".join(repr(module).split())


def stack(members: Sequence[M]) -> M:
    """Make one module of many: every parameter and buffer gets a leading axis of runs.

    Works for any module built of layers that accept leading axes: units, baselines such as ``BASELINES["Linear"]`` and
    layers without parameters. The members stay as they are.

    >>> from nalm.units import NMU
    >>> stack([NMU(2, 1) for _ in range(25)])
    NMU(in_features=2, out_features=1, penalty='linear', bounds='clip', runs=(25,))
    """
    members = list(members)
    if not members:
        raise NALMError("A population needs at least one member, got none.")
    first = members[0]
    for name, part in first.named_modules():
        if isinstance(part, nn.Linear):
            raise NALMError(
                f"The part {name!r} is an nn.Linear, which has no axis of runs: use nalm.BASELINES['Linear']"
                f"({part.in_features}, {part.out_features}, bias={part.bias is not None}) in its place."
            )
    shapes = {name: (t.shape, t.dtype) for name, t in _tensors(first).items()}
    for i, other in enumerate(members[1:], start=1):
        if _kind(other) != _kind(first):
            raise NALMError(
                f"Member {i} is {_line(other)}, member 0 is {_line(first)}: a population has one kind."
            )
        if {name: (t.shape, t.dtype) for name, t in _tensors(other).items()} != shapes:
            raise NALMError(f"Member {i} has other shapes or types than member 0: stack equal layers only.")
    every = [_tensors(m) for m in members]
    return _replace(
        copy.deepcopy(first), {name: torch.stack([t[name].detach() for t in every]) for name in shapes}
    )


def member(population: M, index: int) -> M:
    """Return one run of a population as a module of its own.

    >>> from nalm.units import NMU
    >>> member(stack([NMU.solved("multiply"), NMU.solved("select")]), 1).formulas()
    [a]
    """
    size = _size(population)
    if not -size <= index < size:
        raise NALMError(f"There is no member {index} in a population of {size}.")
    return _take(population, index)


def keep(population: M, which: Sequence[int] | Tensor) -> M:
    """Return a population of some of the runs, given by their numbers or by a mask.

    >>> from nalm.units import NMU
    >>> keep(stack([NMU(2, 1) for _ in range(25)]), [3, 7]).runs
    torch.Size([2])
    """
    size = _size(population)
    chosen = torch.as_tensor(which)
    if chosen.dtype == torch.bool:
        if chosen.shape != (size,):
            raise NALMError(f"A mask for {size} runs has shape ({size},), got {tuple(chosen.shape)}.")
        chosen = chosen.nonzero().squeeze(-1)
    whole = chosen.numel() == 0 or not chosen.is_floating_point()
    chosen = chosen.to(torch.int64)
    if (
        not whole
        or chosen.ndim != 1
        or (chosen.numel() and not bool(((chosen < size) & (chosen >= -size)).all()))
    ):
        raise NALMError(f"Runs of this population are numbered 0 to {size - 1}, got {which!r}.")
    return _take(population, chosen)


def _size(population: nn.Module) -> int:
    layers = [part for part in population.modules() if isinstance(part, Trainable) and part.start()]
    if any(layer.runs == () for layer in layers):
        raise NALMError(f"{_line(population)} is a single module: stack members before taking them apart.")
    for tensor in _tensors(population).values():
        return tensor.shape[0]
    raise NALMError(f"{_line(population)} has no parameters, so it has no members.")


def _take(population: M, index: int | Tensor) -> M:
    taken = {
        name: t[index.to(t.device) if isinstance(index, Tensor) else index].detach().clone()
        for name, t in _tensors(population).items()
    }
    return _replace(copy.deepcopy(population), taken)
