"""Verify a store: recompute every derived number from curves and weights, and train some runs again."""

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nalm.config import Case
from nalm.engine import Run, device_for, trainer
from nalm.engine.gold import is_gold
from nalm.engine.images import mnist
from nalm.engine.model import Network, layer_types
from nalm.engine.numbers.evaluation import EVERY
from nalm.engine.numbers.thresholds import uncompiled
from nalm.engine.same_formula import same_formula
from nalm.engine.spelling import TooLongError
from nalm.engine.trainer import trainer_for
from nalm.errors import NALMError
from nalm.lab.rebuilt import formula_of, rebuilt
from nalm.results.merge import close
from nalm.results.packed import CHECKSUM, checksum
from nalm.results.runs import Outcome, Runs, judged
from nalm.results.store import Arrays, Store
from nalm.tasks.threshold import threshold
from nalm.units import Trainable

# of the sparsity error of a unit that computes it from raw parameters, which are reconstructed
TOLERANCE = 1e-3
SINGLE = 2e-6  # of one that computes it from effective weights, which are stored in single precision
LIMIT = 1e-6  # relative, of a threshold: it is simulated in double precision from draws in single precision
ROUNDING = 10.0  # between the gold errors of two devices; up to 4.3 was seen between a CPU and an H200
CURVES = ("validation", "test", "sparsity")


@dataclass(frozen=True)
class Finding:
    """A stored number that is wrong."""

    outcome: Outcome
    what: str
    stored: object
    found: object

    def __str__(self) -> str:
        o = self.outcome
        return (
            f"{o.case.name} ({o.case.key}) seed {o.seed}: {self.what} is stored as {self.stored}, "
            f"and should be {self.found}"
        )


def recompute(store: Store) -> Iterator[Finding]:
    """Yield a finding for every derived number that the curves and weights of its run contradict."""
    known: dict[object, str] = {}
    limits: dict[str, float] = {}
    for o in store.outcomes():
        arrays = store.arrays(o.case.hash, o.seed)
        if broken := _problem(arrays, o.case.task.images > 0):
            yield Finding(o, "its record", broken, "whole")
            continue
        if o.case.hash not in limits:
            limits[o.case.hash] = _threshold(o.case)
        found = (
            []
            if _same_threshold(o, limits[o.case.hash])
            else [Finding(o, "threshold", o.threshold, limits[o.case.hash])]
        )
        found += [*_check_curves(o, arrays), *_check_weights(o, arrays, known)]
        yield from found or _check_sum(o, arrays)


def _check_sum(o: Outcome, arrays: Arrays) -> Iterator[Finding]:
    """Check that no digit was changed since the run was saved; runs of old versions have no checksum."""
    if CHECKSUM not in arrays:
        return
    stored, found = arrays[CHECKSUM], checksum(o, arrays)
    if not np.array_equal(stored, found):
        yield Finding(
            o, "the checksum of its numbers", stored.tobytes().hex()[:12], found.tobytes().hex()[:12]
        )


def _problem(arrays: Arrays, reads_images: bool) -> str:
    """Return what is wrong with the arrays of a run; empty if nothing is."""
    for name in ("steps", *CURVES):
        if name not in arrays or arrays[name].ndim != 1 or len(arrays[name]) != len(arrays["steps"]):
            return f"without a proper {name}"
    steps = arrays["steps"]
    if not len(steps) or steps.dtype.kind != "i" or (np.diff(steps) <= 0).any():
        return "without steps that rise"
    # layers behind a reader may have none
    weights = reads_images or any(n.startswith("weights.") for n in arrays)
    return "" if weights else "without weights"


def _threshold(case: Case) -> float:
    """Compute the threshold of a case."""
    return uncompiled(case) if is_gold(case) else threshold(case)


def _same_threshold(o: Outcome, found: float) -> bool:
    """Return whether a stored threshold is the one found here; gold errors are rounding, another device's differs."""
    if is_gold(o.case):
        return found / ROUNDING <= o.threshold <= found * ROUNDING
    return math.isclose(o.threshold, found, rel_tol=LIMIT)  # infinite ones, which judge nothing, are equal


