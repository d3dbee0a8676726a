"""
An epidemic becomes equations
=============================

Forty samples of an epidemic whose transmission grows with square roots: the data of the power units' paper
(Heim 2020), computed and not measured. The equations are found to the last digit.
"""

import matplotlib.pyplot as plt
import numpy as np

import nalm
from nalm.tasks.epidemic import NAMES, published

t, x = published()
found = nalm.ode.fit(t, x, NAMES, restarts=1)
print(found)
print(f"{found.verdict}: {found.tested}")

# %%

times = np.linspace(t[0], t[-1], 200)
path = found.simulate(times, x[0])
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for column, (name, colour) in enumerate(zip(NAMES, ("#01665e", "#bf812d", "#8c510a"), strict=True)):
    axes.plot(times, path[:, column], color=colour, label=name)
    axes.plot(t, x[:, column], "o", color=colour, markersize=3)
axes.set(xlabel="time", ylabel="people")
axes.legend(frameon=False)
