"""The rivals of the contest: the ladder, symbolic regression, least squares, boosted trees and a network.

A rival is a function that fits a table and returns how to predict further rows. It gets the rows to fit and
nothing else; no rival is told the noise.
"""

import copy
import importlib
import importlib.util
import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nalm.discover import search
from nalm.discover.law.expression import Array
from nalm.errors import NALMError

HELD = 4  # every fourth row is held out where a rival chooses between models


@dataclass(frozen=True)
class Fitted:
    """The fit of a rival."""

    predict: Callable[[Array], Array]
    formula: str = ""
    verdict: str | None = None  # None: the rival certifies nothing


Fit = Callable[[Array, Array, Sequence[str], float, int], Fitted]  # x, y, names, seconds, seed


@dataclass(frozen=True)
class Rival:
    """A fitting method and the packages it needs."""

    name: str
    fit: Fit
    about: str
    needs: tuple[str, ...] = ()
    install: str = ""
    guess: float = 1.0  # usual seconds of a fit
    takes: str = "all"  # which problems it fits: all, some or few
    certifies: bool = False

    def missing(self) -> str:
        """Return why the rival cannot run here; empty if it can."""
        for name in self.needs:
            if importlib.util.find_spec(name) is None:
                return f"{self.name} needs {name}, which is not installed: {self.install}."
        return ""


def needed(module: str, install: str) -> Any:
    """Import a module of an optional package, or raise an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NALMError(f"This rival needs {error.name or module}: {install}.") from None


def nalm(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Search with the ladder, without knowledge of the noise."""
    found = search(x, y, names, noise=None, seed=seed, max_time=seconds)
    return Fitted(found.law.predict, str(found.law), found.certificate.verdict)


SKLEARN, BASELINES = "pip install 'nalm[sklearn]'", "pip install 'nalm[baselines]'"
FUNCTIONS = ("add", "sub", "mul", "div", "sqrt")


def gplearn(
    x: Array,
    y: Array,
    names: Sequence[str],
    seconds: float,
    seed: int,
    population: int = 2000,
    generations: int = 20,
    functions: Sequence[Any] = FUNCTIONS,
) -> Fitted:
    """Fit by genetic programming without constants, then with constants unless exact; return the better program."""
    genetic = needed("gplearn.genetic", BASELINES)
    began, exact = time.monotonic(), 1e-10 * float(np.sqrt(np.mean(y**2)))
    best: Any = None
    for share, constants in ((0.45, None), (0.9, (-10.0, 10.0))):
        model = genetic.SymbolicRegressor(
            population_size=population,
            function_set=functions,
            const_range=constants,
            parsimony_coefficient=0.001 * float(np.std(y)),
            metric="rmse",
            stopping_criteria=exact,
            feature_names=list(names),
            random_state=seed,
            warm_start=True,
        )
        for generation in range(1, generations + 1):  # one at a time, to watch the time limit
            model.set_params(generations=generation)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                model.fit(x, y)
            if best is None or model._program.raw_fitness_ < best._program.raw_fitness_:
                best = copy.copy(model)  # a snapshot; training continues
            if best._program.raw_fitness_ <= exact:
                return Fitted(_quiet(best.predict), str(best._program))
            if time.monotonic() - began > share * seconds:
                break
    return Fitted(_quiet(best.predict), str(best._program))


