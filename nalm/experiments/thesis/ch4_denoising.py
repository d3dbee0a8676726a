"""Mistry 2022c, appendix F: the other way to take the noise out of the stochastic NMU's output.

Mistry 2022c: Improving the robustness of neural multiplication units with reversible stochasticity, arXiv:2211.05624.

The sNMU divides by the product of W n + 1 - W. Equation 8 divides by the product of n^W, which is the same for weights
0 and 1. The paper reports without numbers that runs then solve the training range and fail outside it. Both factors
are compared here, with the settings of thesis/ch4/single; the cases of the first are those of that study.
"""

from nalm.config import Experiment, Layer
from nalm.experiments.thesis.ch3 import SEEDS, sparse
from nalm.experiments.thesis.ch4 import PLAIN_SNMU, nine

POWERS = Layer("SNMU", options=(("denoising", "powers"),))

EXPERIMENTS = (
    Experiment(
        "thesis/ch4/denoising",
        "Does the stochastic NMU also learn if its output is divided by powers of the noise? (Mistry 2022c, eq. 8)",
        (*PLAIN_SNMU, *nine(POWERS, sparse(10))),
        SEEDS,
    ),
)
