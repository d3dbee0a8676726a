"""Every layout of images. To add one: write its file, then name its class here."""

from collections.abc import Callable

from nalm.config import Case
from nalm.engine.images.layouts.base import Layout
from nalm.engine.images.layouts.colour import Colours
from nalm.engine.images.layouts.pair import Pairs
from nalm.engine.images.layouts.sequence import Sequences

LAYOUTS: dict[str, Callable[[Case], Layout]] = {"pair": Pairs, "colour": Colours, "sequence": Sequences}
