"""The contract: what every layer answers (``Trainable``), and what a unit answers beyond that (``Unit``)."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Generator, Tensor, nn

from nalm import functional as F
from nalm.errors import NALMError
from nalm.operations import operation as find_operation
from nalm.units.noise import Noise
from nalm.units.start import FromGenerator, Start

Grid = tuple[float, ...]
Weights = dict[str, Tensor]
Gold = Mapping[str, Mapping[str, float | Grid]]  # operation -> weights that perform it
Symbols = Sequence[Any]  # SymPy symbols, one per input
Spelled = dict[str, Any]  # rounded weights by name, as nested lists of SymPy numbers
Formulas = list[Any]  # SymPy expressions, one per output


class Trainable(nn.Module, abc.ABC):
    """A layer x (*runs, batch, in) -> (*runs, batch, out) that can be one or a population.

    Built singly, like ``nn.Linear``; ``nalm.stack`` puts a leading axis of runs before every parameter.
    A subclass says how its parameters start and what it computes; everything else has a default.
    """

    options: ClassVar[tuple[str, ...]] = ()  # names of the constructor's own arguments

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        # Options of a subclass are set before this runs: they may decide which parameters exist.
        super().__init__()
        for name, value in (("in_features", in_features), ("out_features", out_features)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise NALMError(
                    f"{type(self).__name__} needs {name} to be a whole number of at least 1, got {value!r}."
                )
        if dtype is not None and not dtype.is_floating_point:
            raise NALMError(
                f"{type(self).__name__} has real weights, so dtype cannot be {dtype}: use torch.float32."
            )
        self.in_features = in_features
        self.out_features = out_features
        start = self.start()
        self._plain_ndim = len(next(iter(start.values())).shape) if start else 0
        for name, first in start.items():
            self.register_parameter(name, nn.Parameter(torch.empty(first.shape, device=device, dtype=dtype)))
        if self.noisy:
            self.noise = Noise(device=device)
        self.reset_parameters(generator)

    noisy: ClassVar[bool] = False  # whether the forward pass draws noise while training

    # -- what a subclass says -----------------------------------------------------------------

    @abc.abstractmethod
    def start(self) -> dict[str, Start]:
        """Every parameter by name, with its shape and the published initial distribution."""

    @abc.abstractmethod
    def compute(self, x: Tensor) -> Tensor:
        """The formula, for x (*runs, batch, in) in at least float32."""

    def weights(self) -> Weights:
        """Effective weights by name: what the raw parameters mean, with gradients."""
        return dict(self.named_parameters(recurse=False))

    def penalties(self, x: Tensor | None = None) -> Weights:
        """Published pressures by name, one value per run; those that look at the inputs need x."""
        return {}

    def project(self) -> None:
        """Move the parameters back into their legal set; call it after every optimiser step."""

    def sparsity_error(self) -> Tensor:
        """Largest distance of a weight to {-1, 0, 1}, one value per run."""
        return F.sparsity(self.weights()["weight"])

    # -- what follows from it -----------------------------------------------------------------

    @torch.no_grad()
    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the published initial weights.

        ``generator=None`` uses a new generator seeded by the operating system, so that torch's global
        one is neither read nor moved: ``torch.manual_seed`` has no effect, a generator has.
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
        """Apply the layer to (*runs, *batch, in); the batch may have any number of axes, or none."""
        return self.unflat(self.compute(self.flat(x)), x)

    def flat(self, x: Tensor) -> Tensor:
        """Check x at the border and bring it to (*runs, batch, in), at least float32."""
        runs = self.runs
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
        """Give y (*runs, batch, out) the batch axes of x, and the precision torch's rules say."""
        for parameter in self.parameters():
            y = y.to(torch.promote_types(x.dtype, parameter.dtype))
            break
        batch_axes = x.ndim - len(self.runs) - 1
        if batch_axes == 0:
            return y.squeeze(-2)
        return y if batch_axes == 1 else y.unflatten(-2, x.shape[len(self.runs) : -1])

    @property
    def label(self) -> str:
        """How error messages call this layer: NMU(2, 1)."""
        return f"{type(self).__name__}({self.in_features}, {self.out_features})"

    def extra_repr(self) -> str:
        parts = [f"in_features={self.in_features}", f"out_features={self.out_features}"]
        parts += [f"{name}={getattr(self, name)!r}" for name in self.options]
        parts += [f"runs={tuple(self.runs)}"] if self.runs else []
        return ", ".join(parts)


