"""Neural Power Units (Heim, Pevný & Šmídl 2020, arXiv:2006.01681)."""

from torch import Tensor

from nalm import functional as F
from nalm.units.power import EXPONENTS, ROWS, ComplexPower, GatedPower


class RealNPU(GatedPower):
    r"""Raises the inputs it selects to real powers and multiplies them.

    .. math:: y_o = \exp\Bigl(\sum_i W_{oi} \ln r_i\Bigr) \cos\Bigl(\sum_i W_{oi} k_i\Bigr), \quad
        r_i = \hat g_i (|x_i| + \epsilon) + 1 - \hat g_i, \quad k_i = \pi \hat g_i [x_i < 0]

    A weight is an exponent: 1 multiplies, -1 divides, 1/2 takes the root, 2 squares; a closed gate
    leaves an input out whatever its weight. Integer powers of negative numbers have the right sign;
    of other powers it is the real part. Departs from the paper: nothing.

    >>> RealNPU.solved("divide").formulas()
    [a/b]
    """

    grids = {"weight": EXPONENTS, "gate": (0.0, 1.0)}
    gold = {n: {"weight": row, "gate": (1.0,) * len(row)} for n, row in ROWS.items()}

    def compute(self, x: Tensor) -> Tensor:
        gates = self.columns()
        return self.powers(x, self.weight, *gates) * F.linear(x, self.weight, *gates, of=self.angle).cos()


class NaiveNPU(ComplexPower):
    r"""Raises inputs to complex powers and keeps the real part, without gates.

    .. math:: y_o = \exp\Bigl(\sum_i W_{oi} \ln r_i - W'_{oi} k_i\Bigr)
        \cos\Bigl(\sum_i W_{oi} k_i + W'_{oi} \ln r_i\Bigr), \quad r_i = |x_i| + \epsilon, \quad k_i = \pi [x_i < 0]

    W is the real part of an exponent (1 multiplies, -1 divides, 0 leaves out), W' the imaginary part,
    zero when solved. An input near zero silences all gradients of its row. Departs from the paper: nothing.

    >>> NaiveNPU.solved("square").formulas()
    [a**2]
    """

    grids = {"weight": EXPONENTS, "imaginary": (0.0,)}
    gold = {n: {"weight": row, "imaginary": 0.0} for n, row in ROWS.items()}


class NPU(ComplexPower, GatedPower):
    r"""Raises the inputs it selects to complex powers and keeps the real part.

    The NaiveNPU with the gates of the RealNPU: :math:`r_i = \hat g_i (|x_i| + \epsilon) + 1 - \hat g_i`,
    :math:`k_i = \pi \hat g_i [x_i < 0]`. The gate is clamped in the forward pass and has no gradient
    beyond [0, 1], as in the code behind the published numbers (a later library passes it straight through).

    >>> NPU.solved("sqrt").formulas()
    [re(sqrt(a))]
    """

    grids = {"weight": EXPONENTS, "imaginary": (0.0,), "gate": (0.0, 1.0)}
    gold = {n: {**RealNPU.gold[n], "imaginary": 0.0} for n in ROWS}
