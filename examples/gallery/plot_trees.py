"""
Volume of trees
===============

Timber of 31 black cherry trees from diameter and height (Ryan 1976). A cone would give a volume that grows
with the square of the diameter times the height.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/trees.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["diameter", "height"]], table["volume"])
print("volume =", found.formula_)
print(found.certificate_)

# %%
# With units of measurement only laws of the right dimension are searched:

names = ["diameter", "height"]
metric = table[names].to_numpy() * [0.0254, 0.3048]
answer = nalm.search(
    metric, table["volume"].to_numpy() * 0.3048**3, names, x_units=["m", "m"], y_unit="m^3", max_time=10
)
print("volume =", answer.law)

# %%

figure, axes = plt.subplots(figsize=(4.6, 4), layout="constrained")
predicted = found.predict(table[["diameter", "height"]])
limits = np.array([0, table["volume"].max() * 1.1])
axes.plot(limits, limits, color="0.7")
axes.plot(predicted, table["volume"], "o", color="#01665e", markersize=5)
axes.set(xlabel="volume by the law (ft³)", ylabel="measured volume (ft³)")
