"""
Published numbers beside ours
=============================

Published success rates of chapter 3 of the thesis, and ours with their intervals. Each pair is tested;
``nalm compare results published`` prints all of them.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from nalm.claims import verdicts
from nalm.experiments import EXPERIMENTS
from nalm.results import files, source

results = Path("../../results")
counted = source.tallies(results)
judged = []
for name in ("thesis/ch3/mul", "thesis/ch3/div"):
    runs = files.read(results / f"{name}.csv")
    found = verdicts(EXPERIMENTS[name], runs, {}, counted[name])
    judged += [v for v in found if v.claim.metric == "success_rate"]
agree = sum(v.verdict == "agrees" for v in judged)
print(len(judged), "published success rates,", agree, "agree with ours")

shown = [(v.claim, v.ours) for v in judged if v.ours][:16]
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for row, (claim, ours) in enumerate(shown):
    axes.plot([ours.low, ours.high], [row, row], color="#01665e")
    axes.plot(ours.estimate, row, "o", color="#01665e", label="ours" if row == 0 else None)
    label = "published" if row == 0 else None
    axes.plot(claim.value, row, "|", color="#bf812d", markersize=14, label=label)
axes.set_yticks(range(len(shown)), [f"{c.unit} {c.operation} {c.where}" for c, _ in shown], fontsize=8)
axes.set(xlabel="success rate", xlim=(-0.05, 1.05))
axes.invert_yaxis()
axes.legend(frameon=False)
