"""The contract of a unit: a layer (``Trainable``) whose solved weights spell out a formula."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError
from nalm.operations import operation as find_operation
from nalm.units.trainable import Trainable as Trainable
from nalm.units.trainable import Weights as Weights

Grid = tuple[float, ...]
Gold = Mapping[str, Mapping[str, float | Grid]]  # operation -> weights that perform it
Inverse = Literal["", "divide", "subtract"]
Symbols = Sequence[Any]  # SymPy symbols, one per input
Spelled = dict[str, Any]  # rounded weights by name, as nested lists of SymPy numbers
Formulas = list[Any]  # SymPy expressions, one per output


class Unit(Trainable):
    """A layer whose solved weights spell out a formula.

    ======  ==============================================================================
    must    ``start``, ``compute``, ``expressions``; ``grids``, ``gold``
    may     ``weights`` with ``assign_`` (raw parameters differ from effective weights),
            ``rounded``, ``counts``, ``penalties``, ``project``, ``sparsity_error``; ``options``,
            ``noisy``, ``domain``, ``accepts``, ``ignores``, ``shares``, ``inverse``, ``recipe``
    free    ``solved``, ``formulas``, ``snap_``, ``exact_``, ``off_grid``, ``is_solved`` and all of
            ``Trainable``
    ======  ==============================================================================

    ``nalm.testing.check_unit`` checks all of it. For a minimal unit read nau.py and bounded.py.
    """

    # -- must: every unit defines these --------------------------------------------------------

    grids: Mapping[str, Grid]  # effective weight -> the values it takes when solved
    gold: ClassVar[Gold]  # operation -> effective weights that perform it exactly

    @abc.abstractmethod
    def expressions(self, x: Symbols, w: Spelled) -> Formulas:
        """Return one SymPy expression per output, for rounded weights given as nested lists of numbers."""

    # -- may: a unit overrides these where the default is not right ----------------------------

    domain: ClassVar[str] = "real"  # where a solved unit is right: real, positive or boolean
    accepts: ClassVar[str] = "real"  # where the forward pass is finite: real or positive
    ignores: ClassVar[bool] = True  # whether an input can be left out of the formula
    shares: ClassVar[bool] = True  # whether several outputs can use the same input
    # how noise on inputs is undone at solved weights: f(x n) / f(n) for n > 0, or f(x + n) - f(n) (reversible.py)
    inverse: ClassVar[Inverse] = ""
    eps: float = 0.0  # the paper's epsilon; 0 is the exact form
    recipe: ClassVar[Any] = (
        None  # the nalm.config.Recipe that a user's unit brings; None takes the experiment's
    )

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
        """Return the effective weights, each moved to the nearest value of its grid."""
        return {
            name: F.nearest(w, self.grids[name]) if name in self.grids else w
            for name, w in self.weights().items()
        }

    def counts(self) -> Weights:
        """Return which weights count (true or false), for those that a settled gate can leave out; all others do."""
        return {}

    # -- free: these follow from the others ----------------------------------------------------

    def snap_(self) -> Self:
        """Move the weights onto their grid."""
        return self.assign_(self.rounded())

    def exact_(self) -> Self:
        """Set the paper's epsilon to 0, so that the unit computes its formula up to rounding."""
        self.eps = 0.0
        return self

    @classmethod
    def gold_weights(cls, name: str, in_features: int) -> dict[str, float | list[float]]:
        """Return weights that perform an operation on the first inputs: a row over the inputs, or one number."""
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
        """Return a unit with gold weights for an operation on its first inputs, in its exact form.

        Every output computes the same; inputs after the operands are ignored.
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
        unit = cls(in_features, out_features, generator=Generator())  # torch's global one stays where it is
        shapes = {name: w.shape for name, w in unit.weights().items()}
        gold = cls.gold_weights(operation, in_features)
        unit.assign_({n: torch.tensor(v).expand(shapes[n]) for n, v in gold.items()})
        return unit.exact_()

    def formulas(self, symbols: Symbols | None = None) -> Formulas:
        """Return what the unit computes with rounded weights, one SymPy expression per output.

        A formula keeps absolute values: the multiplying NAC is ``Abs(a*b)`` for plain symbols and ``a*b`` for
        positive ones. Without symbols the inputs are called a, b, c, ...
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
    def off_grid(self) -> Weights:
        """Return the distance of each effective weight to its grid, 0 where the weight does not count."""
        rounded, counts = self.rounded(), self.counts()
        far = {
            n: torch.where(w == rounded[n], 0.0, (w - rounded[n]).abs()) for n, w in self.weights().items()
        }
        return {n: torch.where(counts[n], d, 0.0) if n in counts else d for n, d in far.items()}

    @torch.no_grad()
    def is_solved(self) -> bool:
        """Return whether every weight that counts lies on its grid already."""
        if self.runs or any(p.is_meta for p in self.parameters()):
            return False
        rounded = self.rounded()
        return all(bool((d <= 1e-6 + 1e-6 * rounded[n].abs()).all()) for n, d in self.off_grid().items())

    def extra_repr(self) -> str:
        if not self.is_solved():
            return super().extra_repr()
        from nalm.units.spelling import letters

        positive = self.domain == "positive"
        formulas = self.formulas(letters(self.in_features, positive=positive or None))
        shown = ", ".join(map(str, formulas[:4])) + (", ..." if len(formulas) > 4 else "")
        return f"{super().extra_repr()}, y = {shown}" + (" for positive inputs" if positive else "")
