"""Rules for the formulas that networks learnt (Mistry 2023, chapter 7)."""

from nalm import stats
from nalm.claims.rules.base import NOTHING, Judgement, NamedRuns, Rule, settled, tested, undecided
from nalm.config import Claim
from nalm.stats import Interval

FEWEST = 9  # formulas of chapter 7 that every network was trained on


def _by_seed(values: dict[int, list[float]]) -> Interval:
    """Sum the values of each seed; return the mean and the range of the sums."""
    numbers = [sum(v) for v in values.values()]
    return Interval(sum(numbers) / len(numbers), min(numbers), max(numbers), len(numbers), "range over seeds")


def _few(formulas: int) -> Judgement:
    return undecided(None, f"{formulas} formulas were run") if formulas else NOTHING


def _correct(claim: Claim, everything: NamedRuns) -> Judgement:
    from nalm.formulas.truth import right  # loads SymPy, which no other rule needs

    runs = everything.of(claim.unit)
    formulas = len({o.case.operation for o in runs})
    if formulas < FEWEST:
        return _few(formulas)
    counts: dict[int, list[float]] = {}
    for o in runs:
        counts.setdefault(o.seed, []).append(float(right(o.case, o.seed, o.formula)))
    ours = _by_seed(counts)
    why = f"of {formulas} formulas, the snapped expression is the target"
    return settled(ours, claim.value in ours, why)


def _learnt(claim: Claim, everything: NamedRuns) -> Judgement:
    from nalm.formulas.truth import right

    runs = everything.of(claim.unit)
    if not runs:
        return NOTHING
    found = [right(o.case, o.seed, o.formula) for o in runs]
    test = stats.same_rate(round(claim.value), 1, sum(found), len(found))
    return tested(
        stats.success_rate(found), test, "one published run beside the share of ours that are right"
    )


def _mean_error(field: str) -> Rule:
    def rule(claim: Claim, everything: NamedRuns) -> Judgement:
        runs = everything.of(claim.unit)
        formulas = len({o.case.operation for o in runs})
        if formulas < FEWEST:
            return _few(formulas)
        errors: dict[int, list[float]] = {}
        for o in runs:
            errors.setdefault(o.seed, []).append(getattr(o, field) / formulas)
        ours = _by_seed(errors)
        low = claim.value if claim.low is None else claim.low
        high = claim.value if claim.high is None else claim.high
        holds = claim.value in ours or low <= ours.estimate <= high
        return settled(ours, holds, "mean over formulas; the published spread is theirs over formulas")

    return rule


RULES: dict[str, Rule] = {
    "n_correct": _correct,
    "success": _learnt,
    "interp_mse_mean": _mean_error("validation"),
    "extrap_mse_mean": _mean_error("test"),
}
