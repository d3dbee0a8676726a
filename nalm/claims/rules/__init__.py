"""Rules that compare a published number with our runs, one per metric; RULES is the registry.

A rule takes a claim and our runs, and returns a ``base.Judgement``. To add one, write a function in the module it
belongs to and name its metric in the ``RULES`` there; name a new module in ``MODULES``.
"""

from nalm.claims.rules import (
    counts,
    digits,
    facts,
    formulas,
    images,
    lengths,
    rates,
    single_runs,
    spreads,
    steps,
    systems,
)
from nalm.claims.rules.base import Rule

MODULES = (rates, counts, steps, formulas, spreads, images, lengths, single_runs, facts, digits, systems)
RULES: dict[str, Rule] = {metric: rule for module in MODULES for metric, rule in module.RULES.items()}
CURVES = frozenset(digits.RULES)  # metrics whose rules read curves, besides those about sequences
