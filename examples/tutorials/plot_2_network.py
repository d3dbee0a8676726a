"""
I have a network
================

Put a unit into your own network, train it in your own loop, read its formula. A unit is a layer like
``nn.Linear``; it needs two things from the training loop, and ``nalm.attach`` adds both to any optimiser of
torch.
"""

# %%
# A network that cannot extrapolate
# ---------------------------------
# The area of rectangles, from noisy sides between 1 and 2. First a plain network:

import torch

import nalm


def batch(size: float = 1.0, rows: int = 128) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sides between size and 2 size, and areas with one per cent of noise."""
    x = size * (1 + torch.rand(rows, 2))
    return x, x.prod(-1, keepdim=True) * (1 + 0.01 * torch.randn(rows, 1))


def train(network: torch.nn.Module, optimiser: torch.optim.Optimizer, steps: int) -> None:
    """Train as usual: this loop does not know about units."""
    for _ in range(steps):
        x, y = batch()
        optimiser.zero_grad()
        torch.nn.functional.mse_loss(network(x), y).backward()
        optimiser.step()


STEPS = 1_500
torch.manual_seed(0)
plain = torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
train(plain, torch.optim.Adam(plain.parameters(), lr=1e-2), STEPS)

# %%
# The same loop with a unit
# -------------------------
# Two lines change: the layer, and the call of ``attach``. Before each step it adds the published penalties,
# which move the weights to the grid on which they spell a formula; after it, it keeps them in their bounds.
# It needs the number of steps, because the penalties set in when the error is small already.

network = torch.nn.Sequential(nalm.NMU(2, 1))
optimiser = torch.optim.Adam(network.parameters(), lr=1e-2)
nalm.attach(network, optimiser, steps=STEPS)
train(network, optimiser, STEPS)
print(nalm.formulas_in(network))

# %%
# Ask whether something is wrong
# ------------------------------
# An empty list means: nothing found. Otherwise each sentence names a remedy.

print(nalm.diagnose(network, batch()))

# %%
# Snap, and look far outside the training data
# --------------------------------------------

import matplotlib.pyplot as plt

nalm.snap(network)
sizes = torch.logspace(-1, 4, 30)
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
axes.axvspan(1, 2, color="#cfe8e4", label="trained here")
for name, model, colour in (("perceptron", plain, "#bf812d"), ("NMU", network, "#01665e")):
    errors = []
    for size in sizes:
        x, _ = batch(float(size), 500)
        truth = x.prod(-1, keepdim=True)
        wrong = ((model(x) - truth) / truth).detach().abs().median()
        errors.append(max(float(wrong), 1e-8))
    axes.loglog(sizes, errors, color=colour, label=name)
axes.set(xlabel="size of the sides", ylabel="median relative error")
axes.legend(frameon=False)

# %%
# Which unit, and with which recipe?
# ----------------------------------
# The shipped runs know what worked:

print(nalm.recipe("NMU", operation="multiply", range=(1, 2)))

# %%
# Next: *Train a unit in your network* has the details (gradient scalers, checkpoints, Lightning, what does
# not train); *Which unit?* compares all of them.
