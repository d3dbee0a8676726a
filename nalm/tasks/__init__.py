"""Inputs and targets of tasks: samplers, operands, lists, scaling, thresholds and the authors' data.

This room may import config.
"""

from nalm.tasks.operands import Target as Target
from nalm.tasks.operands import offset as offset
from nalm.tasks.operands import subsets as subsets
from nalm.tasks.sampler import Sampler as Sampler
from nalm.tasks.threshold import threshold as threshold
