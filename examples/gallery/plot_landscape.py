"""
Why it is hard: a loss landscape
================================

The error of two layers that learn (a + b) times (a + b + c + d), over one weight of each layer: a figure of
the literature, computed by the units themselves. ``nalm landscapes`` has all of them.
"""

import matplotlib.pyplot as plt
import numpy as np

from nalm.landscapes.errors import nac_nacmul, nau_nmu

figure, panels = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for axes, compute in zip(panels, (nac_nacmul, nau_nmu), strict=True):
    surface = compute()
    height = np.log10(np.clip(surface.z, 1e-2, 1e2))
    drawn = axes.pcolormesh(surface.x, surface.y, height, vmin=-2, vmax=2, shading="auto", rasterized=True)
    axes.plot([m.x for m in surface.minima], [m.y for m in surface.minima], "r.", label="minimum")
    axes.set(xlabel=surface.x_label, ylabel=surface.y_label, title=surface.name.split("/")[-1])
    print(f"{surface.title} ({surface.source})")
figure.colorbar(drawn, label="log10 of the error")
