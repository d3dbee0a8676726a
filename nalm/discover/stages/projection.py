"""Projection: the residual of a linear model, which shows the structure of y, and initial values from it."""

import numpy as np

from nalm.discover.law.expression import Array


class Projector:
    r"""The map :math:`v \mapsto (I - Q Q^T) v`, Q an orthonormal basis of the columns 1, x_1, x_2, ...

    Its loss is blind to constants and linear trends, which on narrow ranges are almost all of y and tell
    nothing about a product (the key idea of stages M and V).
    """

    def __init__(self, x: Array):
        centred = x - x.mean(0)
        scale = np.sqrt((centred**2).mean(0))
        self.z = centred / np.where(scale > 0, scale, 1.0)  # standardised columns
        self.scale = scale
        basis, triangle = np.linalg.qr(np.column_stack([np.ones(len(x)), self.z]))
        self.basis = basis[:, np.abs(np.diag(triangle)) > 1e-10 * np.sqrt(len(x))]

    def __call__(self, values: Array) -> Array:
        return values - self.basis @ (self.basis.T @ values)

    def curvature(self, rest: Array) -> Array:
        r"""Return the second moments :math:`\sum_k r_k z_{ki} z_{kj} / n` of the residual, close to its Hessian.

        For independent columns, of a product of sums (u.x)(v.x) it is the symmetric part of u v^T; of a
        product of powers it is close to p p^T. The diagonal is weighted by the columns' own kurtosis.
        """
        n = len(rest)
        moments = (self.z * rest[:, None]).T @ self.z / n
        fourth = np.maximum((self.z**4).mean(0) - 1 - (self.z**3).mean(0) ** 2, 0.1)
        moments[np.diag_indices_from(moments)] *= 1 / fourth
        return moments
