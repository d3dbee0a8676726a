"""The command coverage: what the documents behind the library hold, and what it has of it."""

from typing import Annotated

import typer

from nalm.cli.app import app


@app.command()
def coverage(
    results: Annotated[str, typer.Argument(help="A results folder: a store, or shipped tables.")] = "results",
) -> None:
    """Print the page docs/coverage.md: every table and figure of the papers beside what there is here of it."""
    from nalm.claims.coverage_page import markdown

    typer.echo(markdown(results), nl=False)
