"""
Units of measurement narrow the search
======================================

Energy of a falling body, with 5 % of noise on 60 rows. With units only laws of the right dimension are
considered.
"""

import matplotlib.pyplot as plt
import numpy as np

import nalm

rng = np.random.default_rng(0)
names = ["m", "v", "g", "h"]
x = rng.uniform(1, 5, (60, 4))
x[:, 2] = 9.81
energy = x[:, 0] * x[:, 1] ** 2 / 2 + x[:, 0] * x[:, 2] * x[:, 3]
noisy = energy + 0.05 * energy.std() * rng.standard_normal(60)

plain = nalm.search(x, noisy, names, noise=0.05)
units = nalm.search(x, noisy, names, noise=0.05, x_units=["kg", "m/s", "m/s^2", "m"], y_unit="J")
print("without units:", plain.law)
print("with units:   ", units.law)
print(units.certificate)

# %%

figure, axes = plt.subplots(figsize=(4.6, 4), layout="constrained")
axes.plot(energy, plain.law.predict(x) - energy, "o", color="#bf812d", markersize=4, label="without units")
axes.plot(energy, units.law.predict(x) - energy, "o", color="#01665e", markersize=4, label="with units")
axes.set(xlabel="true energy (J)", ylabel="error of the law (J)")
axes.legend(frameon=False)
