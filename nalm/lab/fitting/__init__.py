"""Units trained on rows of one's own: ``fit_units(X, y, model)`` returns the best of many starts.

``sources.py`` reads arrays, loaders and functions, ``models.py`` modules; ``fit.py`` trains, ``result.py`` answers.
"""

from nalm.lab.fitting.fit import fit_units as fit_units
from nalm.lab.fitting.result import UnitFit as UnitFit
