"""Models of several widths as rows of one table: the narrow ones are padded with zeros."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalm.engine.model import Network, Tensors
from nalm.engine.plan import Run


class Padding:
    """The parameters of the widest model, and where those of the others lie among them."""

    def __init__(self, networks: Sequence[Network]):
        self.networks = networks
        self.widest = max(networks, key=lambda n: sum(p.numel() for p in n.parameters()))
        self.shapes = {name: p.shape for name, p in self.widest.named_parameters()}

    def initial(self, runs: Sequence[Run]) -> tuple[Tensor, Tensor]:
        """Return the runs' initial parameters (runs, n), 0 where they are padded, and 1 where they are not."""
        rows, masks = [], []
        for run, network in zip(runs, self.networks, strict=True):
            first = network.starts([run.seed], torch.zeros(1), 0, run.case.recipe.starts)
            row, mask = [], []
            for name, shape in self.shapes.items():
                whole, there = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape)
                place = tuple(slice(n) for n in first[name].shape[1:])
                whole[place], there[place] = first[name][0].double(), 1.0
                row.append(whole.flatten())
                mask.append(there.flatten())
            rows.append(torch.cat(row))
            masks.append(torch.cat(mask))
        return torch.stack(rows), torch.stack(masks).double()

    def named(self, theta: Tensor) -> Tensors:
        """Return the parameters of rows (..., n) by their names."""
        parts = theta.split([shape.numel() for shape in self.shapes.values()], -1)
        return {n: p.unflatten(-1, s) for (n, s), p in zip(self.shapes.items(), parts, strict=True)}

    def own(self, theta: Tensor, run: int) -> Tensors:
        """Return one run's parameters without the padding."""
        shapes = {name: p.shape for name, p in self.networks[run].named_parameters()}
        named = self.named(theta[run].cpu())
        return {name: named[name][tuple(slice(n) for n in shape)].clone() for name, shape in shapes.items()}
