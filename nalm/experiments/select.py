"""Selection of cases by KEY=VALUE, such as unit=NMU."""

from collections.abc import Callable, Sequence

from nalm.config import Case
from nalm.config.labels import loss_of, unit_of, without_hash
from nalm.errors import NALMError, unknown

KEYS: dict[str, Callable[[Case], str]] = {
    "unit": lambda case: without_hash(unit_of(case)),
    "operation": lambda case: case.operation,
    "range": lambda case: f"{case.train.low:g}:{case.train.high:g}",
    "inputs": lambda case: str(case.inputs),
    "loss": loss_of,
    "lr": lambda case: f"{case.recipe.lr:g}",
    "case": lambda case: case.key,  # as in the column `case` of exported tables
}
NUMBERS = ("range", "lr")


def chosen(cases: Sequence[Case], only: Sequence[str]) -> tuple[Case, ...]:
    """Select the cases that match every ``key=value``; several values of one key are alternatives."""
    wanted: dict[str, dict[str, str]] = {}  # by key: what is compared, and how it was written
    for text in only:
        key, equals, value = text.partition("=")
        if not equals or key not in KEYS:
            raise NALMError(f"--only takes KEY=VALUE with a key of {', '.join(KEYS)}; got {text!r}.")
        wanted.setdefault(key, {})[_compared(key, value)] = value
    for key, values in wanted.items():
        have = {KEYS[key](case) for case in cases}
        compared = {_compared(key, text) for text in have}
        for value in (given for text, given in values.items() if text not in compared):
            raise unknown(key, value, sorted(have))
    return tuple(c for c in cases if all(_compared(k, KEYS[k](c)) in v for k, v in wanted.items()))


def _compared(key: str, value: str) -> str:
    """Return a value as it is compared: of a range and a rate the numbers count, so that 1e18 is 1e+18."""
    if key not in NUMBERS:
        return value
    try:
        return ":".join(str(float(number)) for number in value.split(":"))
    except ValueError:
        return value
