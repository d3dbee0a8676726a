"""From a CSV file to the law behind it.

``pendulum.csv`` was computed, not measured: 60 swings, period = 2*pi*sqrt(length/9.81) to the last digit, and a
column with the mass of the bob, which plays no part. The command line does the same and draws the fit:
``nalm fit examples/pendulum.csv --target period``.
"""

from pathlib import Path

import pandas as pd

from nalm import NALMRegressor

table = pd.read_csv(Path(__file__).parent / "pendulum.csv", comment="#")
found = NALMRegressor().fit(table[["length", "mass"]], table["period"])
print("period =", found.formula_)
print(found.certificate_)

longer = pd.DataFrame({"length": [1.0, 10.0], "mass": [0.3, 0.3]})
for length, period, word in zip(longer["length"], *found.predict(longer, return_support=True), strict=True):
    print(f"a pendulum of {length:g} m swings in {period:.4f} s ({word} the lengths seen)")
