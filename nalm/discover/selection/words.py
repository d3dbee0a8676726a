"""Sentences of a certificate, where no law is exact."""

from collections.abc import Sequence

from nalm.discover.certificate.verdict import Verdict
from nalm.discover.selection.evidence import Fitted
from nalm.discover.selection.rows import NoiseKind, Observations

NAMED_ROWS = 20  # rows that a certificate names


def looks_like_noise(rows: Observations, scatter: float) -> str:
    """Describe the noise that a law leaves: its kind and its size."""
    size_of = {
        NoiseKind.ADDITIVE: f"additive noise of {scatter:.2g}",
        NoiseKind.RELATIVE: f"relative noise of {100 * scatter:.2g}%",
        NoiseKind.GIVEN: "noise of the given errors",
        NoiseKind.BOTH: f"additive noise of {scatter * rows.floor:.2g} and relative noise of {100 * scatter:.2g}%",
    }
    return f"what the law leaves looks like {size_of[rows.noise]} on {len(rows):,} rows"


def digits_hold(found: Fitted) -> str:
    """Return the text that says that a law holds to the printed digits."""
    return f"the law holds to half a unit of the last printed place on all {len(found.rows)} rows."


def second(words: tuple[Verdict, str]) -> tuple[Verdict, str]:
    """Return the verdict of a law that does not stand first: another one explains the rows as well."""
    if words[0] != Verdict.CONSISTENT:
        return words
    return Verdict.UNDECIDED, f"{words[1]} The law that stands first explains the rows as well or better."


def far_off(rows: Sequence[int]) -> str:
    """Return the sentence that names the rows that were left out."""
    shown = ", ".join(map(str, rows[:NAMED_ROWS]))
    more = f" and {len(rows) - NAMED_ROWS} more" if len(rows) > NAMED_ROWS else ""
    return f"Far off and left out: row{'s' if len(rows) > 1 else ''} {shown}{more}."
