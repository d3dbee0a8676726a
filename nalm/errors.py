"""The exception for all mistakes of a user, and the message for an unknown name."""

import difflib
from collections.abc import Iterable


class NALMError(ValueError):
    """A user's mistake. The message is one sentence with the value and the remedy."""


def unknown(kind: str, name: object, known: Iterable[str], see: str = "") -> NALMError:
    """Build the error for an unknown name: it suggests the nearest one, and lists the known ones or says what does.

    >>> print(unknown("unit", "NMUU", ["NAU", "NMU"]))
    There is no unit called 'NMUU'. Did you mean 'NMU'? Known: NAU, NMU.
    """
    names = list(known)
    by_folded = {n.casefold(): n for n in names}
    near = difflib.get_close_matches(str(name).casefold(), by_folded, n=1)
    hint = f" Did you mean {by_folded[near[0]]!r}?" if near else ""
    listed = f"{see} lists all" if see else f"Known: {', '.join(names)}"
    return NALMError(f"There is no {kind} called {name!r}.{hint} {listed}.")
