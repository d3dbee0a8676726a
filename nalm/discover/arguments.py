"""Arguments of the regressor: what its constructor and ``fit`` are given, checked when they are used."""

from typing import Any

import numpy as np

from nalm.errors import NALMError


def seconds_of(max_time: Any) -> float:
    """Return the seconds of a search; None is no limit."""
    match max_time:
        case None:
            return np.inf
        case int() | float() | np.number() if max_time > 0 and max_time is not True:
            return float(max_time)
    raise NALMError(f"max_time is a number of seconds above 0, or None, got {max_time!r}.")


def seed_of(random_state: Any) -> int:
    """Return the seed of a search; None is 0."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return int(random_state or 0)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31))


def numbers_in(y: Any) -> Any:
    """Convert targets that are numbers written as text."""
    if y is None or (hasattr(y, "dtype") and y.dtype.kind in "fiub"):
        return y
    array = np.asarray(y)
    if array.dtype.kind not in "US":
        return y
    try:
        return array.astype(np.float64)
    except ValueError as error:
        raise NALMError(f"y must hold numbers: {error}.") from None


def print_line(message: str) -> None:
    """Print a line about the progress of a search at once."""
    print(message, flush=True)
