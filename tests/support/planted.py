"""Changes of one digit in a results database, as a mistake or a forger would make them."""

import random
import re

import numpy as np

from nalm.results.runs import Outcome
from nalm.results.store import Store, pack

DIGIT = re.compile(r"\d")
ERRORS = ("validation", "test", "sparsity", "threshold")


def one_digit(value: float, chance: random.Random) -> float:
    """Return the number with another digit in one place; the first may not become 0."""
    text = repr(value)
    mantissa = text.partition("e")[0]
    first = next((m.start() for m in re.finditer("[1-9]", mantissa)), None)
    places = [m.start() for m in DIGIT.finditer(mantissa) if first is not None and m.start() >= first]
    changed = value
    while changed == value:  # the last digits of a number may be beyond its precision
        at = chance.choice(places)
        digit = chance.choice([d for d in "123456789" if d != text[at]])
        changed = float(text[:at] + digit + text[at + 1 :])
    return changed


def in_error(store: Store, o: Outcome, chance: random.Random) -> str:
    """Change a digit of an error of a run; return what was changed, or nothing if no error is a number above 0."""
    named = [name for name in ERRORS if np.isfinite(getattr(o, name)) and getattr(o, name) > 0]
    if not named:
        return ""
    name = chance.choice(named)
    return _set(store, o, name, one_digit(getattr(o, name), chance))


def in_verdict(store: Store, o: Outcome, chance: random.Random) -> str:
    """Change the outcome of a run, or a step that belongs to it; return what was changed."""
    name = chance.choice(["outcome", "best_step", "solved_at", "steps"])
    if name == "outcome":
        return _set(
            store, o, name, chance.choice([w for w in ("solved", "unsolved", "diverged") if w != o.outcome])
        )
    value = getattr(o, name)
    return _set(store, o, name, 1 if value is None else int(one_digit(value, chance)) if value else 1)


def in_array(store: Store, o: Outcome, chance: random.Random, start: str | tuple[str, ...]) -> str:
    """Change a digit of an array whose name begins so; return what was changed, or nothing if there is none."""
    arrays = store.arrays(o.case.hash, o.seed)
    named = [n for n, a in arrays.items() if n.startswith(start) and (np.isfinite(a) & (a != 0)).any()]
    if not named:
        return ""
    name = chance.choice(sorted(named))
    changed = arrays[name].copy()
    at = chance.choice(np.flatnonzero(np.isfinite(changed) & (changed != 0)).tolist())
    before = changed.flat[at]
    while changed.flat[at] == before:  # a digit beyond the precision of the type changes nothing
        changed.flat[at] = one_digit(float(str(before)), chance)
    data = pack(arrays | {name: changed})
    with store.change():
        store.db.execute(
            "UPDATE arrays SET data = ? WHERE hash = ? AND seed = ?", (data, o.case.hash, o.seed)
        )
    return f"{name}[{at}] {before} to {changed.flat[at]}"


def _set(store: Store, o: Outcome, name: str, value: object) -> str:
    with store.change():
        store.db.execute(
            f"UPDATE runs SET {name} = ? WHERE hash = ? AND seed = ?", (value, o.case.hash, o.seed)
        )
    return f"{name} {getattr(o, name)} to {value}"
