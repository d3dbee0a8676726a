"""The command delete: runs and experiments that are not wanted any more."""

from typing import Annotated

import typer

from nalm.cli.app import OUT, Out, app
from nalm.cli.changes import Only


@app.command()
def delete(
    name: Annotated[
        str, typer.Argument(help="An experiment or a prefix, or the first letters of a case's key.")
    ],
    out: Out = OUT,
    only: Only = None,
    steps: Annotated[int, typer.Option(help="Only runs with this number of steps.")] = 0,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Delete the runs of an experiment or a case from a results folder; the published results are not touched.

    With --only or --steps the runs of some cases are deleted and the experiment stays.
    """
    from nalm.errors import NALMError, unknown
    from nalm.experiments import below
    from nalm.experiments.select import chosen
    from nalm.results import deletion
    from nalm.results.store import Store

    with Store(out) as store:
        names = below(name, store.experiments())
        cases = [case for e in names for case in store.cases(e)]
        cases = cases or [case for case in store.cases() if case.hash.startswith(name)]
        if not cases:
            raise unknown(f"experiment or case in {out}", name, store.experiments())
        if names and not only and not steps:
            what = deletion.of_experiments(store, names)
        else:
            some = [case for case in chosen(cases, only or []) if not steps or case.recipe.steps == steps]
            what = deletion.of_cases(store, some)
            if not what.runs:
                raise NALMError(f"No finished run of {name} in {out} matches that.")
    also = f" and the experiment{'s' if len(what.experiments) > 1 else ''} {', '.join(what.experiments)}"
    typer.echo(f"{len(what.runs):,} runs{also if what.experiments else ''} in {out} will be deleted.")
    if what.shared:
        typer.echo(f"{what.shared:,} more stay, because another experiment has them too.")
    if not yes:
        typer.confirm("Delete them?", abort=True)
    with Store(out, create=True) as store:
        deletion.delete(store, what)
    typer.echo("Deleted.")
