"""Mass-conserving layers on one operation, as a note beside the benchmark of Mistry 2022a reports them.

Hoedt 2021: MC-LSTM: Mass-Conserving LSTM, arXiv:2101.05186. Mistry 2022a: A primer for neural arithmetic logic modules,
arXiv:2101.09530; its code, nalm-benchmark, has the four units and the note. Settings are those of its script: the
ranges, seeds and steps of chapter 3, and a penalty of weight 10 that grows from step 20,000 on.

That penalty rewards large raw values. It is what opens the output gate, which a squared error alone only approaches:
the published units are solved just after step 20,000. The plain product takes logarithms of its inputs and so fails
on negative ones.
"""

from nalm.config import Experiment, Ramp
from nalm.experiments.published import claims
from nalm.experiments.thesis.ch3 import PLAIN, SEEDS, single

REWARDED = PLAIN.replace(penalties=(("magnitude", Ramp(10, 20_000, 35_000)),))
TASK = "single-module, 2 inputs"
SUM, PRODUCTS = "MCFC", ("MulMCFC", "MulMCFCSignINALU", "MulMCFCSignRealNPU")

EXPERIMENTS = (
    Experiment(
        "mcfc/add",
        "Does a mass-conserving layer learn a + b? (note of nalm-benchmark, Fig. 1)",
        single(SUM, "add", REWARDED),
        SEEDS,
        claims(TASK, "add", units=(SUM,)),
    ),
    Experiment(
        "mcfc/mul",
        "Does a mass-conserving layer learn a x b, with its sign or without? (note of nalm-benchmark, Fig. 2)",
        tuple(case for unit in PRODUCTS for case in single(unit, "multiply", REWARDED)),
        SEEDS,
        claims(TASK, "multiply", units=PRODUCTS),
    ),
)
