"""A law as an expression with named inputs, and what can be made of it."""

from nalm.discover.law.law import Law as Law
from nalm.discover.law.law import checked_names as checked_names
from nalm.discover.law.law import cleaned as cleaned
