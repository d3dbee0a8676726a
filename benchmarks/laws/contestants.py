"""Operon and gplearn with functions and one thread each, for contests in which every core has a fit of its own."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.laws.operon import MORE, operon
from benchmarks.laws.rivals import BASELINES, FUNCTIONS, Fitted, gplearn, needed
from nalm.discover.law.expression import Array

FOREVER = 10**6  # generations: the clock ends them
LARGEST = 100.0  # of an argument of exp

Contestant = Callable[[Array, Array, Sequence[str], float, int], Fitted]


def bounded_exp(x: Array) -> Array:
    """Return exp(x), with finite values for large arguments, as gplearn requires it."""
    return np.asarray(np.exp(np.minimum(x, LARGEST)))


def with_functions(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Fit with gplearn and exp, log, sin, cos, tan besides its own choice here, until the time is over."""
    make = needed("gplearn.functions", BASELINES).make_function
    exp = make(function=bounded_exp, name="exp", arity=1, wrap=False)
    functions = (*FUNCTIONS, "log", "sin", "cos", "tan", exp)
    return gplearn(x, y, names, seconds, seed, generations=FOREVER, functions=functions)


CONTESTANTS: dict[str, Contestant] = {
    "operon": partial(operon, symbols=MORE, objectives=("r2", "length"), threads=1),
    "gplearn": with_functions,
}
