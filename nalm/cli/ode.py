"""The command ``nalm ode``: from a table over time to the system of equations behind it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nalm.cli.app import Json, app, print_json
from nalm.cli.stopping import code

if TYPE_CHECKING:
    import numpy as np

    from nalm.ode import System


@app.command("ode")
def ode_command(
    data: Annotated[Path, typer.Argument(help="A CSV, TSV or Parquet file.")],
    time: Annotated[str, typer.Option(help="The column of times.")],
    columns: Annotated[str, typer.Option(help="The variables: a,b. Default: all columns of numbers.")] = "",
    run: Annotated[
        str, typer.Option(help="A column that names the trajectory of each row, if there are several.")
    ] = "",
    error: Annotated[
        str, typer.Option(help="Columns with the standard errors of the variables: a=da,b=db.")
    ] = "",
    restarts: Annotated[int, typer.Option(help="Searches from other weights; the best is taken.")] = 10,
    max_time: Annotated[float, typer.Option(help="Seconds for the search.")] = 60.0,
    seed: Annotated[int, typer.Option(help="For the restarts.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the system: system.json.")] = None,
    json: Json = False,
) -> None:
    """Find the equations behind a trajectory, and say how far to trust them."""
    from nalm import ode
    from nalm.cli import fit_screen, tabular
    from nalm.discover.law.names import clean_names
    from nalm.errors import NALMError

    tabular.refuse_overwriting(data, save)
    errors = tabular.pairs(error, "--error")
    named = ",".join([columns, *dict.fromkeys(errors.values())]) if columns else None
    table = tabular.read(data, time, named, run or None, "time")
    table, (_, x_err) = tabular.without_errors(table, "", errors)
    if without := [n for n in table.names if errors and n not in errors]:
        raise NALMError(f"Column {without[0]} has no error: name one for each variable, or use --columns.")
    if not json:
        fit_screen.print_warnings(table)
    names = clean_names(table.names)
    t, x = _trajectories(table.x, table.y, table.labels)
    if x_err is not None:
        x_err = _trajectories(x_err, table.y, table.labels)[1]
    try:
        with fit_screen.elapsed_time(max_time):
            found = ode.fit(t, x, names, x_err=x_err, restarts=restarts, max_time=max_time, seed=seed)
    except KeyboardInterrupt as stopped:
        typer.echo("Stopped. --max-time ends a search with its best system.", err=True)
        raise typer.Exit(code(stopped)) from None
    if save is not None:
        found.save(save)
    if json:
        print_json({"file": data.name, "columns": list(table.names), **found.plain()})
        return
    _print_system(found, t, x, dict(zip(names, table.names, strict=True)))
    if save is not None:
        typer.echo(f"The system is in {save}.")


def _trajectories(x: "np.ndarray", y: Any, labels: tuple[str, ...] | None) -> tuple[Any, Any]:
    """Return times and states; lists of them if a column names the trajectories."""
    import numpy as np

    times = np.asarray(y)
    if labels is None:
        return times, x
    runs = [np.array([other == label for other in labels]) for label in dict.fromkeys(labels)]
    return [times[rows] for rows in runs], [x[rows] for rows in runs]


def _print_system(found: "System", t: Any, x: Any, columns: dict[str, str]) -> None:
    """Print the equations, the verdict, flags, intervals and plots of the simulation."""
    from nalm.cli import textplot
    from nalm.cli.fit_screen import can_print, fill, side_by_side
    from nalm.errors import NALMError

    typer.echo("\n" + "\n".join(f"  {line}" for line in found.formula.splitlines()) + "\n")
    typer.echo(fill(f"{found.verdict}: {found.tested} {found.meaning}"))
    for flag in found.flags:
        typer.echo(fill(f"Beware: {flag}."))
    for name, column in columns.items():
        if name != column:
            typer.echo(f"{name} is the column {column!r}.")
    if found.restarts[1] > 1:
        typer.echo("{} of {} restarts found this structure by themselves.".format(*found.restarts))
    for n in found.intervals:
        typer.echo(f"  {n.where}: {n.value:.5g}, 95% interval {n.low:.5g} to {n.high:.5g}")
    times, states = (t[0], x[0]) if isinstance(t, list) else (t, x)
    try:
        simulated = found.simulate(times, found.start[0], max_time=5.0)
    except NALMError as error:
        typer.echo(str(error))
        return
    braille = can_print("⠿")
    for j, name in enumerate(found.names):
        left = textplot.scatter(
            times, simulated[:, j], title=f"{name}, simulated, over time", braille=braille
        )
        off = states[:, j] - simulated[:, j]
        right = textplot.scatter(times, off, title=f"{name} - simulated, over time", braille=braille)
        side_by_side(left, right)
