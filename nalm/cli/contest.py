"""Units within one results folder, for `nalm compare`: two of them in pairs of runs, or all of them ranked."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nalm.cli import screen
from nalm.cli.app import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nalm.results.contest import Named


def units_of(
    folders: "Sequence[Path]",
    experiment: str,
    units: tuple[str, str] | None,
    figure: Path | None,
    as_json: bool,
) -> None:
    """Compare two units of a folder, or rank all of them; a second folder has other units of the same experiments."""
    from nalm.cli.tables import contest as tables
    from nalm.errors import NALMError
    from nalm.results import source
    from nalm.results.contest import contest
    from nalm.results.counted import counted
    from nalm.results.ranking import ranking

    named, notes = _named(folders, experiment)
    if not as_json:
        for note in notes:
            typer.echo(note, err=True)
    if units is None:
        if figure is not None:
            raise NALMError("--figure draws the comparison of two units: name them with --units A B.")
        places = ranking(named)
        if as_json:
            print_json([tables.plain(group, rows) for group, rows in places.items()])
            return
        for part in tables.ranked(places):
            screen.show(part)
        return
    found = contest(named, *units)
    tallies = (t for folder in folders for of in source.tallies(folder).values() for t in of)
    counts = counted(named, tallies, *units)
    if figure is not None:
        from nalm.report.contest import draw

        typer.echo(draw(found, figure), err=as_json)
    if as_json:
        print_json(found.plain() | {"counted": [row.plain() for row in counts]})
        return
    for part in (*tables.compared(found), *tables.counted(counts, *units)):
        screen.show(part)


def _named(folders: "Sequence[Path]", experiment: str) -> "tuple[Named, list[str]]":
    """Read the runs of a folder by the names of their cases, and sentences about short trainings."""
    from nalm.errors import unknown
    from nalm.experiments import below
    from nalm.experiments.lengths import shorter
    from nalm.experiments.names import names
    from nalm.results import beside
    from nalm.results.contest import by_name

    results = beside.outcomes(*folders)
    chosen = below(experiment, results)
    if not chosen:
        raise unknown(f"experiment in {folders[0]}", experiment, results)
    kept = {name: results[name] for name in chosen}
    called = {name: names(name, (o.case for o in runs)) for name, runs in kept.items()}
    notes = shorter({name: [o.case for o in runs] for name, runs in kept.items()})
    return by_name(kept, {name: (found.labels, found.places) for name, found in called.items()}), notes
