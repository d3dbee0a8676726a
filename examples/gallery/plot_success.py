"""
Which unit for which range: the shipped runs
============================================

The share of solved runs of every unit that the thesis compares on multiplication (Mistry 2023, chapter 3),
from the runs that come with the package; ``nalm suggest`` reads the same numbers.
"""

import matplotlib.pyplot as plt
import numpy as np

from nalm.lab.measured import shipped_rows

rows = [row for row in shipped_rows() if row["experiment"] == "thesis/ch3/mul"]
units = list(dict.fromkeys(row["unit"] for row in rows))
ranges = list(dict.fromkeys(row["train"] for row in rows))
rate = np.full((len(units), len(ranges)), np.nan)
for row in rows:
    rate[units.index(row["unit"]), ranges.index(row["train"])] = row["success"]["estimate"]

figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
drawn = axes.imshow(rate, vmin=0, vmax=1, cmap="BrBG", aspect="auto")
axes.set_xticks(range(len(ranges)), ranges, rotation=45, ha="right", fontsize=8)
axes.set_yticks(range(len(units)), units)
for (row, column), value in np.ndenumerate(rate):
    dark = abs(value - 0.5) > 0.35
    axes.text(
        column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color="white" if dark else "black"
    )
figure.colorbar(drawn, label="share of solved runs")
