"""Which structure explains all groups best: each is fitted to all of them, with shared and own numbers told apart."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nalm.discover.fit.least_squares import UNSOLVABLE, tangent
from nalm.discover.grouped.joint import Joint, JointFit, slopes_of
from nalm.discover.grouped.law import with_numbers
from nalm.discover.law.expression import Array, Mask, Node, numbers, renumbered, roles, used
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import TimeUpError
from nalm.discover.selection.evidence import fit, scalable, shape_price, unsettled
from nalm.discover.selection.rows import NoiseKind, Observations
from nalm.discover.selection.simplify import options
from nalm.discover.selection.structure import structure

JUDGED = 16  # structures under each kind of noise whose shared numbers are looked for,
NEAR = 8.0  # if they may be better than the best one so far, or so much worse, by a first look that flatters them
MOST_FREE = 5  # numbers of a structure
SIMPLIFIED = 3  # laws whose numbers are settled
ROUNDS = 6
NEARBY = 3.0  # standard errors, of a simple number from the fitted one


@dataclass(frozen=True)
class GroupModel:
    """A law on the rows of one group, as a function of its free numbers."""

    node: Node
    free: Mask
    rows: Observations

    @property
    def count(self) -> int:
        """The number of free numbers."""
        return int(self.free.sum())

    def __len__(self) -> int:
        return len(self.rows)

    def taken(self, pick: NDArray[np.int_]) -> "GroupModel":
        """Return the law on some of the rows."""
        return replace(self, rows=self.rows.taken(pick))

    def weighted(self, p: Array) -> Observations:
        """Return the rows with the size of the noise that the errors of the columns make of it."""
        return self.rows.effective(with_numbers(self.node, self.free, p))

    def residual(self, p: Array) -> Array:
        """Return target minus law, over the size of the noise."""
        return self.weighted(p).residual(with_numbers(self.node, self.free, p))

    def slopes(self, p: Array) -> Array:
        """Return the slopes of the law of the target, over the size of the noise."""
        if self.rows.x_error is not None and self.count:
            return slopes_of(self.residual, p)
        node = with_numbers(self.node, self.free, p)
        with np.errstate(all="ignore"):
            slopes = tangent(self.rows.seen(node), self.rows.x)[1]
        return np.asarray(slopes[:, self.rows.mask(self.free)] / self.rows.error[:, None])


@dataclass(frozen=True)
class Chosen:
    """A structure with its numbers fitted to all groups."""

    node: Node
    free: Mask
    stage: str
    parts: tuple[Observations, ...]  # the rows of each group
    joint: Joint
    fit: JointFit
    score: float  # -2 log likelihood and the price of numbers and symbols: the smallest is best

    @property
    def count(self) -> int:
        """How many numbers were fitted, those of all groups."""
        return self.joint.places(self.fit.shared)[1]

    @property
    def scatter(self) -> float:
        """The size of the noise: of y, of log y, or 1 where it is given."""
        n = sum(map(len, self.parts))
        given = self.parts[0].noise == NoiseKind.GIVEN
        return 1.0 if given else float(np.sqrt(self.fit.square * n / max(n - self.count, 1)))


def chosen(
    met: Sequence[tuple[Node, str]], rows: Observations, which: Any, check: Callable[[], None]
) -> list[Chosen]:
    """Return the structures with the most evidence on all groups, each once, best first.

    ``which`` is the group of each row. If time is up, what was fitted until then is ranked.
    """
    best: dict[Node, Chosen] = {}

    def keep(found: Chosen) -> None:
        form = structure(found.node)
        if np.isfinite(found.score) and (form not in best or found.score < best[form].score):
            best[form] = found

    with contextlib.suppress(TimeUpError), np.errstate(all="ignore"):
        for kind in rows.kinds():
            parts = tuple(kind.taken(which == g) for g in range(int(which.max()) + 1))
            looks = [(_first_look(node, parts), node, stage) for node, stage in met if used(node)]
            looks = sorted((look for look in looks if np.isfinite(look[0])), key=lambda look: look[0])
            for score, node, stage in looks[:JUDGED]:
                check()
                if score < min((f.score for f in best.values()), default=np.inf) + NEAR:
                    keep(_judged(node, stage, parts))
        for found in sorted(best.values(), key=lambda f: f.score)[:SIMPLIFIED]:
            for simpler in _simplified(found, check):
                keep(simpler)
    return sorted(best.values(), key=lambda f: f.score)


def _joint(node: Node, free: Mask, parts: Sequence[Observations]) -> tuple[Joint, list[GroupModel]]:
    offset = sum(part.offset for part in parts)
    models = [GroupModel(node, free, part) for part in parts]
    return Joint(models, offset, parts[0].noise == NoiseKind.GIVEN), models


def _offset(models: Sequence[GroupModel], table: Array) -> float:
    """Return what the likelihood of y adds to that of the residuals, with the numbers of each group."""
    return sum(model.weighted(p).offset for model, p in zip(models, table, strict=True))


def _starts(node: Node, free: Mask, parts: Sequence[Observations], stage: str) -> Array:
    """Fit the law to each group alone, where it has enough rows; return a row of free numbers per group."""
    table = []
    for part in parts:
        alone = np.array(numbers(node))[free]
        if len(part) > free.sum():
            with contextlib.suppress(*UNSOLVABLE):
                found = fit(node, part, free, stage)
                values = np.array(numbers(found.node))
                alone = values[free] if len(values) == len(free) and np.isfinite(found.misfit) else alone
        table.append(alone)
    return np.array(table)


def _first_look(node: Node, parts: Sequence[Observations]) -> float:
    """Return the score of a structure if each group were fitted alone and one number were its own."""
    node = scalable(node)
    x = np.concatenate([part.x for part in parts])
    free = unsettled(node, x)
    if free.sum() > MOST_FREE:
        return np.inf
    joint, models = _joint(node, free, parts)
    table = _starts(node, free, parts, "")
    r = np.concatenate([m.residual(p) for m, p in zip(models, table, strict=True)])
    square, n = float(np.mean(r**2)), len(r)
    if not np.isfinite(square):
        return np.inf
    misfit = n * (square - 1) if joint.given else n * float(np.log(square + 1e-300))
    return misfit + _offset(models, table) + shape_price(node, free, x)


def _judged(node: Node, stage: str, parts: tuple[Observations, ...], fixed: bool = False) -> Chosen:
    """Fit a structure to all groups, with shared and own numbers told apart."""
    node = scalable(node)
    x = np.concatenate([part.x for part in parts])
    free = unsettled(node, x, fixed)
    joint, models = _joint(node, free, parts)
    found = joint.told_apart(_starts(node, free, parts, stage))
    # the joint score has log n for each number already
    shape = shape_price(node, free, x) - float(np.log(len(x))) * int(free.sum())
    shape += _offset(models, found.table) - joint.offset
    node = with_numbers(node, free, np.median(found.table, 0))
    return Chosen(node, free, stage, parts, joint, found, found.score + shape)


def _simplified(found: Chosen, check: Callable[[], None]) -> Iterator[Chosen]:
    """Yield simpler laws: numbers become simple ones in all groups as long as the score falls."""
    for _ in range(ROUNDS):
        trials = [_judged(node, found.stage, found.parts, fixed=True) for node in _moves(found, check)]
        best = min(trials, key=lambda f: f.score, default=found)
        if not best.score < found.score:
            return
        found = best
        yield found


def _moves(found: Chosen, check: Callable[[], None]) -> Iterator[Node]:
    values, kinds = numbers(found.node), roles(found.node)
    root, places = found.joint.spread(found.fit, found.scatter)
    errors = np.sqrt((root**2).sum(1))
    for k, i in enumerate(np.flatnonzero(found.free).tolist()):
        check()
        for option in options(values[i], kinds[i]):
            if (np.abs(option - found.fit.table[:, k]) <= NEARBY * errors[places[:, k]]).all():
                node = tidied(renumbered(found.node, [*values[:i], option, *values[i + 1 :]]))
                if used(node) and np.isfinite(numbers(node)).all():
                    yield node
