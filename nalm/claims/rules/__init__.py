"""Rules that compare a published number with our runs, one per metric; RULES is the registry.

A rule takes a claim and our runs, and returns a ``base.Judgement``. To add one, write a function in the module it
belongs to and name its metric in the ``RULES`` there; name a new module in ``MODULES``.
"""

from nalm.claims.rules import counts, formulas, images, lengths, rates, spreads, steps
from nalm.claims.rules.base import Rule

MODULES = (rates, counts, steps, formulas, spreads, images, lengths)
RULES: dict[str, Rule] = {metric: rule for module in MODULES for metric, rule in module.RULES.items()}
