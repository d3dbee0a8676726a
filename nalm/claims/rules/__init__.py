"""Rules that compare a published number with our runs, one per metric; RULES is the registry.

A rule takes a claim and our runs, and returns our number, the verdict and the reason (``base.Judgement``).
To add one, write a function in the module it belongs to and name its metric in the ``RULES`` there.
"""

from nalm.claims.rules import formulas, images, lengths, rates, spreads
from nalm.claims.rules.base import Rule

RULES: dict[str, Rule] = rates.RULES | formulas.RULES | spreads.RULES | images.RULES | lengths.RULES
