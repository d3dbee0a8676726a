"""
Weights snap to a formula
=========================

Ten NMUs learn to multiply the first two of four inputs. A penalty sets in halfway; then the weights move to
0 or 1, and spell a formula.
"""

import matplotlib.pyplot as plt
import torch

import nalm

RUNS, STEPS = 10, 1_200
starts = [torch.Generator().manual_seed(seed) for seed in range(RUNS)]
runs = nalm.stack([nalm.NMU(4, 1, generator=g) for g in starts])
optimiser = torch.optim.Adam(runs.parameters(), lr=1e-2)
data = torch.Generator().manual_seed(0)
weights = []
for step in range(STEPS):
    x = 1 + torch.rand(RUNS, 64, 4, generator=data)
    loss = nalm.loss("mse")(runs(x), x[..., :2].prod(-1, keepdim=True), x)
    optimiser.zero_grad()
    (loss + (step > STEPS / 2) * runs.penalties()["weight"]).sum().backward()
    optimiser.step()
    runs.project()
    weights.append(runs.weights()["weight"].detach().flatten(1).clone())
print({str(nalm.member(runs, run).formulas()[0]) for run in range(RUNS)})

# %%

path = torch.stack(weights)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.axvspan(STEPS / 2, STEPS, color="#cfe8e4", label="with penalty")
for run in range(RUNS):
    axes.plot(path[:, run, :2], color="#01665e", alpha=0.5, linewidth=1)
    axes.plot(path[:, run, 2:], color="#bf812d", alpha=0.5, linewidth=1)
axes.set(xlabel="step", ylabel="weight: needed inputs green, others brown")
axes.legend(frameon=False)
