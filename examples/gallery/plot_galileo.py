"""
Galileo 1608: balls leave an inclined plane
===========================================

Galileo let balls roll down from seven heights and noted where they hit the floor. Without friction the
distance would grow with the root of the height; it grows more slowly. Seven rows tell the numbers of a law well,
and its form hardly: the certificate says so.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/galileo.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["height"]], table["distance"])
print("distance =", found.formula_)
print(found.certificate_)

# %%
# A root that friction bends explains the rows, with two numbers:

known = nalm.NALMRegressor(form="sqrt(a*height/(1 + b*height))").fit(table[["height"]], table["distance"])
print(known.certificate_.verdict, *known.equations_[0].constants, sep="\n")

# %%

grid = np.linspace(50, table["height"].max() * 1.2, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(grid, found.predict(pd.DataFrame({"height": grid})), color="#01665e", label="law")
axes.plot(table["height"], table["distance"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="height (punti)", ylabel="distance (punti)")
axes.legend(frameon=False)
