"""
Growth of five trees: one law, numbers of their own
===================================================

Trunks of five orange trees, measured seven times (Draper and Smith 1998). The form, a logistic curve, is given; which
of its numbers all trees share, and which each tree has of its own, follows from the evidence.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nalm

table = pd.read_csv("../data/oranges.csv", comment="#")
found = nalm.NALMRegressor(form="size/(1 + exp((middle - age)/scale))")
found.fit(table[["age"]], table["circumference"], groups=table["tree"])
print("circumference =", found.formula_)
print(found.certificate_)
for number in found.equations_[0].constants:
    print("shared:", number)
for tree, own in found.groups_.items():
    print(f"tree {tree}:", *own.values())

# %%

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
ages = np.linspace(0, 1700, 100)
for tree, rows in table.groupby("tree"):
    law = found.predict(pd.DataFrame({"age": ages}), groups=[tree] * len(ages))
    (line,) = axes.plot(ages, law, linewidth=1.5)
    axes.plot(
        rows["age"], rows["circumference"], "o", color=line.get_color(), markersize=4, label=f"tree {tree}"
    )
axes.set(xlabel="age (days)", ylabel="circumference (mm)")
axes.legend(frameon=False, fontsize=8)
