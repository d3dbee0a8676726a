"""Every layout of images. To add one: write its file, then name its class here."""

from collections.abc import Callable

from nalm.config import Case
from nalm.images.colour import Colours
from nalm.images.layouts import Layout, Pairs
from nalm.images.sequences import Sequences

LAYOUTS: dict[str, Callable[[Case], Layout]] = {"pair": Pairs, "colour": Colours, "sequence": Sequences}
