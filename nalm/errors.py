"""One exception for everything a user can do wrong, and the sentence that helps."""

import difflib
from collections.abc import Iterable


class NALMError(ValueError):
    """What happened, with the value, and what to do about it, in one sentence."""


def unknown(kind: str, name: object, known: Iterable[str]) -> NALMError:
    """There is no such name: suggest the nearest one and list what exists.

    >>> print(unknown("unit", "NMUU", ["NAU", "NMU"]))
    There is no unit called 'NMUU'. Did you mean 'NMU'? Known: NAU, NMU.
    """
    names = list(known)
    by_folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(str(name).casefold(), by_folded, n=1)
    hint = f" Did you mean {by_folded[near[0]]!r}?" if near else ""
    return NALMError(f"There is no {kind} called {name!r}.{hint} Known: {', '.join(names)}.")
