"""A unit behind a small network that reads its operands: which code of the digits does the reader learn?"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import sympy
import torch
from torch import Generator, Tensor

from nalm import functional as F
from nalm.errors import NALMError, unknown
from nalm.networks.composite import Build, Composite
from nalm.networks.lines import Line, LineNetwork
from nalm.operations import OPERATIONS
from nalm.units import UNITS, Unit
from nalm.units.base import Spelled, Symbols, Weights
from nalm.units.start import Constant, Start, Uniform

DIGITS = 9  # the digits 1 to 9
SPREAD = 0.05  # standard deviation of the noise on the entries of a code in training
CLOSE = 0.03  # largest error of a fitted code, relative to the root mean square of the values
READERS = ("shared", "separate")
VALUES = ("free", "softargmax", "bounded")


class CodedUnit(Composite, LineNetwork):
    r"""A unit whose operands are digits that a small network reads from codes, both trained by the unit's result.

    An input is a digit from 1 to 9. The reader sees it as 9 numbers, 1 at the digit's place and 0 elsewhere, with
    normal noise in training, and has ``depth`` layers of ``hidden`` rectified units. Its value is *free* (one linear
    output, which starts about the middle digit), *softargmax*, the mean digit under a softmax as the readers of images
    have it, or *bounded*, 1 + 8 times a sigmoid. All inputs have one *shared* reader, or *separate* ones. ``unit`` is
    the name of a unit, or of an operation that is given and not learnt.

    Only the result is trained, so a reader may learn another code than the digits, which the unit undoes. The
    effective weight ``value`` has what it reads in each digit. The formula names the code: ``a`` are the digits
    themselves, ``a*c`` and ``c/a`` have a factor, ``a*c + d`` is linear, ``a**p*c`` a power, ``f(a)`` anything else.

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
        for kind, name, known in (
            ("unit or operation", unit, {**UNITS, **OPERATIONS}),
            ("sharing of readers", readers, READERS),
            ("value of a reader", value, VALUES),
        ):
            if name not in known:
                raise unknown(kind, name, known)
        if hidden < 1 or depth < 0:
            raise NALMError(
                f"A reader cannot have {depth} layers of {hidden} units: give depth=0 or more and hidden=1 or more."
            )
        self.unit, self.readers, self.value, self.hidden, self.depth = unit, readers, value, hidden, depth
        super().__init__(in_features, out_features, generator=generator, device=device, dtype=dtype)

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

    def compute(self, x: Tensor) -> Tensor:
        places = torch.arange(1, DIGITS + 1, device=x.device)
        codes = [(column.round().unsqueeze(-1) == places).to(x.dtype) for column in x.unbind(-1)]
        if self.training:
            noise = self.noise.normal((*codes[0].shape, len(codes)), x.dtype)
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
        shared = self.readers == "shared"
        values = [np.array(row, dtype=float) for row in w["value"]]
        read = [code(values[0 if shared else i], symbol) for i, symbol in enumerate(x)]
        lines = [Line(f"r{i}", "reader", e) for i, e in enumerate(read, start=1)]
        symbols = [sympy.Symbol(line.name) for line in lines]
        results = (
            self.inside()[0].expressions(symbols, self.of("behind", w))
            if self.learnt
            else [self._given(symbols)] * self.out_features
        )
        return [*lines, *(Line(f"y{i}", self.unit, e) for i, e in enumerate(results, start=1))]


def code(values: Sequence[float] | np.ndarray, digit: Any) -> Any:
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
    c, d, p = sympy.symbols("c d p")
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
    return sympy.Function("f")(digit)
