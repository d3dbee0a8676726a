"""Operon as a rival: genetic programming in C++ with numbers fitted by Levenberg-Marquardt (pip install pyoperon)."""

from collections.abc import Sequence

import numpy as np

from benchmarks.laws.rivals import Fitted, needed
from nalm.discover.law.expression import Array
from nalm.operating_system import cores

SYMBOLS = "add,sub,mul,div,sqrt,square,constant,variable"
MORE = f"{SYMBOLS},exp,log,sin,cos,tanh,asin,acos"


def operon(
    x: Array,
    y: Array,
    names: Sequence[str],
    seconds: float,
    seed: int,
    symbols: str = SYMBOLS,
    objectives: Sequence[str] = ("r2",),
    threads: int = 0,
) -> Fitted:
    """Evolve formulas for the whole time and fit each in five steps; 0 threads stands for one per core.

    With the objectives r2 and length, Operon chooses from the front of the two by its description length.
    """
    package = needed("pyoperon.sklearn", "pip install pyoperon")
    model = package.SymbolicRegressor(
        allowed_symbols=symbols,
        objectives=list(objectives),
        optimizer_iterations=5,
        max_length=40,
        generations=10**6,
        max_evaluations=10**9,
        max_time=max(1, int(seconds)),
        n_threads=threads or cores(),
        random_state=seed,
    ).fit(x, y)
    return Fitted(
        lambda rows: np.asarray(model.predict(rows), np.float64), model.get_model_string(model.model_, 17)
    )
