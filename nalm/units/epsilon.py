"""Units whose paper adds a small epsilon where a logarithm or a reciprocal would meet zero."""

from typing import ClassVar

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units.base import Unit


class EpsUnit(Unit):
    """A unit whose paper adds a small epsilon where a logarithm or a reciprocal would meet zero."""

    options: ClassVar[tuple[str, ...]] = ("eps",)
    paper_eps: ClassVar[float]

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        eps: float | None = None,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        try:
            inside = eps is None or 0 <= eps < 1
        except TypeError:
            inside = False
        if not inside:
            raise NALMError(f"{type(self).__name__} needs 0 <= eps < 1, got {eps!r}; 0 is the exact form.")
        self.eps = self.paper_eps if eps is None else eps
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def size(self, x: Tensor) -> Tensor:
        """Return the magnitude plus epsilon, which is raised to powers."""
        return x.abs() + self.eps

    def powers(self, x: Tensor, weight: Tensor, *columns: Tensor) -> Tensor:
        """Multiply powers of sizes: through logarithms as published, or exactly if epsilon is 0."""
        raised = F.power_product if self.eps == 0 else F.log_product
        return raised(x, weight, *columns, of=self.size)
