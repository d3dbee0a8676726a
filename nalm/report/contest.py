"""A figure of two units compared within one folder, drawn by matplotlib."""

from pathlib import Path

from nalm.errors import NALMError
from nalm.report.static import FORMATS, pyplot, save
from nalm.results.contest import Contest


def draw(found: Contest, path: Path) -> Path:
    """Draw the difference of success rates on each task, and over all, with 95% intervals."""
    if path.suffix[1:] not in FORMATS:
        raise NALMError(f"The figure {path} must end in {', '.join(f'.{kind}' for kind in FORMATS)}.")
    rows = [(p.spot.name, p.success, p.success_p) for p in found.pairings]
    rows.append(("all tasks", found.overall, found.overall.p))
    figure, axis = pyplot().subplots(figsize=(7, 1.2 + 0.34 * len(rows)))
    for y, (_, lead, p) in enumerate(reversed(rows)):
        colour = "#999999" if p >= 0.05 else "#0072b2" if lead.estimate > 0 else "#d55e00"
        axis.plot([lead.low, lead.high], [y, y], color=colour, lw=1.5)
        axis.plot(lead.estimate, y, "D" if y == 0 else "o", color=colour, ms=5)
        axis.annotate(f"p {p:.2g}", (1.02, y), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axis.axvline(0, color="black", lw=0.7)
    axis.set_yticks(range(len(rows)), [name for name, *_ in reversed(rows)], fontsize=8)
    axis.set_xlim(-1.05, 1.05)
    axis.set_xlabel(f"share solved, {found.first} minus {found.second}")
    axis.grid(axis="x", alpha=0.25)
    try:
        return save(figure, path)
    except OSError as error:
        raise NALMError(f"{path} could not be written: {error.strerror}.") from None
