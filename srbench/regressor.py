"""nalm for SRBench (cavalab/srbench): the estimator, the text of its model, and the settings of the evaluation.

Copy this folder to ``algorithms/nalm`` of a checkout. Scaling stays off: an exact law of scaled columns is no
longer the law of the columns. ``python srbench/regressor.py`` checks the kit by itself.
"""

import re

import numpy as np
import pandas as pd
import sympy

from nalm import NALMRegressor

est = NALMRegressor(noise=None, max_time=60 * 60, random_state=0)

# SRBench replaces these words in the text of a model, so no variable may contain them
RESERVED = re.compile(r"pi|log|sqrt|exp|sin|cos|tan|abs", re.IGNORECASE)

hyper_params: list[dict[str, tuple[object, ...]]] = [{}]

eval_kwargs = {"scale_x": False, "scale_y": False, "test_params": {"max_time": 60}}


def model(est: NALMRegressor, X: "pd.DataFrame | None" = None) -> str:  # noqa: N803
    """Return the law as text that SymPy reads, with the names of the columns of X."""
    law = est.sympy()
    columns = list(est.names_ if X is None else X.columns)
    symbols = {
        sympy.Symbol(name): sympy.Symbol(str(column))
        for name, column in zip(est.names_, columns, strict=True)
    }
    return str(sympy.N(law.xreplace(symbols), 17))


def complexity(est: NALMRegressor) -> int:
    """Count the nodes of SymPy's tree of the law, as SRBench does."""
    return sum(1 for _ in sympy.preorder_traversal(est.sympy()))


def check() -> None:
    """Fit a law as SRBench does, and read the text of the model back."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 5, (300, 3)), columns=["m1", "m2", "r"])
    y = 6.674 * table.m1 * table.m2 / table.r**2
    est.random_state = 7  # SRBench assigns it
    est.max_time = 20
    est.fit(table, y)
    text = model(est, table)
    reserved = [c for c in table.columns if RESERVED.search(c)]
    assert not reserved, f"SRBench replaces parts of {reserved}"
    read = sympy.parse_expr(text, local_dict={c: sympy.Symbol(c) for c in table.columns})
    true = 6.674 * sympy.Symbol("m1") * sympy.Symbol("m2") / sympy.Symbol("r") ** 2
    assert sympy.simplify(read - true) == 0, text
    assert np.allclose(sympy.lambdify(list(table.columns), read)(*table.to_numpy().T), est.predict(table))
    print(f"{text}: {est.certificate_.verdict}, {complexity(est)} nodes; eval_kwargs {eval_kwargs}")


if __name__ == "__main__":
    check()
