"""Units inside larger networks: images of digits are read by a network, and a unit calculates with what it reads."""

from nalm.images.checks import check as check
from nalm.images.training import Training as Training
