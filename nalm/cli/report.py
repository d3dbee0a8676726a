"""The command report: results as one HTML page, or as figures for a paper."""

from pathlib import Path
from typing import Annotated

import typer

from nalm.cli.app import app, shipped_or


@app.command()
def report(
    source: Annotated[str, typer.Option("--from", help="A results folder, or shipped tables.")] = "results",
    experiment: Annotated[str, typer.Option(help="Only this experiment, or all below a prefix.")] = "",
    page: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    figures: Annotated[
        Path | None, typer.Option(help="Write figures and LaTeX tables into this folder instead.")
    ] = None,
    format_: Annotated[str, typer.Option("--format", help="Format of the figures: pdf, svg or png.")] = "pdf",
) -> None:
    """Make one offline page of results beside the published numbers, or figures for a paper."""
    where = shipped_or(source)
    if figures is not None:
        from nalm.report import static

        for path in static.write(where, figures, format_, experiment):
            typer.echo(path)
        return
    from nalm.report import page as pages

    written = pages.write(where, page, experiment)
    typer.echo(f"{written} ({written.stat().st_size / 1e6:.1f} MB)")
    if open_:
        typer.launch(written.absolute().as_uri())
