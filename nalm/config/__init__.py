"""Experiments as values: frozen, comparable, JSON in and out, known by the hash of their content."""

from nalm.config.case import MADE_OF as MADE_OF
from nalm.config.case import Case as Case
from nalm.config.case import Layer as Layer
from nalm.config.case import Threshold as Threshold
from nalm.config.experiment import Claim as Claim
from nalm.config.experiment import Experiment as Experiment
from nalm.config.images import Digits as Digits
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
