"""
Division: which unit finds it?
==============================

Eight seeds of three units divide the first of four inputs by the second. Shown is how far the weights are
from a solution, as the error on inputs a thousand times as large as in training.
"""

import matplotlib.pyplot as plt
import torch

import nalm

RUNS, STEPS = 8, 1_500
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for unit, colour in ((nalm.NRU, "#01665e"), (nalm.NMRU, "#bf812d"), (nalm.RealNPU, "#8c510a")):
    starts = [torch.Generator().manual_seed(seed) for seed in range(RUNS)]
    runs = nalm.stack([unit(4, 1, generator=g) for g in starts])
    optimiser = torch.optim.Adam(runs.parameters(), lr=1e-2)
    data = torch.Generator().manual_seed(0)
    for step in range(STEPS):
        x = 1 + torch.rand(RUNS, 64, 4, generator=data)
        loss = nalm.loss("mse")(runs(x), x[..., :1] / x[..., 1:2], x)
        penalty = runs.penalties().get("weight", torch.zeros(RUNS))
        optimiser.zero_grad()
        (loss + (step > STEPS / 2) * penalty).sum().backward()
        optimiser.step()
        runs.project()
    with torch.no_grad():
        x = 1000 * (1 + torch.rand(RUNS, 500, 4, generator=data))
        error = ((runs(x) / (x[..., :1] / x[..., 1:2])) - 1).abs().flatten(1).median(-1).values
    formulas = [str(nalm.member(runs, run).formulas()[0]) for run in range(RUNS)]
    print(unit.__name__, f"{formulas.count('a/b')} of {RUNS} spell a/b")
    axes.semilogy(sorted(error.clamp_min(1e-8)), "o-", color=colour, label=unit.__name__)
axes.set(xlabel="run, best first", ylabel="relative error far outside")
axes.legend(frameon=False)
