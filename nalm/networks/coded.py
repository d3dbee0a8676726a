"""A unit behind a small network that reads its operands: which code of the digits does the reader learn?"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
import sympy
import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError, unknown
from nalm.networks.composite import Build, Composite
from nalm.networks.lines import Line, LineNetwork
from nalm.networks.selector import check_names, whole
from nalm.operations import OPERATIONS
from nalm.units import UNITS, Unit
from nalm.units.base import Spelled, Symbols, Weights
from nalm.units.start import Constant, Start, Uniform

DIGITS = 9  # the digits 1 to 9
NEAR = 1e-3  # an input further from every digit is none
SPREAD = 0.05  # standard deviation of the noise on the entries of a code in training
CLOSE = 0.03  # largest error of a fitted code, relative to the root mean square of the values
READERS = ("shared", "separate")
VALUES = ("free", "softargmax", "bounded")
GIVEN = tuple(n for n, o in OPERATIONS.items() if o.kind != "comparison")  # those that have a slope
Names = tuple[str, str, str, str]  # of the factor, the summand, the exponent and the function in a code


class CodedUnit(Composite, LineNetwork):
    r"""A unit whose operands are digits that a small network reads from codes, both trained by the unit's result.

    An input is a digit from 1 to 9; for anything else the result is not a number. The reader sees a digit as 9
    numbers, 1 at the digit's place and 0 elsewhere, with normal noise in training, and has ``depth`` layers of
    ``hidden`` rectified units. Its value is *free* (one linear output, which starts about the middle digit),
    *softargmax*, the mean digit under a softmax as the readers of images have it, or *bounded*, 1 + 8 times a sigmoid.
    All inputs have one *shared* reader, or *separate* ones. ``unit`` is the name of a unit, or of an operation that is
    given and not learnt.

    Only the result is trained, so a reader may learn another code than the digits, which the unit undoes. The
    effective weight ``value`` has what it reads in each digit. The formula names the code: ``a`` are the digits
    themselves, ``a*c`` and ``c/a`` have a factor, ``a*c + d`` is linear, ``a**p*c`` a power, ``f(a)`` anything else.
    The second of separate readers has numbers of its own, as in ``b*c2``.

    >>> network = CodedUnit(2, 1, unit="divide", generator=Generator().manual_seed(0))
    >>> network.text(sympy.symbols("a b"))
    'r1 = f(a); r2 = f(b); r1/r2'
    """

    options = ("unit", "readers", "value", "hidden", "depth")
    noisy = True
    weight0: (
        Tensor  # (*runs, readers, values of the first layer, 9); weight1 and so on for the layers behind it
    )
    bias0: Tensor
    behind: Unit

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        unit: str = "NMU",
        readers: Literal["shared", "separate"] = "shared",
        value: Literal["free", "softargmax", "bounded"] = "free",
        hidden: int = 32,
        depth: int = 1,
        generator: Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ):
        if isinstance(unit, str) and unit in OPERATIONS.keys() - GIVEN:
            raise NALMError(
                f"A reader cannot be trained through {unit!r}, which has no slope: give another operation or a unit."
            )
        for kind, name, known in (
            ("unit or operation", unit, (*UNITS, *GIVEN)),
            ("sharing of readers", readers, READERS),
            ("value of a reader", value, VALUES),
        ):
            if not isinstance(name, str) or name not in known:
                raise unknown(kind, name, known)
        if not (whole(hidden, 1) and whole(depth, 0)):
            raise NALMError(
                f"A reader cannot have {depth!r} layers of {hidden!r} units: "
                "give depth=0 or more and hidden=1 or more, as whole numbers."
            )
        self.unit, self.readers, self.value, self.hidden, self.depth = unit, readers, value, hidden, depth
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)
        if not self.learnt and in_features < OPERATIONS[unit].arity:
            raise NALMError(
                f"{unit!r} takes {OPERATIONS[unit].arity} operands, got in_features={in_features}: "
                f"give in_features={OPERATIONS[unit].arity}."
            )

    def units_inside(self, build: Build) -> dict[str, Unit]:
        return {"behind": build(UNITS[self.unit], self.in_features, self.out_features)} if self.learnt else {}

    @property
    def learnt(self) -> bool:
        """True if the operation is learnt by a unit, and not given."""
        return self.unit in UNITS

    def start(self) -> dict[str, Start]:
        count = 1 if self.readers == "shared" else self.in_features
        sizes = [DIGITS, *[self.hidden] * self.depth, DIGITS if self.value == "softargmax" else 1]
        found: dict[str, Start] = {}
        for k, (wide, out) in enumerate(pairwise(sizes)):
            last = k == self.depth
            r = F.glorot(wide, out) if last else (6 / wide) ** 0.5
            middle = (DIGITS + 1) / 2 if last and self.value == "free" else 0.0
            found[f"weight{k}"] = Uniform((count, out, wide), -r, r)
            found[f"bias{k}"] = Constant((count, out), middle)
        return found

    def read(self, code: Tensor, reader: int) -> Tensor:
        """Return the values (*runs, rows) that a reader gives to codes (*runs, rows, 9)."""
        out = code
        for k in range(self.depth + 1):
            weight, bias = (getattr(self, f"{name}{k}") for name in ("weight", "bias"))
            out = F.matrix(torch.relu(out) if k else out, weight[..., reader, :, :]) + bias[
                ..., reader, :
            ].unsqueeze(-2)
        if self.value == "softargmax":
            digits = torch.arange(1, DIGITS + 1, dtype=out.dtype, device=out.device)
            return (torch.softmax(out, -1) * digits).sum(-1)
        value = out.squeeze(-1)
        return 1 + (DIGITS - 1) * torch.sigmoid(value) if self.value == "bounded" else value

    def own(self) -> Weights:
        clean = torch.eye(DIGITS, dtype=self.weight0.dtype, device=self.weight0.device)
        clean = clean.expand(*self.runs, DIGITS, DIGITS)
        return {"value": torch.stack([self.read(clean, k) for k in range(self.weight0.shape[-3])], -2)}

    @torch.no_grad()
    def assign_(self, weights: Mapping[str, Tensor]) -> Self:
        """Set the weights of the unit; what a reader reads follows from its parameters alone."""
        check_names(self, weights)
        return super().assign_(weights)

    def compute(self, x: Tensor) -> Tensor:
        digit = x.round()
        known = ((x - digit).abs() < NEAR) & (digit >= 1) & (digit <= DIGITS)
        digit = torch.where(known, digit, 1.0)  # so that gradients are finite beside what is no digit
        places = torch.arange(1, DIGITS + 1, device=x.device)
        codes = [(column.unsqueeze(-1) == places).to(x.dtype) for column in digit.unbind(-1)]
        used = self.in_features if self.learnt else OPERATIONS[self.unit].arity
        return torch.where(known[..., :used].all(-1, keepdim=True), self._result(codes), math.nan)

    def _result(self, codes: list[Tensor]) -> Tensor:
        """Return the outputs for the codes of all inputs, each (*runs, rows, 9)."""
        if self.training:
            noise = self.noise.normal((*codes[0].shape, len(codes)), codes[0].dtype)
            codes = [c + SPREAD * n for c, n in zip(codes, noise.unbind(-1), strict=True)]
        shared = self.readers == "shared"
        operands = [self.read(c, 0 if shared else i) for i, c in enumerate(codes)]
        if self.learnt:
            y: Tensor = self.behind(torch.stack(operands, -2).mT)
            return y
        y = self._given(operands).unsqueeze(-1)
        return y.expand(*y.shape[:-1], self.out_features)

    def _given(self, operands: Sequence[Any]) -> Any:
        operation = OPERATIONS[self.unit]
        return operation.formula(*operands[: operation.arity])

    def sparsity_error(self) -> Tensor:
        """Return the sparsity error of the unit; a reader has no grid."""
        return super().sparsity_error() if self.learnt else self.weight0.new_zeros(self.runs)

    def lines(self, x: Symbols, w: Spelled) -> list[Line]:
        readers = [0 if self.readers == "shared" else i for i in range(len(x))]
        values = [np.array(row, dtype=float) for row in w["value"]]
        inputs = [str(symbol) for symbol in x]
        read = [code(values[k], symbol, names(inputs, k)) for k, symbol in zip(readers, x, strict=True)]
        lines = [Line(f"r{i}", "reader", e) for i, e in enumerate(read, start=1)]
        symbols = [sympy.Symbol(line.name) for line in lines]
        results = (
            self.inside()[0].expressions(symbols, self.of("behind", w))
            if self.learnt
            else [self._given(symbols)] * self.out_features
        )
        return [*lines, *(Line(f"y{i}", self.unit, e) for i, e in enumerate(results, start=1))]


def names(inputs: Sequence[str], reader: int = 0) -> Names:
    """Return names for what is left open in a code, which no input has; readers after the first one add a number.

    >>> names("ab"), names("ab", 1), names("abc")
    (('c', 'd', 'p', 'f'), ('c2', 'd2', 'p2', 'f2'), ('d', 'g', 'p', 'f'))
    """
    number = str(reader + 1) if reader else ""

    def free(letters: str, *words: str) -> list[str]:
        return [n + number for n in (*letters, *words) if n + number not in inputs]

    factor, summand = free("cdghjklmno", "factor", "summand")[:2]
    return factor, summand, free("pqstuvwxz", "power")[0], free("f", "function")[0]


def code(values: Sequence[float] | np.ndarray, digit: Any, called: Names = ("c", "d", "p", "f")) -> Any:
    """Return the simplest expression of a digit that explains what a reader gives to the digits 1 to 9.

    Numbers in it are left as letters, so that equal codes have equal texts.

    >>> a = sympy.Symbol("a")
    >>> k = np.arange(1.0, 10.0)
    >>> code(k, a), code(-k, a), code(3 * k, a), code(9 / k, a), code(2 * k - 7, a), code(k**2, a)
    (a, -a, a*c, c/a, a*c + d, a**p*c)
    >>> code(np.sin(k), a)
    f(a)
    """
    v, k = np.asarray(values, dtype=float), np.arange(1.0, DIGITS + 1)
    c, d, p = map(sympy.Symbol, called[:3])
    size = np.sqrt(np.mean(v**2)) or 1.0
    power = (
        np.exp(np.polyval(np.polyfit(np.log(k), np.log(np.abs(v)), 1), np.log(k))) * np.sign(v[0])
        if np.all(v * v[0] > 0)
        else np.full_like(v, np.inf)
    )
    candidates = (
        (digit, k),
        (-digit, -k),
        (c * digit, k * (k @ v) / (k @ k)),
        (c / digit, 1 / k * ((1 / k) @ v) / ((1 / k) @ (1 / k))),
        (c * digit + d, np.polyval(np.polyfit(k, v, 1), k)),
        (c * digit**p, power),
    )
    flat = np.ptp(v) < CLOSE * size  # the reader tells no digits apart
    for expression, fitted in () if flat else candidates:
        if np.max(np.abs(v - fitted)) < CLOSE * size:
            return expression
    return sympy.Function(called[3])(digit)
