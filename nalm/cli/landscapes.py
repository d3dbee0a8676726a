"""Landscapes for `nalm show` and `nalm run`: analytic figures, computed and listed with their minima."""

from nalm.cli import screen
from nalm.cli.app import print_json


def is_landscape(name: str) -> bool:
    """Return whether this is a name of landscapes and not of an experiment."""
    return name.strip("/").split("/")[0] == "landscapes"


def show(name: str, as_json: bool) -> None:
    """Compute the landscapes at or below a name, and print their minima."""
    from nalm.cli.tables.grid import grid
    from nalm.experiments import below
    from nalm.landscapes import LANDSCAPES, compute

    found = [compute(n) for n in below(name, LANDSCAPES)] or [compute(name.strip("/"))]
    if as_json:
        print_json([surface.json() for surface in found])
        return
    table = grid("landscape", "what it shows", "minima", "figure")
    for surface in found:
        minima = [f"({m['x']:.4g}, {m['y']:.4g}) {m['kind']}" for m in surface.json().get("minima", [])]
        table.add_row(
            surface.name.removeprefix("landscapes/"), surface.title, "\n".join(minima), surface.source
        )
    screen.show(table)
