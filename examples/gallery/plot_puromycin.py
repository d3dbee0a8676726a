"""
Michaelis and Menten: rate of an enzyme
=======================================

The reaction saturates: rate = V c / (K + c). Twelve rows, each concentration measured twice, so that the
scatter of the measurement itself is visible (Treloar 1974).
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/puromycin.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["concentration"]], table["rate"])
print("rate =", found.formula_)
print(found.certificate_)

# %%
# What else explains twelve rows:

for other in found.equations_[:5]:
    print(f"{other.formula}  (size {other.size}, error {other.error:.2g}, stage {other.stage})")

# %%
# The constants of Michaelis and Menten, with their form given:

form = "V*concentration/(K + concentration)"
known = nalm.NALMRegressor(form=form).fit(table[["concentration"]], table["rate"])
print(known.certificate_.verdict, *known.equations_[0].constants, sep="\n")

# %%

grid = np.linspace(0.005, table["concentration"].max() * 1.2, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(grid, found.predict(pd.DataFrame({"concentration": grid})), color="#01665e", label="law")
axes.plot(table["concentration"], table["rate"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="concentration (ppm)", ylabel="rate (counts/min²)")
axes.legend(frameon=False)
