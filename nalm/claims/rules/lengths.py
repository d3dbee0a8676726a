"""Rules for networks on sequences: one published number at one length of the sequences."""

import math

from nalm import stats
from nalm.claims.lengths import Length, Row, length_of
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule
from nalm.claims.rules.images import verdict_if_trained_enough
from nalm.config import Claim
from nalm.experiments.mnist.two_digits import EPOCHS

PIXEL = 1e-5  # sparsity errors were read from a figure, in which 0 is drawn at 6e-6


def compare(claim: Claim, row: Row, at: Length) -> Judgement:
    """Compare a published number with ours at the same length, with the intervals of the papers."""
    runs = f"{at.success.n} run{'s' * (at.success.n > 1)}"
    epochs = row.epochs, EPOCHS
    if claim.metric == "success_rate_at_length":
        return verdict_if_trained_enough(claim, at.success, epochs, runs)
    if not at.solved_at:
        return None, "not comparable", "no solved run of ours"
    solved = f"{len(at.solved_at)} solved of {runs}"
    if claim.metric == "solved_at_mean_at_length":
        ours, slack = stats.solved_at_published(at.solved_at), row.between
        words = f"{solved}, evaluated every {slack:,.0f} steps"
    else:
        ours, slack = stats.sparsity_published(at.sparsity), PIXEL
        words = f"{solved}, equal below {PIXEL:g}"
    return verdict_if_trained_enough(claim, ours, epochs, words, math.inf, slack)


def _at_length(claim: Claim, everything: NamedRuns) -> Judgement:
    rows = [everything.sequences[case] for case in claim.cases if case in everything.sequences]
    if not rows:
        without = None, "not comparable", "no curves or no reference runs of ours"
        return without if everything.named else NOTHING
    found = [at for at in rows[0].lengths if at.length == length_of(claim)]
    return compare(claim, rows[0], found[0]) if found else NOTHING


RULES: dict[str, Rule] = {
    "success_rate_at_length": _at_length,
    "solved_at_mean_at_length": _at_length,
    "sparsity_error_mean_at_length": _at_length,
}
