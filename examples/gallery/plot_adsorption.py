"""
NIST: adsorption in a dental study
==================================

Fourteen measurements with hardly any scatter (NIST Misra1a). Three of NIST's problems explain them by three
different saturating laws: a good fit alone does not tell the law.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/adsorption.csv", comment="#")
found = nalm.NALMRegressor(max_time=10).fit(table[["pressure"]], table["volume"])
print("volume =", found.formula_)
print(found.certificate_)
for other in found.equations_[:4]:
    print(f"{other.formula}  (size {other.size}, error {other.error:.2g}, stage {other.stage})")

# %%
# With the form of Misra1a given, the numbers are those that NIST certifies, 238.942 and 0.000550156:

known = nalm.NALMRegressor(form="b*(1 - exp(-c*pressure))").fit(table[["pressure"]], table["volume"])
print(known.certificate_.verdict, *known.equations_[0].constants, sep="\n")

# %%

grid = np.linspace(20, table["pressure"].max() * 1.2, 200)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.plot(grid, found.predict(pd.DataFrame({"pressure": grid})), color="#01665e", label="law")
axes.plot(table["pressure"], table["volume"], "o", color="#bf812d", markersize=5, label="measured")
axes.set(xlabel="pressure", ylabel="volume")
axes.legend(frameon=False)
