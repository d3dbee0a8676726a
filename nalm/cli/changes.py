"""Options of `nalm run` and `nalm show` that change experiments: your own units, sweeps, other lengths."""

from typing import TYPE_CHECKING, Annotated, Protocol

import typer

if TYPE_CHECKING:
    from nalm.lab.request import Changes

Only = Annotated[
    list[str] | None, typer.Option(help="KEY=VALUE, such as unit=NMU, range=1.1:1.2 or case=f7eefdb30cdb.")
]
Units = Annotated[list[str] | None, typer.Option(help="A unit of your own as FILE.py:Class.")]
Models = Annotated[
    list[str] | None, typer.Option(help="A model of several layers, such as NAU,my_unit.py:MyUnit.")
]
Like = Annotated[str, typer.Option(help="The published unit whose place and recipe your unit takes.")]
Sweeps = Annotated[
    list[str] | None, typer.Option(help="FIELD=VALUE,VALUE, such as recipe.lr=1e-4,1e-3 or task.inputs=2,10.")
]
Steps = Annotated[int | None, typer.Option(help="Train this many steps instead of the published number.")]
Epochs = Annotated[int | None, typer.Option(help="Train this many epochs; for experiments with images.")]
KeepSchedule = Annotated[
    bool, typer.Option("--keep-schedule", help="With --steps: keep the steps at which penalties set in.")
]


class Options(Protocol):
    """The fields of a command's options from which changes are made."""

    @property
    def only(self) -> list[str] | None: ...
    @property
    def unit(self) -> list[str] | None: ...
    @property
    def model(self) -> list[str] | None: ...
    @property
    def like(self) -> str: ...
    @property
    def sweep(self) -> list[str] | None: ...
    @property
    def steps(self) -> int | None: ...
    @property
    def epochs(self) -> int | None: ...
    @property
    def keep_schedule(self) -> bool: ...


def changes(options: Options) -> "Changes":
    """Return the changes that a person asks for."""
    from nalm.lab.request import Changes

    return Changes(
        only=options.only or (),
        units=options.unit or (),
        models=options.model or (),
        like=options.like,
        sweeps=options.sweep or (),
        steps=options.steps,
        epochs=options.epochs,
        keep_schedule=options.keep_schedule,
    )
