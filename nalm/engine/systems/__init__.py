"""Training of networks as right-hand sides of differential equations, in float64.

``euler.py`` integrates and differentiates, ``lbfgs.py`` is the optimiser of the last steps.
"""

from nalm.engine.systems.training import SystemTrainer as SystemTrainer
