"""
Hubble 1929: velocities of nebulae
==================================

The table of 24 nebulae from which Hubble concluded that velocity grows with distance, with the scatter it
had then. Some of the nearest move towards us.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/hubble.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["distance"]], table["velocity"])
print("velocity =", found.formula_)
print(found.certificate_)

# %%

grid = np.linspace(0, table["distance"].max() * 1.2, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(grid, found.predict(pd.DataFrame({"distance": grid})), color="#01665e", label="law")
axes.plot(table["distance"], table["velocity"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="distance (Mpc)", ylabel="velocity (km/s)")
axes.legend(frameon=False)
