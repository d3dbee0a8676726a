"""Rules for networks on sequences: one published number at one length of the sequences."""

from nalm.claims.lengths import Length, Row, length_of
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, published_runs, undecided
from nalm.claims.rules.counted_runs import sparsity_of
from nalm.claims.rules.images import unless_short
from nalm.claims.rules.rates import share
from nalm.claims.rules.steps import UNSOLVED, solved_mean, sparsity_mean
from nalm.config import Claim
from nalm.experiments.mnist.two_digits import EPOCHS

PIXEL = 1e-5  # sparsity errors were read from a figure, in which 0 is drawn at 6e-6


def compare(claim: Claim, row: Row, at: Length) -> Judgement:
    """Compare a published number with ours at the same length."""
    return unless_short(_compared(claim, row, at), (row.epochs, EPOCHS))


def _compared(claim: Claim, row: Row, at: Length) -> Judgement:
    rate = at.success
    if claim.metric == "success_rate_at_length":
        solved = round(rate.estimate * rate.n)
        return share(claim.value, published_runs(claim) or rate.n, solved, rate.n)
    if not at.solved_at:
        return undecided(None, UNSOLVED)
    if claim.metric == "solved_at_mean_at_length":
        return solved_mean(claim, at.solved_at, rate.estimate, row.between)
    return sparsity_mean(claim, sparsity_of(at.sparsity), rate.estimate, PIXEL)


def _at_length(claim: Claim, everything: NamedRuns) -> Judgement:
    rows = [everything.sequences[case] for case in claim.cases if case in everything.sequences]
    if not rows:
        without = undecided(None, "no curves or no reference runs of ours")
        return without if everything.named else NOTHING
    found = [at for at in rows[0].lengths if at.length == length_of(claim)]
    return compare(claim, rows[0], found[0]) if found else NOTHING


RULES: dict[str, Rule] = {
    "success_rate_at_length": _at_length,
    "solved_at_mean_at_length": _at_length,
    "sparsity_error_mean_at_length": _at_length,
}