def pysr(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Fit with PySR and the same operations until the time limit, or until the fit is exact."""
    package = needed("pysr", "see astroautomata.com/PySR, it brings Julia")
    model = package.PySRRegressor(
        binary_operators=["+", "-", "*", "/"],
        unary_operators=["sqrt"],
        maxsize=30,
        niterations=10_000,
        timeout_in_seconds=max(1, int(0.9 * seconds)),
        early_stop_condition=f"f(loss, complexity) = loss < {1e-22 * float(np.mean(y**2))!r}",
        precision=64,
        deterministic=True,
        parallelism="serial",
        random_state=seed,
        progress=False,
        verbosity=0,
        temp_equation_file=True,
    )
    model.fit(x, y, variable_names=[f"v{i}" for i in range(len(names))])
    return Fitted(_quiet(model.predict), str(model.sympy()))


def _quiet(predict: Callable[[Any], Any]) -> Callable[[Array], Array]:
    def silent(x: Array) -> Array:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(predict(x), dtype=np.float64)

    return silent


def polynomial(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Fit all monomials up to degree 1, 2 or 3 by least squares; held-out rows choose the degree."""
    scale = np.abs(x).max(0)
    scale[scale == 0] = 1.0
    held = np.arange(len(x)) % HELD == 0
    best, chosen = np.inf, 1
    for degree in (1, 2, 3):
        found = monomials(x.shape[1], degree)
        if len(found) > 0.9 * (~held).sum():
            break
        table = products(x / scale, found)
        weights = np.linalg.lstsq(table[~held], y[~held], rcond=None)[0]
        off = float(np.mean((table[held] @ weights - y[held]) ** 2))
        if off < 0.999 * best:
            best, chosen = off, degree
    found = monomials(x.shape[1], chosen)
    weights = np.linalg.lstsq(products(x / scale, found), y, rcond=None)[0]
    formula = f"a polynomial of degree {chosen} with {len(found)} terms"
    return Fitted(lambda rows: products(rows / scale, found) @ weights, formula)


def monomials(inputs: int, degree: int) -> list[tuple[int, ...]]:
    """List the inputs that each monomial multiplies, from the constant upwards.

    >>> monomials(2, 2)
    [(), (0,), (1,), (0, 0), (0, 1), (1, 1)]
    """
    places = range(inputs)
    return [c for d in range(degree + 1) for c in itertools.combinations_with_replacement(places, d)]


def products(x: Array, found: Sequence[tuple[int, ...]]) -> Array:
    """Evaluate the monomials on every row."""
    return np.stack([x[:, list(c)].prod(1) for c in found], 1)


def log_linear(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Fit a product of powers by least squares between logarithms of magnitudes, with the commonest sign."""
    fine = (x != 0).all(1) & (y != 0)
    sign = 1.0 if np.sum(y > 0) >= np.sum(y < 0) else -1.0
    if not fine.any():
        return Fitted(lambda rows: np.full(len(rows), float(np.mean(y))), f"{np.mean(y):.6g}")
    table = np.column_stack([np.log(np.abs(x[fine])), np.ones(fine.sum())])
    weights = np.linalg.lstsq(table, np.log(np.abs(y[fine])), rcond=None)[0]

    def predict(rows: Array) -> Array:
        with np.errstate(all="ignore"):
            return sign * np.exp(np.log(np.abs(rows)) @ weights[:-1] + weights[-1])

    powers = [f"{n}**{p:.6g}" for n, p in zip(names, weights[:-1], strict=True)]
    return Fitted(predict, "*".join([f"{sign * np.exp(weights[-1]):.6g}", *powers[:12]]))


def boosting(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Fit gradient-boosted trees."""
    ensemble = needed("sklearn.ensemble", SKLEARN)
    model = ensemble.HistGradientBoostingRegressor(max_iter=300, random_state=seed).fit(x, y)
    return Fitted(_quiet(model.predict), f"{model.n_iter_} boosted trees")


def mlp(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Fit a network of two hidden layers on scaled inputs and targets."""
    network, scaling, pipe = (
        needed(f"sklearn.{part}", SKLEARN) for part in ("neural_network", "preprocessing", "pipeline")
    )
    compose = needed("sklearn.compose", SKLEARN)
    model = network.MLPRegressor(
        hidden_layer_sizes=(64, 64), max_iter=500, learning_rate_init=3e-3, random_state=seed
    )
    scaled = pipe.make_pipeline(scaling.StandardScaler(), model)
    whole = compose.TransformedTargetRegressor(scaled, transformer=scaling.StandardScaler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of training that did not converge
        whole.fit(x, y)
    return Fitted(_quiet(whole.predict), "a network of 64 and 64 hidden units")


RIVALS = {
    rival.name: rival
    for rival in (
        Rival("nalm", nalm, "the ladder, not told the noise", certifies=True),
        Rival(
            "gplearn",
            gplearn,
            "genetic programming: 2000 programs, 20 generations without constants, then 20 with them",
            ("gplearn",),
            BASELINES,
            guess=30.0,
            takes="few",
        ),
        Rival(
            "pysr",
            pysr,
            "PySR, the same operations",
            ("pysr",),
            "see astroautomata.com/PySR",
            60.0,
            takes="few",
        ),
        Rival(
            "polynomial", polynomial, "least squares of degree 1, 2 or 3, chosen on held-out rows", guess=0.1
        ),
        Rival("log-linear", log_linear, "least squares between logarithms", guess=0.001),
        Rival("boosting", boosting, "300 gradient-boosted trees", ("sklearn",), SKLEARN, takes="some"),
        Rival("mlp", mlp, "a network of 64 and 64 hidden units", ("sklearn",), SKLEARN, takes="some"),
    )
}
