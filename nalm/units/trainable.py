"""The contract of every layer: units, networks of units and baselines are ``Trainable``."""

import abc
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn

from nalm import functional as F
from nalm.errors import NALMError
from nalm.units.noise import Noise
from nalm.units.start import FromGenerator, Start

Weights = dict[str, Tensor]


class Trainable(nn.Module, abc.ABC):
    """A layer x ``(*runs, batch, in) -> (*runs, batch, out)``, single or a population.

    Construct a single layer like ``nn.Linear``; ``nalm.stack`` puts a leading axis of runs before every parameter.

    ======  ==============================================================================
    must    ``start``, ``compute``
    may     ``weights``, ``penalties``, ``project``, ``sparsity_error``; ``options``, ``noisy``
    free    all other methods follow from these
    ======  ==============================================================================

    A constructor with options of its own repeats ``generator``, ``device`` and ``dtype``: type checkers and editors
    then see the whole signature. It sets the options before it calls ``super().__init__``, which calls ``start``.
    """

    options: ClassVar[tuple[str, ...]] = ()  # names of the constructor's own arguments
    noisy: ClassVar[bool] = False  # whether the forward pass draws noise while training

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        super().__init__()
        for name, value in (("in_features", in_features), ("out_features", out_features)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise NALMError(
                    f"{type(self).__name__} needs {name} to be a whole number of at least 1, got {value!r}."
                )
        if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
            raise NALMError(
                f"{type(self).__name__} has real weights, so dtype cannot be {dtype!r}: use torch.float32."
            )
        try:
            torch.device("cpu" if device is None else device)
        except (RuntimeError, TypeError):
            raise NALMError(
                f"There is no device {device!r}: use 'cpu', 'cuda' or another of torch."
            ) from None
        self.in_features = in_features
        self.out_features = out_features
        start = self.start()
        self._plain_ndim = len(next(iter(start.values())).shape) if start else 0
        for name, first in start.items():
            self.register_parameter(name, nn.Parameter(torch.empty(first.shape, device=device, dtype=dtype)))
        if self.noisy:
            self.noise = Noise(device=device)
        self.reset_parameters(generator)

    # -- must: every layer defines these ------------------------------------------------------

    @abc.abstractmethod
    def start(self) -> dict[str, Start]:
        """Return every parameter by name, with its shape and the published initial distribution."""

    @abc.abstractmethod
    def compute(self, x: Tensor) -> Tensor:
        """Compute the formula for x ``(*runs, batch, in)``, which has at least float32."""

    # -- may: a layer overrides these where the default is not right --------------------------

    def weights(self) -> Weights:
        """Return the effective weights by name, computed from the raw parameters, with gradients."""
        return dict(self.named_parameters(recurse=False))

    def penalties(self, x: Tensor | None = None) -> Weights:
        """Return the published penalties by name, one value per run; some exist only if x is given."""
        return {}

    def project(self) -> None:
        """Move the parameters back into their bounds; call it after every optimiser step."""

    def sparsity_error(self) -> Tensor:
        """Return the largest distance of a weight to {-1, 0, 1}, one value per run."""
        return F.sparsity(self.weights()["weight"])

    # -- free: these follow from the others ---------------------------------------------------

    @torch.no_grad()
    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the published initial weights.

        ``generator=None`` draws from torch's global generator, so that ``torch.manual_seed`` decides the weights as it
        does for every layer of torch. Numbers are drawn on the CPU: a seed gives the same weights on every device.
        """
        if any(p.is_meta for p in self.parameters()):
            return
        source = FromGenerator.of(generator)
        for name, first in self.start().items():
            parameter = self.get_parameter(name)
            for one in parameter.view(-1, *first.shape):  # each run of a population
                one.copy_(first.sample(source))
        if self.noisy:
            self.noise.reset(source)

    @property
    def runs(self) -> torch.Size:
        """The axes of a population: () for a single layer, (25,) for 25 stacked ones."""
        for parameter in self.parameters():
            return parameter.shape[: parameter.ndim - self._plain_ndim]
        return torch.Size()

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to ``(*runs, *batch, in)``; the batch may have any number of axes, or none."""
        return self.unflat(self.compute(self.flat(x)), x)

    def flat(self, x: Tensor) -> Tensor:
        """Check x and reshape it to ``(*runs, batch, in)``, at least float32."""
        runs = self.runs
        if not isinstance(x, Tensor):
            raise NALMError(
                f"{self.label} expects a tensor, got {type(x).__name__}: use torch.as_tensor(x).float()."
            )
        if not x.is_floating_point():
            raise NALMError(f"{self.label} expects real numbers, got {x.dtype}: use x.float().")
        if x.ndim < len(runs) + 1 or x.shape[: len(runs)] != runs or x.shape[-1] != self.in_features:
            expected = ", ".join([*map(str, runs), "...", str(self.in_features)])
            raise NALMError(f"{self.label} expects x of shape ({expected}), got {tuple(x.shape)}.")
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        batch_axes = x.ndim - len(runs) - 1
        if batch_axes == 0:
            return x.unsqueeze(-2)
        return x if batch_axes == 1 else x.flatten(len(runs), -2)

    def unflat(self, y: Tensor, x: Tensor) -> Tensor:
        """Reshape y ``(*runs, batch, out)`` to the batch axes of x, in the precision of torch's promotion."""
        for parameter in self.parameters():
            y = y.to(torch.promote_types(x.dtype, parameter.dtype))
            break
        batch_axes = x.ndim - len(self.runs) - 1
        if batch_axes == 0:
            return y.squeeze(-2)
        return y if batch_axes == 1 else y.unflatten(-2, x.shape[len(self.runs) : -1])

    def check_noise(self, noise: Tensor, shape: torch.Size, of: str) -> None:
        """Refuse noise that was handed in with another shape than that of what it is for."""
        if not isinstance(noise, Tensor) or noise.shape != shape:
            got = tuple(noise.shape) if isinstance(noise, Tensor) else type(noise).__name__
            raise NALMError(
                f"{self.label} needs noise of {of}'s shape {tuple(shape)}, as a tensor, got {got}."
            )

    @property
    def label(self) -> str:
        """The layer's name in error messages: NMU(2, 1)."""
        return f"{type(self).__name__}({self.in_features}, {self.out_features})"

    def extra_repr(self) -> str:
        parts = [f"in_features={self.in_features}", f"out_features={self.out_features}"]
        parts += [f"{name}={getattr(self, name)!r}" for name in self.options]
        parts += [f"runs={tuple(self.runs)}"] if self.runs else []
        return ", ".join(parts)
