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


def chosen(cases: Sequence[Case], only: Sequence[str]) -> tuple[Case, ...]:
    """Select the cases that match every ``key=value``; several values of one key are alternatives."""
    wanted: dict[str, set[str]] = {}
    for text in only:
        key, equals, value = text.partition("=")
        if not equals or key not in KEYS:
            raise NALMError(f"--only takes KEY=VALUE with a key of {', '.join(KEYS)}; got {text!r}.")
        wanted.setdefault(key, set()).add(value)
    for key, values in wanted.items():
        have = {KEYS[key](case) for case in cases}
        for value in values - have:
            raise unknown(key, value, sorted(have))
    return tuple(c for c in cases if all(KEYS[k](c) in v for k, v in wanted.items()))
