"""Commands about the library itself: its units, and how fast it is."""

from typing import Annotated

import typer

from nalm.cli.app import Device, Json, app


@app.command()
def units(
    markdown: Annotated[bool, typer.Option(help="As the Markdown page docs/units.md.")] = False,
) -> None:
    """List every unit: what it can represent, and its number of parameters."""
    from nalm import capabilities

    if markdown:
        typer.echo(capabilities.markdown(), nl=False)
        return
    from rich.console import Console

    Console().print(capabilities.table())


@app.command()
def bench(
    json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Compiled only, without the growth curves.")] = False,
    device: Device = "auto",
) -> None:
    """Measure the engine against a plain loop that trains one module at a time."""
    from nalm import bench

    bench.report(device, as_json=json, quick=quick)
