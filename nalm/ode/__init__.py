"""From a trajectory to a system of equations: ``nalm.ode.fit(t, x)``."""

from nalm.ode.fit import fit as fit
from nalm.ode.system import Number as Number
from nalm.ode.system import System as System
from nalm.ode.system import load as load
