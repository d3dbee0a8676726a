"""Models of several units, units in loops, and units inside any network. To add a model: write its file, then name its
class here.

This room imports units, config and tasks.
"""

from nalm.networks.attachment import Attachment as Attachment
from nalm.networks.attachment import attach as attach
from nalm.networks.callbacks import lightning_callback as lightning_callback
from nalm.networks.callbacks import transformers_callback as transformers_callback
from nalm.networks.coded import CodedUnit as CodedUnit
from nalm.networks.coefficients import CoefficientUnit as CoefficientUnit
from nalm.networks.composite import Composite as Composite
from nalm.networks.diagnosis import Fault as Fault
from nalm.networks.diagnosis import diagnose as diagnose
from nalm.networks.experts import ExpertSelector as ExpertSelector
from nalm.networks.from_state import from_state as from_state
from nalm.networks.inside import FarFromGrid as FarFromGrid
from nalm.networks.inside import formulas_in as formulas_in
from nalm.networks.inside import penalties as penalties
from nalm.networks.inside import project as project
from nalm.networks.inside import snap as snap
from nalm.networks.inside import units_in as units_in
from nalm.networks.lines import Line as Line
from nalm.networks.lines import LineNetwork as LineNetwork
from nalm.networks.loop import Loop as Loop
from nalm.networks.reader import NumberReader as NumberReader
from nalm.networks.registers import Counter as Counter
from nalm.networks.registers import Paths as Paths
from nalm.networks.registers import RegisterLoop as RegisterLoop
from nalm.networks.registers import Smallest as Smallest
from nalm.networks.routed import RoutedSelector as RoutedSelector
from nalm.networks.routes import Routes as Routes
from nalm.networks.selector import FrozenSelector as FrozenSelector
from nalm.networks.selector import Selector as Selector
from nalm.networks.stack import GatedStack as GatedStack
from nalm.networks.stack import Stack as Stack
from nalm.units.base import Unit

NETWORKS: dict[str, type[Unit]] = {
    network.__name__: network
    for network in (
        *(Stack, GatedStack, Selector, FrozenSelector, Smallest, Counter, Paths),
        *(CodedUnit, RoutedSelector, ExpertSelector, CoefficientUnit),
    )
}
