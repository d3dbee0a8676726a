"""Commands about the library itself: its units, and how fast it is."""

from typing import Annotated

import typer

from nalm.cli import screen
from nalm.cli.app import Device, Json, app


@app.command()
def units(
    markdown: Annotated[bool, typer.Option(help="As the Markdown page docs/units.md.")] = False,
) -> None:
    """List every unit: what it can represent, and its number of parameters."""
    from nalm.formulas import capabilities

    if markdown:
        typer.echo(capabilities.markdown(), nl=False)
        return

    screen.show(capabilities.table())


@app.command()
def bench(
    what: Annotated[str, typer.Argument(help="Nothing for units, mnist for networks of images.")] = "",
    json: Json = False,
    quick: Annotated[bool, typer.Option("--quick", help="Compiled only, without the growth curves.")] = False,
    device: Device = "auto",
    data: Annotated[
        str, typer.Option(help="The folder of MNIST's files; default: digits made in code.")
    ] = "",
) -> None:
    """Measure the engine against a plain loop that trains one module, or one fold of images, at a time."""
    if what:
        from nalm.errors import unknown
        from nalm.lab.bench import images as bench_images

        if what != "mnist":
            raise unknown("benchmark", what, ["mnist"])
        bench_images.report(device, as_json=json, quick=quick, data=data)
        return
    from nalm.lab.bench import numbers as bench

    bench.report(device, as_json=json, quick=quick)
