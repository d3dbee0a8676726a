"""The command verify: check the numbers of a results folder."""

import random
from pathlib import Path
from typing import Annotated

import typer

from nalm.cli.app import OUT, Device, Out, app
from nalm.cli.changes import Units

SHOWN = 20  # findings that are printed


@app.command()
def verify(
    out: Out = OUT,
    sample: Annotated[int, typer.Option(help="How many runs to train again.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the choice; -1 chooses other runs every time.")] = -1,
    device: Device = "auto",
    data: Annotated[str, typer.Option(help="The folder of MNIST's files; default: NALM_DATA.")] = "",
    unit: Units = None,
) -> None:
    """Recompute every derived number from curves and weights, and train some runs again.

    Weights and formulas of your own unit are checked if its file is named with --unit; other numbers always are.
    """
    from nalm.lab import verify as lab
    from nalm.results.store import Store

    if sample < 0:
        from nalm.errors import NALMError

        raise NALMError(f"--sample takes a number of 0 or more, got {sample}.")
    for spelling in unit or ():
        from nalm.units.own import load

        load(spelling)
    with Store(out) as store:
        outcomes = store.outcomes()
        wrong = list(lab.recompute(store))
        typer.echo(f"{_runs(len(outcomes))} recomputed: {_count(len(wrong))}.")
        for name, count in lab.unknown_units(outcomes).items():
            typer.echo(
                f"{_runs(count)} of {name}: weights and formulas not checked. {_remedy(name, store.folder)}"
            )
        which = seed if seed >= 0 else random.SystemRandom().randrange(2**31)
        for o in lab.sample(outcomes, sample, which):
            found = lab.train_again(store, o, device, data)
            wrong += found
            result = "; ".join(map(str, found)) or "as stored"
            typer.echo(f"Trained again: {o.case.name} seed {o.seed} ({o.outcome}): {result}.")
    for finding in wrong[:SHOWN]:
        typer.echo(f"  {finding}", err=True)
    if len(wrong) > SHOWN:
        typer.echo(f"  ... and {len(wrong) - SHOWN} more", err=True)
    if wrong:
        raise typer.Exit(1)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def _remedy(name: str, folder: Path) -> str:
    """Return how to check a unit that is not at hand: with a copy of its file in the folder, or its file."""
    from nalm.results.store import OWN_UNITS
    from nalm.units.own import copy_of

    if "@" not in name:
        return "This version of nalm has no such unit."
    file = (
        copy_of(name, folder / OWN_UNITS)
        or f"FILE.py:{name.partition('@')[0]}, as it was when they were trained"
    )
    return f"Add --unit {file}"


def _count(findings: int) -> str:
    many = "1 number is" if findings == 1 else f"{findings:,} numbers are"
    return "nothing is wrong" if not findings else f"{many} wrong"
