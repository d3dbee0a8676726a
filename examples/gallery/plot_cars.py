"""
Stopping distance of cars
=========================

Fifty cars of the 1920s (Ezekiel 1930). Reaction takes a distance that grows with the speed, braking one
that grows with its square. The cars differ so much that the rows alone do not tell this form.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/cars.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["speed"]], table["distance"])
print("distance =", found.formula_)
print(found.certificate_)

# %%
# With the form known, its two numbers have an interval each:

known = nalm.NALMRegressor(form="a*speed + b*speed**2").fit(table[["speed"]], table["distance"])
print("distance =", known.formula_)
print(known.certificate_.verdict, *known.equations_[0].constants, sep="\n")

# %%

grid = np.linspace(2, table["speed"].max() * 1.2, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(grid, found.predict(pd.DataFrame({"speed": grid})), color="#01665e", label="law")
axes.plot(grid, known.predict(pd.DataFrame({"speed": grid})), "--", color="#01665e", label="known form")
axes.plot(table["speed"], table["distance"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="speed (mph)", ylabel="stopping distance (ft)")
axes.legend(frameon=False)
