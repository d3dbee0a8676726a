r"""Composition by gradient descent alone: a NAU, power units and a NAU, many starts, snapped and certified.

.. math:: s = \sum_i u_i x_i, \qquad m_k = \prod_i x_i^{p_{ki}} s^{q_k}, \qquad f(y) = \sum_i w_i x_i + \sum_k c_k m_k

A NAU computes s, power units the products of inputs and s, and a second NAU the last sum. Gradient descent
changes u, p and q; the last sum is solved for them, so that their gradient is that of the projected loss (variable
projection). One population learns y with one product, one with two; two more learn 1/y. Nothing in the setting depends
on the target, and only the certificate, on rows that were never trained on, says whether a law was found.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalm import draws, losses
from nalm import functional as F
from nalm.discover.certificate import Certificate, certify
from nalm.discover.fit.least_squares import solvable
from nalm.discover.fit.snap import snapped
from nalm.discover.law import Law
from nalm.discover.law.expression import Array, Input, Node, Power, Sum, evaluate
from nalm.discover.law.names import check_names
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem
from nalm.discover.stages.additive import solve

ROWS = 128  # of the table, trained on at every step (or four for each input, if that is more)
STARTS, STEPS, RATE = 64, 600, 0.05
LOOKS = (100, 200, 400)  # steps at which the best members are snapped, besides the last
BEST = 8  # members that are
POPULATIONS = ((1, 1.0), (2, 1.0), (1, -1.0), (2, -1.0))  # products, and the power of y that is learnt
OUTLIERS = 0.9  # share of rows, the smallest in size, that are trained on


@dataclass(frozen=True)
class Composed:
    """The result of ``compose``: the law, its certificate, and the number of steps and seconds."""

    law: Law
    certificate: Certificate
    steps: int  # of descent, over all populations
    seconds: float


class Population:
    """Starts of one network, (starts, ...), as tensors that descent moves."""

    def __init__(self, x: Tensor, target: Tensor, products: int, seed: int, index: int):
        source = draws.Drawn(range(seed * STARTS, (seed + 1) * STARTS), index)
        inputs = x.shape[-1]
        self.x, self.target = x, target.expand(STARTS, -1, 1)
        self.u = source.normal((inputs,)).requires_grad_()
        self.p = (3 * source.uniform((products, inputs)) - 1.5).requires_grad_()
        self.q = (3 * source.uniform((products,)) - 1.5).requires_grad_()
        both = (x > 0).any(0) & (x < 0).any(0)  # inputs of either sign: who keeps it is drawn with the start
        self.odd = (source.uniform((products, inputs)) < 0.5) & both
        self.odd_sum = source.uniform((products,)) < 0.5
        self.logs, self.signs = x.abs().clamp_min(1e-12).log(), x.sign()
        self.negative = (x < 0).any()

    def products(self) -> Tensor:
        """Compute the outputs of the power units (starts, rows, products), each of size 1 on average."""
        s = self.u @ self.x.mT  # (starts, rows)
        size = s.abs() + 1e-6
        logs = self.p @ self.logs.mT + self.q.unsqueeze(-1) * size.log().unsqueeze(-2)
        m = (logs - logs.mean(-1, keepdim=True)).clamp(-20, 20).exp()
        if self.negative:
            flips = torch.where(self.odd.unsqueeze(-2), self.signs, 1.0).prod(-1)
            m = m * flips * torch.where(self.odd_sum.unsqueeze(-1), s.sign().unsqueeze(-2), 1.0)
        return m.mT

    def loss(self) -> Tensor:
        """Compute the projected loss of each start, with its last sum solved."""
        m = self.products()
        with torch.no_grad():  # at the solution the loss has no slope along it
            rest = F.residuals(torch.cat([m, self.target], -1), self.x)
            inner, outer = rest[..., :-1], rest[..., -1:]
            gram = inner.mT @ inner
            ridge = 1e-12 * gram.diagonal(dim1=-2, dim2=-1).mean(-1)[:, None, None] + 1e-30
            eye = torch.eye(gram.shape[-1], dtype=gram.dtype)
            c = torch.linalg.solve_ex(gram + ridge * eye, inner.mT @ outer).result
        return losses.projected(m @ c, self.target, self.x)

    def descend(self, steps: int) -> Iterator[tuple[int, Tensor]]:
        """Train with Adam and a cosine schedule; yield the step and the losses at the steps of ``LOOKS``."""
        optimiser = torch.optim.Adam([self.u, self.p, self.q], lr=RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, max(steps, 1))
        if steps == 0:
            yield 0, self.loss().detach().nan_to_num(1.0)
        for step in range(1, steps + 1):
            optimiser.zero_grad()
            each = self.loss()
            each.nan_to_num(0.0, 0.0, 0.0).sum().backward()
            for parameter in (self.u, self.p, self.q):
                assert parameter.grad is not None
                parameter.grad.nan_to_num_(0.0, 0.0, 0.0).clamp_(-1e3, 1e3)
            optimiser.step()
            schedule.step()
            if step in (*LOOKS, steps):
                yield step, each.detach().nan_to_num(1.0)

    @torch.no_grad()
    def member(self, k: int) -> tuple[Array, Array, Array]:
        """Return the weights of the sum, and the exponents of the inputs and of the sum."""
        u = self.u[k] / self.u[k].abs().max()
        return u.numpy().copy(), self.p[k].numpy().copy(), self.q[k].numpy().copy()


def compose(
    x: Any, y: Any, names: Sequence[str] | None = None, *, seed: int = 0, steps: int = STEPS
) -> Composed:
    """Train the populations on a table until one of their members, snapped, is certified.

    With ``steps=0`` the starts are snapped as they were drawn: what descent is to be compared with.

    >>> rows = np.random.default_rng(0).uniform(1, 2, (200, 3))
    >>> found = compose(rows, (rows[:, 0] + rows[:, 1]) * rows[:, 2])
    >>> print(found.law, found.certificate.verdict)
    c*(a + b) exact
    """
    began = time.monotonic()
    problem = Problem.from_table(x, y, seed=seed, noise=0.0)
    names = check_names(names, problem.inputs)
    tried: dict[Node, None] = {}
    before = 0
    with np.errstate(all="ignore"):
        for index, (products, power) in enumerate(POPULATIONS):
            target = problem.y**power
            if not np.isfinite(target).all():
                continue
            rows = _trained_on(target, max(ROWS, 4 * problem.inputs))
            data = torch.from_numpy(problem.x[rows]), torch.from_numpy(target[rows, None])
            population = Population(*data, products, seed, index)
            for step, each in population.descend(steps):
                for k in each.argsort()[:BEST].tolist():
                    for node in _laws(*population.member(k), power, problem):
                        if node not in tried:
                            tried[node] = None
                            if certificate := certify(node, problem, names):
                                seconds = time.monotonic() - began
                                return Composed(Law(node, names), certificate, before + step, seconds)
            before += steps
    node = min(tried, key=lambda n: _error(n, problem), default=Sum((), (), float(np.mean(problem.y))))
    return Composed(Law(node, names), certify(node, problem, names), before, time.monotonic() - began)


def _trained_on(target: Array, most: int) -> np.ndarray:
    """Return the indices of the first rows that are not outliers."""
    return np.flatnonzero(np.abs(target) <= np.quantile(np.abs(target), OUTLIERS))[:most]


def _error(node: Node, problem: Problem) -> float:
    return float(np.nan_to_num(np.mean(np.abs(problem.y - evaluate(node, problem.x))), nan=np.inf))


def _laws(u: Array, p: Array, q: Array, power: float, problem: Problem) -> Iterator[Node]:
    """Yield laws of a member: round its sum and exponents, solve the last sum again, and snap its numbers."""
    inputs = tuple(Input(i) for i in range(problem.inputs))
    line = Sum(inputs, tuple(np.round(u)))
    products = [
        Power((*inputs, line), (*np.round(row), float(np.round(last))))
        for row, last in zip(p, q, strict=True)
    ]
    kept = [m for m in map(tidied, products) if not isinstance(m, Power) or m.factors]
    for columns in ((*inputs, *kept), tuple(kept)):
        if not columns:
            continue
        table = np.column_stack([evaluate(node, problem.x) for node in columns])
        target = problem.y**power
        weight = 1 / np.sqrt(np.median(np.abs(target)) ** 2 + target**2)
        if not np.isfinite(table).all():
            continue
        w = solve(table * weight[:, None], weight * target)
        candidate: Node = Sum(columns, tuple(w))
        yield from solvable(snapped(candidate if power == 1 else Power((candidate,), (power,)), problem))
