"""Operon as a rival: genetic programming in C++ with numbers fitted by Levenberg-Marquardt (pip install pyoperon)."""

import os
from collections.abc import Sequence

import numpy as np

from benchmarks.laws.rivals import Fitted, needed
from nalm.discover.law.expression import Array

SYMBOLS = "add,sub,mul,div,sqrt,square,constant,variable"


def operon(x: Array, y: Array, names: Sequence[str], seconds: float, seed: int) -> Fitted:
    """Evolve formulas for the whole time on all cores, with five steps of a fit for each of them."""
    package = needed("pyoperon.sklearn", "pip install pyoperon")
    model = package.SymbolicRegressor(
        allowed_symbols=SYMBOLS,
        optimizer_iterations=5,
        max_length=40,
        generations=10**6,
        max_evaluations=10**9,
        max_time=max(1, int(seconds)),
        n_threads=os.cpu_count() or 1,
        random_state=seed,
    ).fit(x, y)
    return Fitted(
        lambda rows: np.asarray(model.predict(rows), np.float64), model.get_model_string(model.model_, 8)
    )
