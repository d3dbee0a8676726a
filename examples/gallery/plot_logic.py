"""
A rule learnt from its truth table
==================================

Two layers of logic units learn exclusive or; the weights of the best of three starts spell the rule.
"""

import matplotlib.pyplot as plt
import sympy
import torch

import nalm
from nalm.formulas.symbolic import rule

RUNS, STEPS = 3, 800
x = torch.cartesian_prod(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0])).expand(RUNS, 4, 2)
y = (x[..., :1] != x[..., 1:]).float()
starts = [torch.Generator().manual_seed(seed) for seed in range(RUNS)]
first = nalm.stack([nalm.NLRL(2, 4, generator=g) for g in starts])
last = nalm.stack([nalm.NLRL(4, 1, generator=g) for g in starts])
optimiser = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-2)
losses = []
for _ in range(STEPS):
    loss = nalm.loss("mse")(last(first(x)), y, x)
    optimiser.zero_grad()
    loss.sum().backward()
    optimiser.step()
    first.project()
    last.project()
    losses.append(loss.detach().clone())
best = int(loss.argmin())
names = sympy.symbols("a b")
print(rule(nalm.member(last, best).formulas(nalm.member(first, best).formulas(names))[0], names))

# %%

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.semilogy(torch.stack(losses), color="#01665e")
axes.set(xlabel="step", ylabel="error on the truth table, three starts")
