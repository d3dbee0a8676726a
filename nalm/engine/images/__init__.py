"""Units inside larger networks: images of digits are read by a network, and a unit calculates with what it reads."""

from nalm.engine.images.check import check as check
from nalm.engine.images.training import Training as Training
