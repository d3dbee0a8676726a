"""Tables in Markdown, as the computed parts of the site have them."""

from collections.abc import Iterable, Sequence

from nalm.stats import Interval, wilson


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; a bar within a cell, as in the range U[-2,-1)|[1,2), is no border."""
    rows = [head, ["---"] * len(head), *lines]
    cells = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells).replace(" of ", "\u00a0of\u00a0")


def equals(p: float) -> str:
    """Return "p = 0.02", or "p < 1e-300" where it is too small for a number."""
    return f"p = {p:.2g}" if p else "p < 1e-300"


def counts(k: int, n: int) -> str:
    """Return k of n runs with Wilson's interval of the share, as 25 of 1,000 [0.017, 0.037]."""
    share = wilson(k, n)
    return f"{k:,} of {n:,} [{share.low:.3f}, {share.high:.3f}]"


def spread(of: Interval) -> str:
    """Return an estimate and its interval over orders of magnitude, as 1.2e-07 [1.1e-07, 1.4e-07]."""
    return f"{of.estimate:.1e} [{of.low:.1e}, {of.high:.1e}]"
