"""Models larger than one unit. To add one: write its file, then name its class here."""

from nalm.networks.recurrent import Counter as Counter
from nalm.networks.recurrent import Paths as Paths
from nalm.networks.recurrent import Recurrent as Recurrent
from nalm.networks.recurrent import Smallest as Smallest
from nalm.units.base import Unit

NETWORKS: dict[str, type[Unit]] = {network.__name__: network for network in (Smallest, Counter, Paths)}
