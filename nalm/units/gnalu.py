r"""The golden-ratio NALU (Rana et al. 2019)."""

import math

from nalm.units.nalu import NALU

LN_PHI = math.log((1 + math.sqrt(5)) / 2)


class GNALU(NALU):
    r"""The NALU on the base of the golden ratio.

    .. math:: \sigma_\varphi(x) = \frac{1}{1 + \varphi^{-x}}, \qquad
        \tanh_\varphi(x) = \frac{\varphi^{2x} - 1}{\varphi^{2x} + 1}

    in place of sigmoid and tanh in weight and gate. Since :math:`\sigma_\varphi(x) = \sigma(x \ln \varphi)`
    it is computed as a NALU whose raw parameters are multiplied by ln φ, which cannot overflow; the
    changed base of the product path has no effect at all. Departs from the paper: nothing.

    >>> import sympy
    >>> GNALU.solved("add").formulas(sympy.symbols("a b", positive=True))
    [a + b]
    """

    slope = LN_PHI
