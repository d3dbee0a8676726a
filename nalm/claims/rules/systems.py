"""Rules for the equations that a fit of an epidemic found (Heim 2020, Figure 5)."""

from typing import Any

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, tested, undecided
from nalm.config import Claim
from nalm.stats import Margin

STATED = 0.1  # the stated difference between two exponents


def exponent(formula: str, symbol: str) -> float | None:
    """Return the power of a symbol in the first equation; an input x counts as its gated form g x + 1 - g.

    I and S are looked for in the term that takes most from S, the infection, and R in that which returns most of it.

    >>> text = "S' = 0.1*R**0.6 - 0.2*(0.5*I + 0.5)**0.56*S**0.59, I' = 0.2*I"
    >>> [exponent(text, name) for name in "SIR"]
    [0.59, 0.56, 0.6]
    """
    from sympy import Add

    from nalm.formulas.parse import parse

    first = formula.partition("S' = ")[2].partition(", I' =")[0]
    if not first:
        return None
    terms = [_term(term) for term in Add.make_args(parse(first))]
    if symbol == "R":
        powers = [powers["R"] for factor, powers in terms if factor > 0 and "R" in powers]
        return max(powers, default=None)
    return min(terms, key=lambda term: term[0])[1].get(symbol)


def _term(term: Any) -> tuple[float, dict[str, float]]:
    """Return the factor of a product, and the powers of its symbols."""
    powers: dict[str, float] = {}
    factor, rest = term.as_coeff_Mul()
    for base, power in rest.as_powers_dict().items():
        for found in base.free_symbols:
            powers[str(found)] = round(float(power), 6)
    return float(factor), powers


def _exponent(symbol: str) -> Rule:
    """Make the rule for the exponent of a symbol; of our fits, those count that are solved."""

    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        runs = everything.of(claim.unit, claim.where)
        if not runs:
            return NOTHING
        powers = [exponent(o.formula, symbol) for o in runs if o.solved]
        found = [power for power in powers if power is not None]
        if not found:
            return undecided(None, f"no solved fit of ours has a power of {symbol}")
        test = stats.same_median(claim.value, 1, found, Margin.points(STATED))
        words = (
            f"one published fit beside {len(found)} solved ones of ours, of the same width and weight of L1"
        )
        return tested(stats.median(found), test, words)

    return rule


# the text exchanges kappa and gamma: the plot of the same fit has S^0.62 and I^0.57
RULES: dict[str, Rule] = {"kappa": _exponent("I"), "gamma": _exponent("S"), "R exponent": _exponent("R")}
