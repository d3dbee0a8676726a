"""Targets of tasks on whole lists (..., n), whose length may differ between training and test."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from nalm.errors import NALMError, unknown


def smallest(x: Tensor) -> Tensor:
    """Return the smallest element."""
    return x.amin(-1)


def count(x: Tensor) -> Tensor:
    """Count how many of the others are equal to the first."""
    return (x[..., 1:] == x[..., :1]).to(x.dtype).sum(-1)


def shortest_path(x: Tensor) -> Tensor:
    """Return the length of the shortest way from the first node to the last, for lengths of all edges, row by row."""
    edges = edge_lengths(x)
    distance = edges[..., 0, :]
    for _ in range(edges.shape[-1] - 2):
        distance = (distance.unsqueeze(-1) + edges).amin(-2)
    return distance[..., -1]


def edge_lengths(x: Tensor) -> Tensor:
    """Return the lengths (..., from, to) of a graph's edges; a node is at no distance from itself.

    >>> edge_lengths(torch.tensor([5.0, 2.0, 3.0, 7.0]))
    tensor([[0., 2.],
            [3., 0.]])
    """
    nodes = math.isqrt(x.shape[-1])
    if nodes * nodes != x.shape[-1] or nodes < 2:
        raise NALMError(f"A graph of n nodes has n x n inputs, n of 2 or more; got {x.shape[-1]} inputs.")
    square = x.unflatten(-1, (nodes, nodes))
    return square * (1 - torch.eye(nodes, dtype=x.dtype, device=x.device))


_LISTS: dict[str, Callable[[Tensor], Tensor]] = {
    "smallest": smallest,
    "count": count,
    "shortest_path": shortest_path,
}


def of_list(name: str, x: Tensor) -> Tensor:
    """Return the target of every list, (...) for x (..., n).

    >>> of_list("count", torch.tensor([3.0, 1.0, 3.0, 3.0]))
    tensor(2.)
    """
    if name not in _LISTS:
        raise unknown("question about a list", name, _LISTS)
    return _LISTS[name](x)
