"""Commands about results files: putting several together, and finding out whether they are true."""

import random
from pathlib import Path
from typing import Annotated

import typer

from nalm.cli.app import OUT, Device, Out, app

SHOWN = 20  # findings that are printed


@app.command()
def merge(
    sources: Annotated[list[Path], typer.Argument(help="Results files, or folders that hold one.")],
    into: Annotated[Path, typer.Option("--into", "-o", help="The file to write, which ends in .db.")],
) -> None:
    """Put several results files together; two answers to one question must agree to 1e-4."""
    from nalm.results.merge import merge as put_together

    found = put_together(sources, into)
    typer.echo(f"{found.path}: {found.runs:,} runs, {found.shared:,} of them in several files, which agree.")


@app.command()
def verify(
    out: Out = OUT,
    sample: Annotated[int, typer.Option(help="How many runs to train again.")] = 3,
    seed: Annotated[int, typer.Option(help="Which ones; -1 for others every time.")] = -1,
    device: Device = "auto",
    data: Annotated[str, typer.Option(help="The folder of MNIST's files; default: NALM_DATA.")] = "",
) -> None:
    """Compute every derived number again from curves and weights, and train some runs again."""
    from nalm.lab import verify as again
    from nalm.results.store import Store

    if sample < 0:
        from nalm.errors import NALMError

        raise NALMError(f"--sample takes a number of 0 or more, got {sample}.")
    with Store(out) as store:
        outcomes = store.outcomes()
        wrong = list(again.recompute(store))
        runs = "1 run" if len(outcomes) == 1 else f"{len(outcomes):,} runs"
        typer.echo(f"{runs} recomputed: {_count(len(wrong))}.")
        which = seed if seed >= 0 else random.SystemRandom().randrange(2**31)
        for o in again.sample(outcomes, sample, which):
            found = again.train_again(store, o, device, data)
            wrong += found
            told = "; ".join(map(str, found)) or "as stored"
            typer.echo(f"Trained again: {o.case.name} seed {o.seed} ({o.outcome}): {told}.")
    for finding in wrong[:SHOWN]:
        typer.echo(f"  {finding}", err=True)
    if len(wrong) > SHOWN:
        typer.echo(f"  ... and {len(wrong) - SHOWN} more", err=True)
    if wrong:
        raise typer.Exit(1)


def _count(findings: int) -> str:
    many = "1 number is" if findings == 1 else f"{findings:,} numbers are"
    return "nothing is wrong" if not findings else f"{many} wrong"
