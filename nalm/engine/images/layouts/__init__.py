"""Every layout of images. To add one: write its file, then name its class here."""

from nalm.config import Colour, ImageSequence, Task, TwoDigits
from nalm.engine.images.layouts.base import Layout
from nalm.engine.images.layouts.colour import Colours
from nalm.engine.images.layouts.pair import Pairs
from nalm.engine.images.layouts.sequence import Sequences

LAYOUTS: dict[type[Task], type[Layout]] = {TwoDigits: Pairs, Colour: Colours, ImageSequence: Sequences}
