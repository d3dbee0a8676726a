"""
I have a table
==============

From a CSV file to the law behind it: fit, read the certificate, predict, take the law away. The table is
``examples/pendulum.csv``: 60 swings of a pendulum, with the mass of the bob, which plays no part. It was
computed, not measured; the gallery has tables of measurements.
"""

# %%
# Fit
# ---
# The columns of the table give their names to the law.

import pandas as pd

import nalm

table = pd.read_csv("../pendulum.csv", comment="#")
found = nalm.NALMRegressor().fit(table[["length", "mass"]], table["period"])
print("period =", found.formula_)

# %%
# On the command line the same is ``nalm fit examples/pendulum.csv --target period``; it also draws the fit,
# and ``--html`` writes a page.
#
# Read the certificate
# --------------------
# A third of the rows was held out. The first word says what was shown about the law, such as *exact*,
# *consistent* or *none*.

print(found.certificate_)
print()
print(found.certificate_.meaning)

# %%
# Other candidates are listed with their size and error:

for other in found.equations_[:4]:
    print(f"{other.formula}  (size {other.size}, error {other.error:.2g}, stage {other.stage})")

# %%
# Predict, and ask which rows were tested
# ---------------------------------------
# For each row a word says whether it lies inside the domain of the table.

longer = pd.DataFrame({"length": [0.5, 1.0, 10.0], "mass": [0.3, 0.3, 0.3]})
period, support = found.predict(longer, return_support=True)
print(longer.assign(period=period, support=support).to_string(index=False))

# %%
# See it
# ------

import matplotlib.pyplot as plt
import numpy as np

length = np.linspace(table["length"].min() / 2, table["length"].max() * 2, 200)
curve = found.predict(pd.DataFrame({"length": length, "mass": 0.3}))
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.plot(length, curve, color="#01665e", label=f"{found.formula_}")
axes.plot(table["length"], table["period"], "o", color="#bf812d", markersize=4, label="table")
axes.set(xlabel="length", ylabel="period")
axes.legend(frameon=False)

# %%
# Take the law away
# -----------------
# The law is SymPy, LaTeX, a network of units that can be trained further, or source code without nalm.

from nalm.discover.law.code import to_c

print(found.latex())
print(found.to_module())
print(to_c(found.laws_[0]))

# %%
# Next: :doc:`the gallery </gallery/index>` for noisy measurements, *Read a certificate* for the tests
# behind the words, *Which verdict?* for how often they were right.
