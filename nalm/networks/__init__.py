"""Models of several units, and units in loops. To add one: write its file, then name its class here.

This room imports units and tasks.
"""

from nalm.networks.composite import Composite as Composite
from nalm.networks.lines import Line as Line
from nalm.networks.lines import LineNetwork as LineNetwork
from nalm.networks.loop import Loop as Loop
from nalm.networks.registers import Counter as Counter
from nalm.networks.registers import Paths as Paths
from nalm.networks.registers import RegisterLoop as RegisterLoop
from nalm.networks.registers import Smallest as Smallest
from nalm.networks.selector import FrozenSelector as FrozenSelector
from nalm.networks.selector import Selector as Selector
from nalm.networks.stack import GatedStack as GatedStack
from nalm.networks.stack import Stack as Stack
from nalm.units.base import Unit

NETWORKS: dict[str, type[Unit]] = {
    network.__name__: network
    for network in (Stack, GatedStack, Selector, FrozenSelector, Smallest, Counter, Paths)
}
