"""Experiments as frozen values: JSON in and out, known by the hash of their content.

This room may import nothing but ``nalm.errors`` and ``nalm.operations``, and never torch or NumPy.
"""

from nalm.config.case import KINDS as KINDS
from nalm.config.case import Case as Case
from nalm.config.experiment import Claim as Claim
from nalm.config.experiment import Experiment as Experiment
from nalm.config.images import Colour as Colour
from nalm.config.images import ImageSequence as ImageSequence
from nalm.config.images import TwoDigits as TwoDigits
from nalm.config.layer import MADE_OF as MADE_OF
from nalm.config.layer import Layer as Layer
from nalm.config.numbers import Arithmetic as Arithmetic
from nalm.config.numbers import Lists as Lists
from nalm.config.numbers import Recurrent as Recurrent
from nalm.config.numbers import Rows as Rows
from nalm.config.numbers import SystemTask as SystemTask
from nalm.config.ranges import Range as Range
from nalm.config.ranges import grid as grid
from nalm.config.ranges import mirrored as mirrored
from nalm.config.ranges import parted as parted
from nalm.config.ranges import points as points
from nalm.config.ranges import sequence as sequence
from nalm.config.ranges import split as split
from nalm.config.ranges import truncated as truncated
from nalm.config.recipe import Growth as Growth
from nalm.config.recipe import Ramp as Ramp
from nalm.config.recipe import Recipe as Recipe
from nalm.config.task import Task as Task
from nalm.config.threshold import Threshold as Threshold
