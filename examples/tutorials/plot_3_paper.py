"""
I have a paper
==============

Reproduce a published figure, with a unit of your own in it. The figure: which unit learns to multiply two
inputs, on nine training ranges (Mistry 2023, section 3.3.2)? ``nalm list`` names all experiments; this one
is ``thesis/ch3/mul``.
"""

# %%
# The published numbers beside ours
# ---------------------------------
# Our runs of the experiment are shipped. Each published number is compared with them by a test:

from collections import Counter
from pathlib import Path

from nalm.claims import verdicts
from nalm.experiments import EXPERIMENTS
from nalm.results import files, source

results = Path("../../results")
experiment = EXPERIMENTS["thesis/ch3/mul"]
runs = files.read(results / "thesis/ch3/mul.csv")
judged = verdicts(experiment, runs, {}, source.tallies(results)[experiment.name])
print(experiment.title)
print(len(runs), "runs; published numbers:", dict(Counter(v.verdict for v in judged)))
for verdict in judged[:4]:
    print(f"  {verdict.claim.unit}, {verdict.claim.place}: {verdict.verdict}; {verdict.why}")

# %%
# On the command line: ``nalm run thesis/ch3/mul`` trains them again, ``nalm compare runs published``
# compares.
#
# A unit of your own
# ------------------
# ``examples/my_unit.py`` has a variant of the NMU whose weights are squares. A unit is a class with a start,
# a forward pass, a grid and its formula:

import sys

print("class", Path("../my_unit.py").read_text(encoding="utf-8").partition("class ")[2])

# %%
# The conformance kit tests it against the contract; it raises an error that explains what fails:

sys.path.append("..")
from my_unit import SquareNMU

from nalm.testing import check_unit

check_unit(SquareNMU)

# %%
# Train it as the others were trained
# -----------------------------------
# The same tasks, steps and threshold of success, with the recipe without penalties. ``nalm run
# thesis/ch3/mul --unit examples/my_unit.py:SquareNMU`` does so with all 25 seeds and resumes if it is
# interrupted; here three seeds do. A name in ``nalm.UNITS`` is what tasks refer to.

import nalm
from nalm.config import Layer

nalm.UNITS["SquareNMU"] = SquareNMU
like = [case for case in experiment.cases if case.model[0].unit == "NALU"]
mine = nalm.train([case.replace(model=(Layer("SquareNMU"),)) for case in like], seeds=range(3), device="cpu")
print(sum(mine.solved), "of", len(mine), "runs solved; formulas:", dict(Counter(mine.formulas)))

# %%
# The figure
# ----------
# Success rate by training range, with 95 % intervals; ours is the last panel.

import matplotlib.pyplot as plt

from nalm import stats

ranges = [str(case.train) for case in like]
solved: dict[str, dict[str, list[bool]]] = {}
for run in runs:
    solved.setdefault(run.case.model[0].unit, {}).setdefault(str(run.case.train), []).append(run.solved)
for case, right in zip(mine.cases, mine.solved, strict=True):
    solved.setdefault("SquareNMU (yours)", {}).setdefault(str(case.train), []).append(bool(right))

figure, panels = plt.subplots(2, 4, figsize=(8, 4.4), sharex=True, sharey=True, layout="constrained")
for axes, (unit, by_range) in zip(panels.flat, solved.items(), strict=False):
    rates = [stats.wilson(sum(by_range[r]), len(by_range[r])) for r in ranges]
    axes.vlines(range(len(ranges)), [r.low for r in rates], [r.high for r in rates], color="#01665e")
    axes.plot([r.estimate for r in rates], "o", color="#01665e")
    axes.set_title(unit, fontsize=10)
    axes.set_xticks(range(len(ranges)), ranges, rotation=90, fontsize=7)
figure.supylabel("success rate")

# %%
# Next: *Contributing* says how to add the unit to the package, an experiment of your own or a published
# number.
