"""
Hare and lynx: a trajectory becomes equations
=============================================

Pelts of hares and lynxes, 1900 to 1920 (Odum 1953). The textbook says Lotka and Volterra: hares grow and
are eaten, lynxes starve and eat. ``nalm.ode`` searches sums of products of powers, and says what it cannot
show.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/lynx.csv", comment="#")
t = table["year"].to_numpy(float) - 1900
found = nalm.ode.fit(t, table[["hare", "lynx"]].to_numpy(), ["hare", "lynx"], restarts=1, max_time=8)
print(found)
print(found.verdict, *found.flags, sep="\n")

# %%

times = np.linspace(0, 20, 200)
path = found.simulate(times, table[["hare", "lynx"]].to_numpy()[0])
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for column, (name, colour) in enumerate((("hare", "#bf812d"), ("lynx", "#01665e"))):
    axes.plot(1900 + times, path[:, column], color=colour, label=name)
    axes.plot(table["year"], table[name], "o", color=colour, markersize=4)
axes.set(xlabel="year", ylabel="pelts (thousands)", xticks=range(1900, 1921, 5))
axes.legend(frameon=False)
