"""The public names for type checkers; at run time ``__init__.py`` finds the same names when they are first used."""

from nalm import ode as ode
from nalm.discover import Certificate as Certificate
from nalm.discover import Discovery as Discovery
from nalm.discover import Law as Law
from nalm.discover import compose as compose
from nalm.discover import distil as distil
from nalm.discover import search as search
from nalm.discover.regressor import NALMRegressor as NALMRegressor
from nalm.engine import Runs as Runs
from nalm.engine import train as train
from nalm.errors import NALMError as NALMError
from nalm.formulas.from_formula import from_formula as from_formula
from nalm.formulas.symbolic import disagreement as disagreement
from nalm.formulas.symbolic import latex as latex
from nalm.lab.fitting import UnitFit as UnitFit
from nalm.lab.fitting import fit_units as fit_units
from nalm.lab.recipes import recipe as recipe
from nalm.lab.studies import study as study
from nalm.losses import LOSSES as LOSSES
from nalm.losses import loss as loss
from nalm.networks import NETWORKS as NETWORKS
from nalm.networks import NumberReader as NumberReader
from nalm.networks import Routes as Routes
from nalm.networks import attach as attach
from nalm.networks import diagnose as diagnose
from nalm.networks import formulas_in as formulas_in
from nalm.networks import from_state as from_state
from nalm.networks import lightning_callback as lightning_callback
from nalm.networks import penalties as penalties
from nalm.networks import project as project
from nalm.networks import snap as snap
from nalm.networks import transformers_callback as transformers_callback
from nalm.operations import OPERATIONS as OPERATIONS
from nalm.population import keep as keep
from nalm.population import member as member
from nalm.population import stack as stack
from nalm.units import *  # noqa: F403
from nalm.units.baselines import BASELINES as BASELINES

__version__: str
