"""Models larger than one unit. To add one: write its file, then name its class here."""

from nalm.networks.composite import Line as Line
from nalm.networks.composite import Network as Network
from nalm.networks.selector import FrozenSelector as FrozenSelector
from nalm.networks.selector import Selector as Selector
from nalm.networks.stack import GatedStack as GatedStack
from nalm.networks.stack import Stack as Stack

NETWORKS: dict[str, type[Network]] = {
    network.__name__: network for network in (Stack, GatedStack, Selector, FrozenSelector)
}