class Unit(Trainable):
    """A layer whose solved weights spell out a formula."""

    grids: Mapping[str, Grid]  # effective weight -> the values it takes when solved
    gold: ClassVar[Gold]
    domain: ClassVar[str] = "real"  # where a solved unit is right: real, positive or boolean
    accepts: ClassVar[str] = "real"  # where the forward pass is finite: real or positive
    ignores: ClassVar[bool] = True  # whether an input can be left out of the formula
    shares: ClassVar[bool] = True  # whether several outputs can use the same input
    eps: float = 0.0  # the paper's epsilon; 0 is the exact form

    @abc.abstractmethod
    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        """One SymPy expression per output, for rounded weights given as nested lists of numbers."""

    def weights(self) -> Weights:
        return {name: getattr(self, name) for name in self.grids}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        """Set the raw parameters so that the effective weights become these."""
        for name, value in weights.items():
            self.get_parameter(name).copy_(value)
        return self

    @torch.no_grad()
    def rounded(self) -> Weights:
        """Effective weights, each moved to the nearest value of its grid."""
        return {
            name: F.nearest(w, self.grids[name]) if name in self.grids else w
            for name, w in self.weights().items()
        }

    def snap_(self) -> Self:
        """Move the weights onto their grid."""
        return self.assign_(self.rounded())

    def exact_(self) -> Self:
        """Drop the paper's epsilon: from now on the unit computes its formula to rounding."""
        self.eps = 0.0
        return self

    @classmethod
    def gold_weights(cls, name: str, in_features: int) -> dict[str, float | list[float]]:
        """Weights that perform an operation on the first inputs: a row over the inputs, or one number."""
        grids = getattr(cls, "grids", {})
        full: dict[str, float | list[float]] = {}
        for weight, values in cls.gold[name].items():
            if isinstance(values, tuple):
                neutral = 0.0 if 0.0 in grids.get(weight, (0.0,)) else 1.0
                full[weight] = [*values, *[neutral] * in_features][:in_features]
            else:
                full[weight] = values
        return full

    @classmethod
    def solved(cls, operation: str, in_features: int = 2, out_features: int = 1) -> Self:
        """The unit with gold weights for an operation on its first inputs, in its exact form.

        Every output computes the same; inputs beyond the operands are ignored.
        """
        arity = find_operation(operation).arity
        if operation not in cls.gold:
            raise NALMError(f"{cls.__name__} cannot represent {operation!r}. It can: {', '.join(cls.gold)}.")
        if in_features < arity or (in_features > arity and not cls.ignores):
            need = f"in_features={arity}" if not cls.ignores else f"in_features of at least {arity}"
            raise NALMError(f"{cls.__name__} needs {need} to {operation}, got {in_features}.")
        if out_features > 1 and not cls.shares:
            raise NALMError(
                f"{cls.__name__} sends each input to one output, so it cannot {operation} "
                f"{out_features} times: use out_features=1."
            )
        unit = cls(in_features, out_features)
        shapes = {name: w.shape for name, w in unit.weights().items()}
        gold = cls.gold_weights(operation, in_features)
        unit.assign_({n: torch.tensor(v).expand(shapes[n]) for n, v in gold.items()})
        return unit.exact_()

    def formulas(self, symbols: Symbols | None = None) -> Formulas:
        """What the unit computes once its weights are rounded, one SymPy expression per output.

        A formula is honest about signs: the NAC's product of plain symbols is ``Abs(a*b)``, of
        positive ones ``a*b``. Without symbols, the first inputs are called a, b, c, ...
        """
        from nalm.units.spelling import letters, numbers

        if self.runs:
            raise NALMError(
                f"A population of {tuple(self.runs)} runs has a formula each: take nalm.member(population, 0)."
            )
        x = letters(self.in_features) if symbols is None else list(symbols)
        if len(x) != self.in_features:
            raise NALMError(f"{self.label} needs {self.in_features} symbols, got {len(x)}.")
        return self.expressions(x, {n: numbers(w) for n, w in self.rounded().items()})

    @torch.no_grad()
    def is_solved(self) -> bool:
        """Whether every weight lies where rounding would put it."""
        if self.runs or any(p.is_meta for p in self.parameters()):
            return False
        weights, rounded = self.weights(), self.rounded()
        return all(torch.allclose(weights[n], rounded[n], rtol=1e-6, atol=1e-6) for n in weights)

    def extra_repr(self) -> str:
        if not self.is_solved():
            return super().extra_repr()
        from nalm.units.spelling import letters

        positive = self.domain == "positive"
        formulas = self.formulas(letters(self.in_features, positive=positive or None))
        shown = ", ".join(map(str, formulas[:4])) + (", ..." if len(formulas) > 4 else "")
        return f"{super().extra_repr()}, y = {shown}" + (" for positive inputs" if positive else "")


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
        if eps is not None and not 0 <= eps < 1:
            raise NALMError(f"{type(self).__name__} needs 0 <= eps < 1, got {eps!r}; 0 is the exact form.")
        self.eps = self.paper_eps if eps is None else eps
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def size(self, x: Tensor) -> Tensor:
        """What is raised to powers: the magnitude, with the epsilon."""
        return x.abs() + self.eps

    def powers(self, x: Tensor, weight: Tensor, *columns: Tensor) -> Tensor:
        """Product of powers of sizes: through logarithms as published, or exact without epsilon."""
        raised = F.power_product if self.eps == 0 else F.log_product
        return raised(x, weight, *columns, of=self.size)
