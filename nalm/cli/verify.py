"""The command verify: check the numbers of a results folder."""

import random
from typing import Annotated

import typer

from nalm.cli.app import OUT, Device, Out, app

SHOWN = 20  # findings that are printed


@app.command()
def verify(
    out: Out = OUT,
    sample: Annotated[int, typer.Option(help="How many runs to train lab.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the choice; -1 chooses other runs every time.")] = -1,
    device: Device = "auto",
    data: Annotated[str, typer.Option(help="The folder of MNIST's files; default: NALM_DATA.")] = "",
) -> None:
    """Recompute every derived number from curves and weights, and train some runs lab."""
    from nalm.lab import verify as lab
    from nalm.results.store import Store

    if sample < 0:
        from nalm.errors import NALMError

        raise NALMError(f"--sample takes a number of 0 or more, got {sample}.")
    with Store(out) as store:
        outcomes = store.outcomes()
        wrong = list(lab.recompute(store))
        runs = "1 run" if len(outcomes) == 1 else f"{len(outcomes):,} runs"
        typer.echo(f"{runs} recomputed: {_count(len(wrong))}.")
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


def _count(findings: int) -> str:
    many = "1 number is" if findings == 1 else f"{findings:,} numbers are"
    return "nothing is wrong" if not findings else f"{many} wrong"
