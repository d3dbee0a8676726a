"""
Kepler: periods of the planets
==============================

Eight planets, their distance from the Sun and their period; Kepler's third law has the exponent 3/2. Eight
rows are few: the certificate says what can be shown with them.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/kepler.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["axis"]], table["period"])
print("period =", found.formula_)
print(found.certificate_)

# %%

grid = np.geomspace(table["axis"].min() / 1.5, table["axis"].max() * 1.5, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.loglog(grid, found.predict(pd.DataFrame({"axis": grid})), color="#01665e", label="law")
axes.loglog(table["axis"], table["period"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="semi-major axis (au)", ylabel="period (days)")
axes.legend(frameon=False)
