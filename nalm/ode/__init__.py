"""Systems of equations from trajectories: ``nalm.ode.fit(t, x)`` returns a ``System``.

This room may import ``discover`` (laws, verdicts, prices of numbers) and ``nalm.operating_system``; it needs no torch.
"""

from nalm.ode.fit import fit as fit
from nalm.ode.system import Number as Number
from nalm.ode.system import System as System
from nalm.ode.system import load as load
