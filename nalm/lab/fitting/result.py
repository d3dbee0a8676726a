"""The answer of ``fit_units``: the best network, its formulas, what held-out rows say, and how many starts agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

from nalm.discover.certificate import Certificate, certify
from nalm.discover.law.expression import Node
from nalm.discover.law.from_sympy import from_sympy
from nalm.discover.problem import SEARCH_ROWS, Problem, precision_of
from nalm.discover.redundancy import redundant_columns
from nalm.discover.selection.given import certify_given
from nalm.errors import NALMError
from nalm.lab.fitting.sources import Array, Split
from nalm.results.runs import Runs
from nalm.stats import Interval

WORSE, SEEN = (
    2.0,
    0.01,
)  # factor by which rounding makes an error larger, and the error over the spread, that are told


@dataclass(frozen=True)
class UnitFit:
    """The best of many trained networks.

    ``module`` has the weights of its units on their grid, ``trained`` is the same network as training left it.
    ``formulas`` are SymPy expressions, one for each output, and ``certificates`` what the held-out rows say about them;
    both are empty for a network that is no formula, such as one with a linear layer. ``inside`` has the formulas of its
    units then, by their names in ``module``, each in the unit's own inputs a, b, c, ... ``error`` is the error of
    ``module`` on held-out rows over the spread of y, ``trained_error`` that of ``trained``. ``agreement`` is the share
    of its starts that led to the same formula. ``notes`` are sentences about columns that others can stand for, and
    about an error that rounding made larger. ``runs`` has the curves of all starts, ``best`` is its row there.
    """

    module: nn.Module
    trained: nn.Module
    formulas: tuple[Any, ...]
    certificates: tuple[Certificate, ...]
    error: float
    trained_error: float
    agreement: Interval
    runs: Runs
    best: int
    inside: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def predict(self, x: Any) -> Array:
        """Return the outputs (rows, out) of the module for rows x."""
        return outputs(self.module, np.asarray(x, dtype=np.float64))

    def __repr__(self) -> str:
        case, agreed = self.runs.cases[self.best], self.agreement
        count, n = round(agreed.estimate * agreed.n), agreed.n
        lines = [
            f"y = {', '.join(map(str, self.formulas))}"
            if self.formulas
            else "no formula of the whole: not all layers are units",
            *(f"  unit {name!r} computes {', '.join(map(str, own))}" for name, own in self.inside.items()),
            *(f"  {certificate}" for certificate in self.certificates),
            *(f"  {note}" for note in self.notes),
            f"  held-out error over the spread of y: {self.error:.2g}, {self.trained_error:.2g} before rounding",
            f"  {count} of {n} starts agree: {agreed.estimate:.2f} [{agreed.low:.2f}, {agreed.high:.2f}]",
            f"  {case.name}, seed {self.runs.seeds[self.best]}, {int(self.runs.steps[self.best][-1]):,} steps; "
            f"{len(self.runs)} starts in {sum(self.runs.seconds):.1f} s on {self.runs.device}",
        ]
        return "\n".join(lines)


@torch.no_grad()
def outputs(module: nn.Module, x: Array) -> Array:
    """Return the outputs of a module for rows x, in float64."""
    first = next(module.parameters(), torch.empty(0))
    found: Array = module(torch.from_numpy(x).to(first)).double().cpu().numpy()
    return found


def held_out_error(module: nn.Module, rows: Split) -> float:
    """Return the rms error on held-out rows over the spread of y."""
    x, y = rows.held
    with np.errstate(all="ignore"):
        off = float(np.sqrt(np.mean((outputs(module, x) - y) ** 2)))
    return off / (float(np.std(y)) or 1.0)


def notes_on(rows: Split, names: Sequence[str], error: float, before: float) -> tuple[str, ...]:
    """Return sentences about a fit: columns that others can stand for, and an error that rounding made larger."""
    notes = redundant_columns(names, np.concatenate([rows.seen[0], rows.held[0]]))
    if error > max(WORSE * before, SEEN):
        times = error / max(before, 1e-300)
        notes.append(
            f"Rounding the weights made the error {times:.2g} times as large: they had not come near their grid. "
            "Train longer, try another unit, or scale columns of large numbers down."
        )
    return tuple(notes)


def certificates(
    formulas: Sequence[Any], names: Sequence[str], rows: Split, noise: float | None
) -> tuple[Certificate, ...]:
    """Test each formula on the held-out rows; none if one of them is no law."""
    try:
        nodes = [from_sympy(formula, names).expression for formula in formulas]
    except NALMError:
        return ()
    return tuple(_tested(node, names, rows, column, noise) for column, node in enumerate(nodes))


def _tested(node: Node, names: Sequence[str], rows: Split, column: int, noise: float | None) -> Certificate:
    (x, y), (held_x, held_y) = rows.seen, rows.held
    problem = Problem(
        x=x[:SEARCH_ROWS],
        y=y[:SEARCH_ROWS, column],
        held_x=held_x,
        held_y=held_y[:, column],
        roundoff=precision_of(np.concatenate([y[:, column], held_y[:, column]])),
        columns=[i for i in range(x.shape[1]) if np.ptp(x[:, i]) > 0],
        noise=noise,
    )
    with np.errstate(all="ignore"):
        exact = certify(node, problem, names)
        return exact if exact or noise == 0 else certify_given(node, problem, names)
