"""Simpler laws from a fitted one: terms dropped, exponents made whole or half, numbers made nice, the rest refitted."""

from collections.abc import Callable, Iterator

import numpy as np

from nalm.discover.fit.snap import gauged
from nalm.discover.law.expression import Array, Node, numbers, renumbered, roles, used
from nalm.discover.law.tidy import tidied
from nalm.discover.selection.evidence import (
    FREE,
    SYMBOL,
    Fitted,
    fit,
    nice_price,
    scalable,
    unsettled,
)
from nalm.discover.selection.structure import is_settled

CARRIED_OUT = 5  # of the moves whose gain is estimated
ROUNDS = 25

Allows = Callable[[Node], bool]


def simplified(found: Fitted, allows: Allows, check: Callable[[], None]) -> Iterator[Fitted]:
    """Yield the law and every simpler one on the way to that with the most evidence."""
    yield found
    for _ in range(ROUNDS):
        best = min(_moves(found, allows, check), key=lambda f: f.score, default=found)
        if not best.score < found.score:
            return
        found = best
        yield found


def _moves(found: Fitted, allows: Allows, check: Callable[[], None]) -> Iterator[Fitted]:
    """Yield the law with one number deleted or settled, or all exponents at once, where that promises a gain."""
    values, kinds = np.array(numbers(found.node)), roles(found.node)
    errors, n = found.errors, len(found.rows)
    powers = found.free & np.array([k == "exponent" for k in kinds], bool)
    trials: list[Array] = []
    if powers.sum() > 1:
        for step in (1.0, 2.0):
            trials.append(np.where(powers, np.round(step * values) / step, values))
    foreseen: list[tuple[float, Array]] = []
    for i in np.flatnonzero(found.free & (errors > 0)):
        for option in options(float(values[i]), kinds[i]):
            off = (option - values[i]) / errors[i]
            misfit = n * np.log1p(off**2 / n)
            saved = np.log(n) * (FREE + 2 * SYMBOL * (option == 0))
            saved -= nice_price(n) if option != 0 and kinds[i] != "exponent" else 0.0
            if misfit < saved + 4 * (found.count + 1) ** 2 / max(n - found.count - 2, 1):
                trial = values.copy()
                trial[i] = option
                foreseen.append((misfit - saved, trial))
    trials += [trial for _, trial in sorted(foreseen, key=lambda f: f[0])[:CARRIED_OUT]]
    for trial in trials:
        check()
        node = gauged(tidied(renumbered(found.node, trial.tolist())))
        if used(node) and np.isfinite(numbers(node)).all() and allows(node):
            yield refitted(node, found, check)


def options(value: float, role: str) -> set[float]:
    """Return what a number may be set to: 0 unless it is a scale, whole and half exponents, other nice numbers."""
    if role == "exponent":
        near = {float(np.floor(value)), float(np.ceil(value)), round(2 * value) / 2, 0.0}
        return {v for v in near if is_settled(v, role)}
    near = {float(round(value)), float(np.sign(value)) * 0.5} - {0.0}
    return {v for v in near if is_settled(v, role)} | ({0.0} if role != "coefficient" else set())


def refitted(node: Node, like: Fitted, check: Callable[[], None]) -> Fitted:
    """Fit the numbers of a law that are not settled, to the rows of another."""
    node = scalable(node)
    free = unsettled(node, like.rows.x, fixed=True)
    if not free.any() and not numbers(node):
        return Fitted(node, free, like.rows, like.stage)
    return fit(node, like.rows, free, like.stage, check)
