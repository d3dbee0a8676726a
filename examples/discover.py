"""From a table of numbers to the law behind it, with a certificate, and on to a network of units."""

import numpy as np
import torch

import nalm

rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, (300, 10))  # ten columns, of which four matter
y = (x[:, 0] + x[:, 3]) / (x[:, 5] - 2 * x[:, 8])

found = nalm.search(x, y)
print("y =", found.law)
print(found.certificate)

network = found.law.to_module(torch.float64)
far = 100 * rng.uniform(-2, 2, (5, 10))
print("far outside the data:", network(torch.from_numpy(far)).detach().numpy().ravel().round(4))
print("as Python:", network.law().python())
