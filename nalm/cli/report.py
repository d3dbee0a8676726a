"""The command report: results as a site, as one HTML page, or as figures for a paper."""

from pathlib import Path
from typing import Annotated

import typer

from nalm.cli.app import app, shipped_or


@app.command()
def report(
    source: Annotated[str, typer.Option("--from", help="A results folder, or shipped tables.")] = "results",
    beside: Annotated[
        str, typer.Option(help="Show the units of this folder beside yours, such as results.")
    ] = "",
    experiment: Annotated[str, typer.Option(help="Only this experiment, or all below a prefix.")] = "",
    to: Annotated[Path, typer.Option(help="The folder of the site.")] = Path("report"),
    single: Annotated[
        Path | None, typer.Option(help="Write one HTML file that contains everything instead.")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
    figures: Annotated[
        Path | None, typer.Option(help="Write figures and LaTeX tables into this folder instead.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="Format of the figures: pdf, svg or png.")] = "pdf",
) -> None:
    """Make an offline site of results beside the published numbers, or figures for a paper.

    Pages whose runs have not changed since the last call are kept.
    """
    where, other = shipped_or(source), shipped_or(beside) if beside else ""
    if other:
        from nalm.results.beside import require_shared

        require_shared(where, other)
    if figures is not None:
        from nalm.report import static

        for path in static.write(where, figures, format_, experiment, other):
            typer.echo(path)
        return
    if single is not None:
        from nalm.report import page

        written = page.write(where, single, experiment, other)
        typer.echo(f"{written} ({written.stat().st_size / 1e6:.1f} MB)")
    else:
        from nalm.report import site

        made = site.write(where, to, experiment, other)
        written = made.index
        typer.echo(f"{written}: {made.made} pages of experiments made, {made.kept} not changed")
    if open_:
        typer.launch(written.absolute().as_uri())
