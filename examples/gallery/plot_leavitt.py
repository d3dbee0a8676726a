"""
Leavitt: periods of variable stars
==================================

Twenty-five stars of the Small Magellanic Cloud (Leavitt and Pickering 1912): the longer the period, the brighter the
star. The magnitude is a straight line in the logarithm of the period, up to a scatter of a quarter of a magnitude. A
curve fits slightly better; the rows do not clearly ask for one, so the line stands first.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/leavitt.csv", comment="#")
table["log_period"] = np.log10(table["period"])
found = nalm.NALMRegressor(max_time=10).fit(table[["log_period"]], table["magnitude"])
print("magnitude =", found.formula_)
print(found.certificate_)
print(found.certificate_.advice)

# %%
# The line with the interval of a further star:

grid = pd.DataFrame({"log_period": np.linspace(0, 2.3, 100)})
law, ends = found.predict(grid, return_interval=True)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.fill_between(grid["log_period"], ends[:, 0], ends[:, 1], color="#01665e", alpha=0.15, linewidth=0)
axes.plot(grid["log_period"], law, color="#01665e", label="law, and 95% of further stars")
axes.plot(table["log_period"], table["magnitude"], "o", color="#bf812d", markersize=5, label="measured")
axes.invert_yaxis()  # bright stars have small magnitudes
axes.set(xlabel="logarithm of the period (days)", ylabel="magnitude")
axes.legend(frameon=False)
