"""Recurrent Input Selectors: modules compete to write the next line of a scratchpad (Mistry 2023, 7.2.5, 7.2.6)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import sympy
import torch
from torch import Generator, Tensor, nn

from nalm.errors import NALMError, unknown
from nalm.networks.composite import Build, Composite
from nalm.networks.lines import Line, LineNetwork
from nalm.networks.selection import CERTAINTY, choose, gumbel, st_softmax, taken
from nalm.units import Unit, unit
from nalm.units.base import Spelled, Symbols, Weights
from nalm.units.start import Constant, Start


class _Scratchpad(LineNetwork):
    """In each of ``steps`` steps every module sees inputs and scratchpad, and one of them writes a line.

    The last line is the output. In training Algorithm 1 makes the choice; in evaluation the likeliest module writes.
    """

    noisy: ClassVar[bool] = True  # the Gumbel noise of the choice
    steps: int
    choice_hat: Tensor  # (*runs, steps, modules)
    certainty: Tensor  # (*runs, steps)

    def modules_at(self, step: int, x: Tensor, written: Sequence[Tensor]) -> Tensor:
        """Compute the output of every module, (*runs, batch, modules), from the lines so far, each (*runs, batch)."""
        raise NotImplementedError

    def logits(self, modules: int) -> dict[str, Start]:
        """Return how the choice starts: no module is preferred, and noise mostly decides."""
        return {
            "choice_hat": Constant((self.steps, modules), 0.0),
            "certainty": Constant((self.steps,), CERTAINTY),
        }

    def compute(self, x: Tensor) -> Tensor:
        written: list[Tensor] = []
        chance = self._gumbel(x) if self.training else None
        for t in range(self.steps):
            outputs, w = self.modules_at(t, x, written), self.choice_hat[..., t, :]
            if chance is None:
                line = taken(outputs, st_softmax(w))
            else:
                line = choose(outputs, w, self.certainty[..., t], chance[..., t, :])
            written.append(line)
        return written[-1].unsqueeze(-1)

    def _gumbel(self, x: Tensor) -> Tensor:
        return gumbel(self.noise.uniform(tuple(self.choice_hat.shape), x.dtype))


class Selector(Composite, _Scratchpad):
    r"""Learnable units compete for the next line of a scratchpad (Mistry 2023, section 7.2.5).

    At every step each unit sees :math:`[x, s_1, \dots, s_T]`, with 0 where nothing is written yet, and
    one unit's output becomes :math:`s_t`; :math:`s_T` is the output. Units keep their weights over
    the steps; which one is chosen is learnt per step. (The thesis leaves open the empty value, whether weights
    are shared, and the start of the logits: zeros here.)

    >>> [str(line) for line in Selector(2, 1, units=("NAU",)).assign_(
    ...     {"parts.0.weight": torch.tensor([[1.0, 1.0, -1.0, 0.0]])}).working()]
    ['s1 = a + b  (NAU)', 's2 = a + b - s1  (NAU)']
    """

    options = ("units", "steps")

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        units: Sequence[str] = ("NAU", "NAU", "NMU"),
        steps: int = 2,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        check_steps(out_features, steps)
        self.units, self.steps = tuple(units), steps
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def units_inside(self, build: Build) -> dict[str, nn.ModuleList]:
        return {
            "parts": nn.ModuleList([build(unit(n), self.in_features + self.steps, 1) for n in self.units])
        }

    def start(self) -> dict[str, Start]:
        return self.logits(len(self.units))

    def own(self) -> Weights:
        return {"choice": st_softmax(self.choice_hat)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        check_names(self, weights)
        if "choice" in weights:
            self.choice_hat.copy_(weights["choice"])
        return super().assign_(weights)

    def modules_at(self, step: int, x: Tensor, written: Sequence[Tensor]) -> Tensor:
        empty = [torch.zeros_like(x[..., 0])] * (self.steps - step)
        u = torch.stack([*x.unbind(-1), *written, *empty], -2).mT  # the batch stays innermost
        return torch.cat([part(u) for part in self.inside()], -1)

    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        written: list[Line] = []
        for t in range(self.steps):
            empty = [sympy.Integer(0)] * (self.steps - t)
            u = [*x, *(sympy.Symbol(line.name) for line in written), *empty]
            k = w["choice"][t].index(1)
            (expression,) = self.inside()[k].expressions(u, self.of(f"parts.{k}", w))
            written.append(Line(f"s{t + 1}", self.units[k], expression))
        return written


OPERATIONS = ("add", "sub", "mul", "div")
SMALLEST = 1e-7  # a divisor closer to 0 is replaced by this number


class FrozenSelector(_Scratchpad):
    r"""Four fixed operations compete for the next line of a scratchpad (Mistry 2023, section 7.2.6).

    It learns which operation sees which inputs. At every step a mask sends every input and every written line to
    exactly one of :math:`\sum`, :math:`-\sum`, :math:`\prod` and :math:`1/\prod` (a straight-through softmax over the
    modules). What a module does not see has its neutral value, 0 or 1, and so has a line that is not written yet.
    The thesis adds 1 to the mask's rows of the latest line, which changes no softmax; here the mask starts at 0.

    >>> FrozenSelector(3, 1).text(sympy.symbols("a b c"))  # before training the first operation sees everything
    's1 = a + b + c; a + b + c + s1'
    """

    options: ClassVar[tuple[str, ...]] = ("steps",)
    grids = {"choice": (0.0, 1.0), "mask": (0.0, 1.0)}
    mask_hat: Tensor  # (*runs, steps, inputs and lines, modules)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        steps: int = 2,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        check_steps(out_features, steps)
        self.steps = steps
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

    def start(self) -> dict[str, Start]:
        seen = self.in_features + self.steps
        return self.logits(4) | {"mask_hat": Constant((self.steps, seen, 4), 0.0)}

    def weights(self) -> Weights:
        return {"choice": st_softmax(self.choice_hat), "mask": st_softmax(self.mask_hat)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        check_names(self, weights)
        return super().assign_({f"{name}_hat": value for name, value in weights.items()})

    def modules_at(self, step: int, x: Tensor, written: Sequence[Tensor]) -> Tensor:
        mask = st_softmax(self.mask_hat[..., step, :, :]).unsqueeze(-3)  # (*runs, 1, seen, modules)
        return operated([*x.unbind(-1), *written], mask, sure=not self.training)

    def sparsity_error(self) -> Tensor:
        return torch.zeros_like(self.certainty[..., 0])

    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        written: list[Line] = []
        for t in range(self.steps):
            seen = [*x, *(sympy.Symbol(line.name) for line in written)]
            k = w["choice"][t].index(1)
            mine = [u for u, row in zip(seen, w["mask"][t], strict=False) if row[k]]
            written.append(Line(f"s{t + 1}", OPERATIONS[k], spelt(OPERATIONS[k], mine)))
        return written


def operated(seen: Sequence[Tensor], mask: Tensor, *, sure: bool = False, least: float = 0.0) -> Tensor:
    """Apply the four operations to what each of them sees; (*runs, batch, 4).

    ``seen`` are inputs and lines, each (*runs, batch); ``mask`` (*runs, batch or 1, seen or more, 4) tells which
    operation sees them. With a ``sure`` mask, of 0 and 1, an infinite value has no effect on an operation that does
    not see it. A product that divides and is closer to 0 than ``least`` counts as that far from it.
    """
    total = torch.zeros_like(seen[0])
    subtracted, product, divisor = total, torch.ones_like(total), torch.ones_like(total)
    for j, u in enumerate(seen):
        m = mask[..., j, :]
        m_add, m_sub, m_mul, m_div = m.unbind(-1)
        u_add, u_sub, u_mul, u_div = _seen(u, m).unbind(-1) if sure else (u, u, u, u)
        safe = torch.where(u_div.abs() < SMALLEST, SMALLEST, u_div)
        total = total + m_add * u_add
        subtracted = subtracted + m_sub * u_sub
        # the identity is one term, so that a mask of 1 keeps even a tiny value exactly
        product = product * (m_mul * u_mul + (1 - m_mul))
        divisor = divisor * (m_div * safe + (1 - m_div))
    if least:  # before the reciprocal, whose slope at 0 is infinite
        edge = torch.copysign(torch.full_like(divisor, least), divisor)
        divisor = torch.where(divisor.abs() < least, edge, divisor)
    return torch.stack([total, -subtracted, product, 1 / divisor], -1)


def _seen(u: Tensor, m: Tensor) -> Tensor:
    """Return u (*runs, batch) for each operation, (*runs, batch, 4), as 0 where it is infinite and not seen."""
    u = u.unsqueeze(-1)
    return torch.where(u.isfinite() | (m != 0), u, 0.0)


def spelt(name: str, seen: Sequence[Any]) -> Any:
    """Return an operation on symbols, as an expression."""
    if name in ("add", "sub"):
        return sympy.Add(*seen) * (1 if name == "add" else -1)
    return sympy.Mul(*seen) ** (1 if name == "mul" else -1)


def check_steps(out_features: int, steps: int) -> None:
    """Refuse a selector of several outputs or without a step."""
    if out_features != 1:
        raise NALMError(f"A selector's last line is its one output, got out_features={out_features}.")
    if not whole(steps, 1):
        raise NALMError(f"A selector takes at least one step, as a whole number, got steps={steps!r}.")


def whole(value: object, least: int) -> bool:
    """Return whether a value is a whole number that is not too small; True is none."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def check_names(network: Unit, names: Iterable[str]) -> None:
    """Refuse a name that no effective weight of a network has."""
    known = network.weights()
    for name in names:
        if name not in known:
            raise unknown(f"effective weight of {network.label}", name, known)
