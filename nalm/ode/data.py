"""Trajectories of the user: checked, and scaled for the search."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from nalm.discover.law.expression import Array
from nalm.discover.law.names import check_names
from nalm.errors import NALMError
from nalm.ode.shooting import Samples

FEWEST, MOST_ROWS, MOST_VARIABLES = 8, 400, 6  # samples in all, rows searched, variables
FEWEST_OF_SEVERAL = 3  # samples of each trajectory
GROWTH = 1e4  # largest over median value above which a flag is set


@dataclass(frozen=True)
class Trajectories:
    """Times and states of one or several trajectories, and the names of the variables."""

    names: tuple[str, ...]
    t: tuple[Array, ...]
    x: tuple[Array, ...]  # each (samples, variables)
    errors: tuple[Array, ...] = ()  # the standard errors of x, if they are given

    @property
    def moving(self) -> list[int]:
        """The indices of the variables that change."""
        every = np.concatenate(self.x)
        return [j for j in range(every.shape[1]) if np.ptp(every[:, j]) > 0]

    @property
    def spread(self) -> Array:
        """The standard deviation of every variable over all samples."""
        return np.concatenate(self.x).std(0)

    def scales(self) -> tuple[Array, float]:
        """Return the largest size of every moving variable, and the longest duration."""
        every = np.concatenate(self.x)[:, self.moving]
        return np.abs(every).max(0), max(float(t[-1] - t[0]) for t in self.t)

    def samples(self) -> Samples:
        """Scale the moving variables by their largest size and time by the longest duration; thin evenly if many."""
        sizes, duration = self.scales()
        stride = -(-sum(map(len, self.t)) // MOST_ROWS)
        rows = [_thinned(len(t), stride) for t in self.t]
        t = [(t[r] - t[0]) / duration for t, r in zip(self.t, rows, strict=True)]
        x = [x[r][:, self.moving] / sizes for x, r in zip(self.x, rows, strict=True)]
        run = np.concatenate([np.full(len(part), k) for k, part in enumerate(t)])
        states = np.concatenate(x)
        errors = [e[r][:, self.moving] / sizes for e, r in zip(self.errors, rows, strict=bool(self.errors))]
        error = np.concatenate(errors) if errors else None
        return Samples(np.concatenate(t), states, run, np.ones(len(run)), states.std(0), error=error)

    def notes(self) -> list[str]:
        """Return flags about the data, one text each."""
        every, found = np.concatenate(self.x), []
        for j in range(len(self.names)):
            if j not in self.moving:
                found.append(
                    f"{self.names[j]} never changes: its equation is 0, and no other equation can be shown to use it"
                )
            elif np.abs(every[:, j]).max() > GROWTH * (np.median(np.abs(every[:, j])) or np.inf):
                found.append(f"{self.names[j]} grows so much that its last samples decide alone")
        if sum(map(len, self.t)) > MOST_ROWS:
            found.append(
                f"of {sum(map(len, self.t)):,} samples at most {MOST_ROWS} are searched, evenly spread"
            )
        return found


def _thinned(count: int, stride: int) -> np.ndarray:
    """Return every so manyth row of a trajectory, but enough of them."""
    return np.arange(0, count, min(stride, max(1, (count - 1) // (FEWEST_OF_SEVERAL - 1))))


def checked(t: Any, x: Any, names: Sequence[str] | None, x_err: Any = None) -> Trajectories:
    """Check trajectories given as arrays or lists of arrays, and the standard errors of their states."""
    several = _several(x) or _several(t, 1)
    xs = list(x) if several else [x]
    ts = list(t) if _several(t, 1) else [t] * len(xs)
    if len(ts) != len(xs):
        raise NALMError(
            f"There are {len(xs)} trajectories, but {len(ts)} lists of times: give each its own, or one."
        )
    found = [
        _one(a, b, f" of trajectory {k}" if several else "")
        for k, (a, b) in enumerate(zip(ts, xs, strict=True))
    ]
    if (samples := sum(len(a) for a, _ in found)) < FEWEST:
        raise NALMError(f"Trajectories need at least {FEWEST} samples in all, got {samples}: add some.")
    widths = {b.shape[1] for _, b in found}
    if len(widths) != 1:
        raise NALMError(f"All trajectories need the same variables, got {sorted(widths)} columns.")
    (width,) = widths
    if width > MOST_VARIABLES:
        raise NALMError(
            f"A system has at most {MOST_VARIABLES} variables here, got {width}: choose those that matter."
        )
    if names is None:
        names = ("x", "y", "z")[:width] if width <= 3 else [f"x{i + 1}" for i in range(width)]
    states = tuple(b for _, b in found)
    errors = () if x_err is None else _errors(x_err, states, several)
    data = Trajectories(check_names(names, width), tuple(a for a, _ in found), states, errors)
    if not data.moving:
        raise NALMError(
            "No variable ever changes: a constant trajectory says nothing of its equations, give one that moves."
        )
    return data


def _several(x: Any, dimensions: int = 2) -> bool:
    """Return whether this is a list of trajectories (or of times) rather than one."""
    if isinstance(x, np.ndarray):
        return x.ndim > dimensions
    try:
        return len(x) > 0 and np.ndim(x[0]) >= dimensions
    except (TypeError, KeyError, ValueError, IndexError):
        return False


def _errors(x_err: Any, states: Sequence[Array], several: bool) -> tuple[Array, ...]:
    """Return a standard error for each value, given as a number, one for each variable, or one for each value."""
    given = list(x_err) if several and _several(x_err, 1) else [x_err] * len(states)
    if len(given) != len(states):
        raise NALMError(f"x_err is given for {len(given)} of {len(states)} trajectories: give it for each.")
    found = []
    for k, (error, x) in enumerate(zip(given, states, strict=True)):
        which = f" of trajectory {k}" if several else ""
        size = _real("x_err", error, which)
        size = size[:, None] if size.shape == (len(x),) and x.shape[1] == 1 else size
        if size.shape not in ((), x.shape[1:], x.shape):
            raise NALMError(
                f"x_err{which} needs the shape of x, {x.shape}, or one number for each variable, got {size.shape}."
            )
        if not (size > 0).all():
            raise NALMError(f"x_err{which} must be above 0, got {size.min():.6g}: drop such samples.")
        found.append(np.array(np.broadcast_to(size, x.shape)))
    return tuple(found)


def _one(t: Any, x: Any, which: str) -> tuple[Array, Array]:
    t, x = _real("t", t, which), _real("x", x, which)
    if x.ndim == 1:
        x = x[:, None]
    if t.ndim != 1 or x.ndim != 2 or not x.shape[1]:
        raise NALMError(
            f"t needs the shape (samples,) and x (samples, variables), got {t.shape} and {x.shape}{which}."
        )
    if len(t) != len(x):
        raise NALMError(f"x{which} has {len(x)} rows, but there are {len(t)} times: each row needs one.")
    fewest = FEWEST_OF_SEVERAL if which else FEWEST
    if len(t) < fewest:
        raise NALMError(f"A trajectory needs at least {fewest} samples, got {len(t)}{which}: add some.")
    steps = np.diff(t)
    if not (steps > 0).all():
        k = int(np.argmin(steps > 0))
        raise NALMError(
            f"Times must rise, but t[{k + 1}] = {t[k + 1]:.6g} follows {t[k]:.6g}{which}: sort the rows, or give "
            "several trajectories as a list."
        )
    return t, x


def _real(name: str, value: Any, which: str) -> Array:
    try:
        array = np.asarray(value)
        if array.dtype.kind == "M" or (
            array.dtype.kind == "O" and array.size and isinstance(array.flat[0], date)
        ):
            array = (array.astype("datetime64[us]") - np.datetime64("2000-01-01")) / np.timedelta64(1, "D")
        if array.dtype.kind not in "fiubO":
            raise TypeError(f"it holds {array.dtype}")
        array = array.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise NALMError(f"{name}{which} must be numbers: {error}.") from None
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        place = ", ".join(map(str, where))
        raise NALMError(
            f"{name}[{place}]{which} is {array[tuple(where)]}: drop such rows, equations need finite numbers."
        )
    return array
