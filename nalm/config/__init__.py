"""Experiments as values: frozen, comparable, JSON in and out, known by the hash of their content."""

from nalm.config.case import MADE_OF as MADE_OF
from nalm.config.case import Case as Case
from nalm.config.case import Claim as Claim
from nalm.config.case import Experiment as Experiment
from nalm.config.case import Growth as Growth
from nalm.config.case import Layer as Layer
from nalm.config.case import Ramp as Ramp
from nalm.config.case import Recipe as Recipe
from nalm.config.case import Threshold as Threshold
from nalm.config.images import Digits as Digits
from nalm.config.ranges import Range as Range
from nalm.config.ranges import grid as grid
from nalm.config.ranges import mirrored as mirrored
from nalm.config.ranges import parted as parted
from nalm.config.ranges import points as points
from nalm.config.ranges import sequence as sequence
from nalm.config.ranges import split as split
from nalm.config.ranges import truncated as truncated
