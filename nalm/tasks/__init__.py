"""What is to be learnt: operands among the inputs, samples of them, and when a run counts as solved."""

from nalm.tasks.operands import Target as Target
from nalm.tasks.operands import offset as offset
from nalm.tasks.operands import subsets as subsets
from nalm.tasks.sampler import Sampler as Sampler
from nalm.tasks.threshold import threshold as threshold
