"""
Stefan and Boltzmann: energy of a lamp
======================================

Energy radiated by a carbon filament at six temperatures (NIST DanWood). A black body follows the fourth
power; NIST certifies the exponent 3.86 for this filament and a pure power.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/lamp.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["temperature"]], table["energy"])
print("energy =", found.formula_)
print(found.certificate_)

# %%

grid = np.geomspace(table["temperature"].min() / 1.5, table["temperature"].max() * 1.5, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.loglog(grid, found.predict(pd.DataFrame({"temperature": grid})), color="#01665e", label="law")
axes.loglog(table["temperature"], table["energy"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="temperature (1000 K)", ylabel="energy per area and time")
axes.legend(frameon=False)
