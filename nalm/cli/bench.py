"""The command bench: how fast the engine trains."""

from typing import Annotated

import typer

from nalm.cli.app import Device, Json, app


@app.command()
def bench(
    what: Annotated[
        str, typer.Argument(help="Leave out for units; mnist for networks that read images.")
    ] = "",
    json: Json = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Units: compiled only, without the growth curves.")
    ] = False,
    forms: Annotated[
        bool,
        typer.Option("--forms", help="mnist: every form of the convolutions in every precision; minutes."),
    ] = False,
    every_kernel: Annotated[
        bool, typer.Option("--kernels", help="mnist: what each kernel of a step of a batch takes instead.")
    ] = False,
    device: Device = "auto",
    data: Annotated[
        str,
        typer.Option(
            help="The folder of MNIST's files; default: digits made in code, which have no plain background that "
            "kernels could leave out."
        ),
    ] = "",
) -> None:
    """Measure the engine against a plain loop that trains one module, or one fold of images, at a time."""
    if what:
        from nalm.errors import unknown
        from nalm.lab.bench import images, kernels

        if what != "mnist":
            raise unknown("benchmark", what, ["mnist"])
        if every_kernel:
            kernels.report(device, as_json=json, data=data)
        else:
            images.report(device, as_json=json, forms=forms, data=data)
        return
    from nalm.lab.bench import numbers

    numbers.report(device, as_json=json, quick=quick)
