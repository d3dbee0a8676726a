"""One sum over another: the null vector of u.x - y (v.x) = 0."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.linalg import qr, solve_triangular

from nalm.discover.law.expression import Array, Input, Node, Power, Sum
from nalm.discover.problem import Problem


def null_vector(columns: Array) -> Array:
    """Return the combination of columns nearest to zero, by inverse iteration on their triangular factor."""
    size = np.sqrt((columns**2).sum(0))
    size = np.where(size > 0, size, 1.0)
    triangle = qr(columns / size, mode="r", check_finite=False)[0][: columns.shape[1]]
    n = len(triangle)
    floor = 1e-15 * np.abs(np.diag(triangle)).max()
    triangle[range(n), range(n)] += np.where(np.abs(np.diag(triangle)) < floor, floor, 0.0)
    z = np.random.default_rng(0).standard_normal(n)
    for _ in range(3):
        z = solve_triangular(
            triangle, solve_triangular(triangle, z, trans="T", check_finite=False), check_finite=False
        )
        z = z / np.linalg.norm(z)
    return z / size


def ratio(problem: Problem) -> Iterator[Node]:
    """Propose y = (u.x + a) / (v.x + b), without and with the two biases; under noise also with one of them."""
    inputs = [Input(i) for i in problem.columns]
    x = problem.x[:, problem.columns]
    for bias in (False, True):
        problem.check()
        yield from quotient(inputs, x, problem, bias)
    if problem.noise != 0:
        for zero in ("top", "bottom"):  # 3*a/(a + 2)
            yield from quotient(inputs, x, problem, True, zero)


def quotient(
    terms: Sequence[Node], values: Array, problem: Problem, bias: bool, zero: str = ""
) -> Iterator[Node]:
    """Propose the best quotient of two sums of the same terms, scaled so that its typical weight is 1.

    ``zero`` names the sum, "top" or "bottom", that has no bias though the other has one.
    """
    y = problem.y
    if bias:
        values = np.column_stack([values, np.ones(len(y))])
    n = values.shape[1]
    if not n or len(y) < 2 * n + 2:
        return
    both = np.column_stack([values, -y[:, None] * values]) * problem.relative[:, None]
    kept = np.arange(2 * n) != {"top": n - 1, "bottom": 2 * n - 1}.get(zero, -1)
    z = np.zeros(2 * n)
    z[kept] = null_vector(both[:, kept])
    top, bottom = z[:n], z[n:]
    if not np.abs(top).max() > 0 or not np.abs(bottom).max() > 0 or not np.isfinite(z).all():
        return
    scale = typical(z)
    parts = []
    for w in (top / scale, bottom / scale):
        parts.append(Sum(tuple(terms), tuple(w[: len(terms)]), float(w[-1]) if bias else 0.0))
    yield Power(tuple(parts), (1.0, -1.0))


def typical(weights: Array) -> float:
    """Return the median size of the large entries: the scale of a weight of 1."""
    sizes = np.abs(weights)
    return float(np.median(sizes[sizes > sizes.max() / 2]))