def _check_curves(o: Outcome, arrays: Arrays) -> Iterator[Finding]:
    """Check the best and the first solved evaluation; for a thinned curve, as far as it shows them."""
    steps, low = arrays["steps"], arrays["test"] < o.threshold
    whole = o.case.task.images or len(steps) >= -(-int(steps[-1]) // EVERY) + 1
    if o.steps != steps[-1]:
        yield Finding(o, "steps", o.steps, int(steps[-1]))
    at = int(np.searchsorted(steps, o.best_step))
    here = at < len(steps) and steps[at] == o.best_step
    counts = judged(o.case, arrays["validation"])
    if here:
        for name in CURVES:
            if not _equal(getattr(o, name), arrays[name][at]):
                yield Finding(o, name, getattr(o, name), float(arrays[name][at]))
    if (whole and steps[counts] != o.best_step) or arrays["validation"][counts] < o.validation:
        yield Finding(o, "best step", o.best_step, int(steps[counts]))
    first = int(steps[np.argmax(low)]) if low.any() else None
    sooner = first is not None and (o.solved_at is None or first < o.solved_at)
    if sooner or (whole and first != o.solved_at):
        yield Finding(o, "solved at", o.solved_at, first)


def _equal(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)


def _check_weights(o: Outcome, arrays: Arrays, known: dict[object, str]) -> Iterator[Finding]:
    """Check the outcome, and sparsity and formula of the final weights."""
    weights = {n.removeprefix("weights."): a for n, a in arrays.items() if n.startswith("weights.")}
    finite = np.isfinite(arrays["test"][-1]) and all(np.isfinite(w).all() for w in weights.values())
    word = "solved" if o.test < o.threshold else "unsolved" if finite else "diverged"
    if o.outcome != word:
        yield Finding(o, "outcome", o.outcome, word)
    yield from _check_ends(o, arrays, weights)
    if not finite or unknown_units([o]):
        return
    try:
        network = rebuilt(o.case, weights)
        if network is None:
            return
        sparsity = float(network.sparsity_error().detach())
        if not abs(sparsity - arrays["sparsity"][-1]) <= _tolerance(network):
            yield Finding(o, "sparsity at the end", float(arrays["sparsity"][-1]), sparsity)
        formula = formula_of(network, o.case, known) if o.formula else ""
    except TooLongError:
        return
    except (NALMError, RuntimeError, AttributeError, KeyError, ValueError) as error:
        yield Finding(o, "weights", f"a model that cannot be built ({str(error)[:80]})", f"of {o.case.name}")
        return
    if not same_formula(o.formula, formula):
        yield Finding(o, "formula", o.formula, formula)


def _check_ends(o: Outcome, arrays: Arrays, weights: Arrays) -> Iterator[Finding]:
    """Check that the trajectories of the weights end in the final weights; both were recorded at the same step."""
    for name, final in weights.items():
        path = arrays.get(f"trajectories.{name}")
        if path is not None and len(path) and not np.array_equal(path[-1], final, equal_nan=True):
            yield Finding(o, f"weight {name}", _short(final), f"{_short(path[-1])}, as its trajectory ends")


def _short(values: np.ndarray) -> str:
    return ", ".join(f"{v:.9g}" for v in values.flatten()[:4]) + (", ..." if values.size > 4 else "")


def _tolerance(network: Network) -> float:
    """Return how far a recomputed sparsity error may be from the stored one."""
    usual = all(type(part).sparsity_error is Trainable.sparsity_error for part in network.parts())
    return SINGLE if usual else TOLERANCE


def unknown_units(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Count the runs of each unit that is not at hand: a user's unit whose file is not loaded."""
    known = layer_types()
    return Counter(n for o in outcomes for n in {layer.unit for layer in o.case.model} if n not in known)


def _again(o: Outcome, device: str, data: str) -> Runs:
    """Train a run again from the beginning, compiled if it was."""
    place = str(mnist.folder(data)) if o.case.task.source == "mnist" else ""
    compiled = trainer_for(o.case).was_compiled(o.mode)
    training = trainer([Run(o.case, o.seed, 0)], device_for(device), compiled=compiled, data=place)
    while not training.finished:
        training.advance()
    return training.results()


def sample(outcomes: Sequence[Outcome], count: int, seed: int) -> list[Outcome]:
    """Choose runs at random, of units that are at hand."""
    known = [o for o in outcomes if not unknown_units([o])]
    return random.Random(seed).sample(known, min(count, len(known)))


def train_again(store: Store, o: Outcome, device: str = "auto", data: str = "") -> list[Finding]:
    """Train one run again and compare outcome and initial weights; on the same device and engine also the errors."""
    runs = _again(o, device, data)
    (line,) = runs.lines()
    arrays = store.arrays(o.case.hash, o.seed)
    found = [Finding(o, "outcome", o.outcome, line.outcome)] if o.outcome != line.outcome else []
    for name, path in runs.trajectories[0].items():
        stored = arrays.get(f"trajectories.{name}")
        if stored is None or not np.array_equal(stored[0], path[0]):
            found.append(Finding(o, f"the start of {name}", "another", "the one drawn for its seed"))
    if line.mode == o.mode and line.device == o.device:
        for name in CURVES:
            first, second = getattr(o, name), getattr(line, name)
            if not close(np.array(first), np.array(second)):
                found.append(Finding(o, name, first, second))
    return found
