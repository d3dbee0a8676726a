"""Neural Arithmetic Logic Modules: layers whose trained weights spell out an exact formula.

Names are resolved when they are first used: ``import nalm`` alone loads neither torch nor SymPy.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_PARTS = ("ode",)  # modules that are names of their own: nalm.ode.fit

_HOME: dict[str, str] = {
    # units (each of them is a name of its own: nalm.NMU)
    "Trainable": "nalm.units",
    "Unit": "nalm.units",
    "UNITS": "nalm.units",
    "unit": "nalm.units",
    # what they are compared with
    "BASELINES": "nalm.units.baselines",
    # models larger than one unit
    "NETWORKS": "nalm.networks",
    "NumberReader": "nalm.networks",
    "Routes": "nalm.networks",
    # units inside any network
    "attach": "nalm.networks",
    "diagnose": "nalm.networks",
    "formulas_in": "nalm.networks",
    "from_state": "nalm.networks",
    "lightning_callback": "nalm.networks",
    "penalties": "nalm.networks",
    "project": "nalm.networks",
    "recipe": "nalm.lab.recipes",
    "snap": "nalm.networks",
    "transformers_callback": "nalm.networks",
    # what is learnt, and how it is judged
    "LOSSES": "nalm.losses",
    "loss": "nalm.losses",
    "OPERATIONS": "nalm.operations",
    # many runs at once
    "Runs": "nalm.engine",
    "UnitFit": "nalm.lab.fitting",
    "fit_units": "nalm.lab.fitting",
    "train": "nalm.engine",
    "keep": "nalm.population",
    "member": "nalm.population",
    "stack": "nalm.population",
    # experiments of one's own
    "study": "nalm.lab.studies",
    # symbols
    "disagreement": "nalm.formulas.symbolic",
    "from_formula": "nalm.formulas.from_formula",
    "latex": "nalm.formulas.symbolic",
    # equation discovery
    "Certificate": "nalm.discover",
    "Discovery": "nalm.discover",
    "Law": "nalm.discover",
    "NALMRegressor": "nalm.discover.regressor",
    "compose": "nalm.discover",
    "distil": "nalm.discover",
    "search": "nalm.discover",
    # errors
    "NALMError": "nalm.errors",
}


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"nalm.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    else:
        # A unit's name begins with a capital; anything else is looked up without loading torch, since
        # Python asks here for every submodule before it imports it.
        units = importlib.import_module("nalm.units").UNITS if name[0].isupper() else {}
        if name not in units:
            from nalm.errors import unknown

            raise AttributeError(str(unknown("name in nalm", name, [*_HOME, *_PARTS, *units])))
        value = units[name]
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_HOME, *_PARTS, "__version__", *importlib.import_module("nalm.units").UNITS])
