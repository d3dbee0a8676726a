"""Train many starts of units on rows of one's own as one population, and return the best, rounded and tested."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy
import torch
from torch import Tensor, nn

from nalm.config import Case, Recipe
from nalm.discover.law.names import clean_names
from nalm.engine import NUMBERS, as_seeds, check, device_for, populations, product, trainer
from nalm.engine.model import Network, Tensors, exact, snapped
from nalm.engine.numbers import RowTrainer
from nalm.engine.spelling import formulas
from nalm.errors import NALMError
from nalm.lab.fitting.models import Model, models, recipes
from nalm.lab.fitting.result import UnitFit, certificates, held_out_error, notes_on
from nalm.lab.fitting.sources import split
from nalm.lab.fitting.training import Watch, trained
from nalm.networks.inside import formulas_in
from nalm.results.runs import Runs, joined
from nalm.stats import wilson
from nalm.units import Unit
from nalm.units.spelling import letters

STEPS = 5_000
NEAR = 1e-3  # error over the spread of y below which a start counts as solved in the curves
ALIKE = 2.0  # factor between the errors of networks without a formula that agree


def fit_units(
    x: Any,
    y: Any = None,
    model: Model | Sequence[Model] = "NMU",
    *,
    seeds: int | Sequence[int] = 20,
    steps: int = STEPS,
    recipe: Recipe | Sequence[Recipe] | None = None,
    test: Any = None,
    names: Sequence[str] | None = None,
    noise: float | None = None,
    patience: int | None = None,
    device: str = "auto",
    compiled: bool = True,
    watch: Watch | None = None,
    resume: str | Path | None = None,
) -> UnitFit:
    """Train many starts of a model on rows of your own at once, and return the best of them with its formula.

    ``x`` and ``y`` are arrays of rows; or ``x`` alone is a loader of batches (X, y), or a function
    ``(rows, generator) -> (X, y)`` that draws new rows from a NumPy generator. ``model`` is a unit's name, its class, a
    unit or an ``nn.Sequential`` of units, ``nn.Linear`` and activations, whose weights are drawn anew for each start;
    a list of these tries each. Without ``recipe`` the units' published penalties are used, over ``steps`` steps at a
    learning rate of 0.01. With it ``steps`` is not used; a list of recipes tries each. ``seeds=20`` means the seeds 0
    to 19. ``names`` are the columns' names in formulas, by default those of a table. ``device`` is auto, cpu or cuda;
    ``compiled=False`` needs no compiler and is slower.

    Of the rows 60 % are trained on, 20 % choose the best start by its error with rounded weights, and 20 % are held
    out: they give ``error`` and the certificate. ``noise`` is the standard deviation of the noise on y over that of y,
    as in ``nalm.search``. ``test=(X, y)`` are rows for the test curve, such as some far outside. Every start draws
    batches of its own at every step. With ``patience`` training stops once the penalties are full and the best error
    has not improved for so many evaluations, which come every 1,000 steps. ``watch`` is called after each with a line
    about the progress. ``resume`` is a folder that keeps the state of the training: if the call is interrupted, the
    same call goes on from there and returns what it would have returned, and a finished one returns at once.

    >>> rows = np.random.default_rng(0).uniform(-2, 2, (1_000, 3))
    >>> quick = Recipe(steps=40, lr=0.1, batch=32)
    >>> fit = fit_units(rows, rows[:, 0] * rows[:, 2], "NMU", seeds=5, recipe=quick, compiled=False)
    >>> fit.formulas, str(fit.certificates[0].verdict), fit.agreement.estimate
    ((a*c,), 'exact', 1.0)
    """
    rows = split(x, y, test)
    inputs, outs = (tensor.shape[1] for tensor in rows.own.train)
    where = device_for(device)
    symbols = _names(x, names, inputs)
    if len(symbols) != inputs:
        raise NALMError(
            f"X has {inputs} columns, but {len(symbols)} names were given: name each column once."
        )
    spread = float(np.var(rows.seen[1])) or 1.0
    task = rows.own.task("rows", NEAR**2 * spread)
    cases = [
        Case(layers, task, one)
        for layers in models(model, inputs, outs)
        for one in recipes(recipe, layers, inputs, steps)
    ]
    parts, indices, found = [], list[int](), list[_Start]()
    with rows.own.held():
        check(cases)
        for runs in populations(product(cases, as_seeds(seeds)), NUMBERS[where.type == "cuda"]):
            training = trainer(runs, where, compiled=compiled)
            assert isinstance(training, RowTrainer)
            trained(training, patience, watch, None if resume is None else Path(resume))
            parts.append(([run.index for run in runs], training.results()))
            indices += [run.index for run in runs]
            found += _starts(training)
    if not found:
        raise NALMError(f"A fit needs at least one seed, got seeds={seeds!r}.")
    every = joined(parts)
    starts = [found[i] for i in np.argsort(indices)]
    best = int(np.argmin([start.error for start in starts]))
    module, before = (starts[best].module(p) for p in (starts[best].snapped, starts[best].trained))
    spelt = _formulas(starts[best].network(starts[best].snapped), symbols, task.positive)
    error, trained_error = (held_out_error(network, rows) for network in (module, before))
    return UnitFit(
        module=module,
        trained=before,
        formulas=spelt,
        certificates=certificates(spelt, symbols, rows, noise) if spelt else (),
        error=error,
        trained_error=trained_error,
        agreement=wilson(*_agreement(every, starts, best)),
        runs=every,
        best=best,
        inside={} if spelt else formulas_in(module),
        notes=notes_on(rows, symbols, error, trained_error),
    )


class _Start:
    """One trained network: its parameters, the same rounded, and the mean squared error of these on validation rows."""

    def __init__(self, case: Case, trained: Tensors, rounded: Tensors, error: Tensor):
        self.case, self.trained, self.snapped = case, trained, rounded
        self.error = float(error) if bool(error.isfinite()) else float("inf")

    @torch.no_grad()
    def network(self, params: Tensors) -> Network:
        """Return the network with these parameters."""
        network = Network(self.case.model, self.case.inputs).eval()
        for name, p in params.items():
            network.get_parameter(name).copy_(p)
        return exact(network) if params is self.snapped else network

    def module(self, params: Tensors) -> nn.Module:
        """Return its layers as a module of torch."""
        layers = list(self.network(params).layers)
        return layers[0] if len(layers) == 1 else nn.Sequential(*layers).eval()


def _starts(training: RowTrainer) -> list[_Start]:
    """Return the networks of a trained population."""
    program = training.program
    trained = {name: p.detach().cpu().clone() for name, p in program.params.items()}
    rounded = snapped(program.network, trained)
    errors, _ = program.evaluate({name: p.to(program.device) for name, p in rounded.items()})
    return [
        _Start(case, {n: p[i] for n, p in trained.items()}, {n: p[i] for n, p in rounded.items()}, errors[i])
        for i, case in enumerate(program.cases)
    ]


def _names(x: object, names: Sequence[str] | None, inputs: int) -> list[str]:
    """Return the names of the columns in formulas: those given, those of a table, or letters."""
    if names is not None:
        return list(names)
    own = getattr(x, "columns", None)
    return [str(s) for s in letters(inputs)] if own is None else list(clean_names(list(map(str, own))))


def _formulas(network: Network, names: Sequence[str], positive: bool) -> tuple[Any, ...]:
    """Return the formulas of a network of units in these names; none if a layer is no unit."""
    if not all(isinstance(layer, Unit) for layer in network.layers):
        return ()
    symbols = letters(len(names), positive=True if positive else None)
    named = {symbol: sympy.Symbol(name) for symbol, name in zip(symbols, names, strict=True)}
    return tuple(formula.xreplace(named) for formula in formulas(network, symbols))


def _agreement(runs: Runs, starts: Sequence[_Start], best: int) -> tuple[int, int]:
    """Return how many starts of the best model and recipe led to the same formula, and how many there are.

    Without a formula those count whose root mean squared error on validation rows is within a factor of two.
    """
    same = [i for i, case in enumerate(runs.cases) if case == runs.cases[best]]
    if runs.formulas[best]:
        return sum(runs.formulas[i] == runs.formulas[best] for i in same), len(same)
    return sum(starts[i].error <= ALIKE**2 * starts[best].error for i in same), len(same)
