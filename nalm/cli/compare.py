"""The commands compare and suggest: two folders, one folder and the published numbers, units within a folder."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nalm.cli import screen
from nalm.cli.app import Json, app, print_json, shipped_or

if TYPE_CHECKING:
    from nalm.claims import ClaimVerdict

PUBLISHED = "published"


@app.command()
def compare(
    a: Annotated[str, typer.Argument(help="A results folder: a store, or shipped tables.")],
    b: Annotated[
        str, typer.Argument(help="Another one, or the word published; without it, units within the first.")
    ] = "",
    units: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="Two units of one folder, paired by range and seed."),
    ] = None,
    beside: Annotated[
        str,
        typer.Option(help="Also take the units of this folder, such as results, in the same experiments."),
    ] = "",
    experiment: Annotated[str, typer.Option(help="Only this experiment, or all below a prefix.")] = "",
    figure: Annotated[
        Path | None, typer.Option(help="With --units: draw the differences (.pdf, .svg, .png).")
    ] = None,
    json: Json = False,
) -> None:
    """Compare two results folders case by case and seed by seed, or one with the published claims.

    With one folder alone, its units are ranked; --units compares two of them. Runs are paired by task and seed, and
    p values are corrected by Holm's method.
    """
    from nalm.claims.compare import compare_results
    from nalm.cli.tables import verdicts as verdict_tables
    from nalm.errors import NALMError
    from nalm.experiments.lengths import shorter
    from nalm.results import source
    from nalm.results.compare import compare as find_changes

    if a == PUBLISHED:
        raise NALMError(f"The word {PUBLISHED} comes second: nalm compare FOLDER {PUBLISHED}.")
    if (units or figure or experiment or beside) and b:
        raise NALMError(
            "--units, --beside, --experiment and --figure compare units within one folder: give one folder alone."
        )
    if not b:
        from nalm.cli import contest

        folders = [shipped_or(folder) for folder in (a, beside) if folder]
        contest.units_of(folders, experiment, units, figure, json)
        return
    if b == PUBLISHED:
        folder = shipped_or(a)
        runs = source.outcomes(folder)
        _published(compare_results(folder, runs), json)
        if not json:
            for note in shorter({name: [o.case for o in found] for name, found in runs.items()}):
                typer.echo(note, err=True)
        return
    found = find_changes(*(source.outcomes(shipped_or(folder)) for folder in (a, b)))
    if json:
        print_json([change.plain() for change in found])
        return
    for part in verdict_tables.changes(found):
        screen.show(part)


def _published(found: "dict[str, list[ClaimVerdict]]", as_json: bool) -> None:
    """Print the claims that differ from ours, and how many of each paper agree, differ or cannot be told."""

    from nalm.claims.compare import totals
    from nalm.cli.tables import results as tables
    from nalm.cli.tables import verdicts as verdict_tables

    counts = totals(found)
    if as_json:
        numbers = [_plain(name, v) for name, verdicts in found.items() for v in verdicts]
        print_json({"totals": counts, "numbers": numbers})
        return
    every = [v for verdicts in found.values() for v in verdicts]
    differ = sorted((v for v in every if v.verdict == "differs"), key=lambda v: v.corrected or 0.0)
    if differ:
        screen.show(tables.beside(differ[: verdict_tables.LINES]))
    if len(differ) > verdict_tables.LINES:
        typer.echo(f"... and {len(differ) - verdict_tables.LINES} more; --json lists all.")
    screen.show(verdict_tables.totals(counts))
    compared = [v for v in every if v.compared]
    rest = [v for v in every if not v.compared]
    typer.echo(
        f"{len(differ)} of {len(compared)} published numbers differ from ours; {len(rest)} cannot be told."
    )
    if rest and not compared:  # reasons about existing runs are more telling than missing runs
        reasons = Counter(v.reason for v in rest if v.ours is not None) or Counter(v.reason for v in rest)
        typer.echo(f"Most of them: {reasons.most_common(1)[0][0]}.")


def _plain(experiment: str, v: "ClaimVerdict") -> dict[str, Any]:
    from nalm.results.compare import plain_interval

    about = (
        "unit",
        "operation",
        "where",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "source",
        "place",
        "cited",
        "how",
    )
    claim = {name: getattr(v.claim, name) for name in about}
    tested = {"p": v.p, "p_holm": v.corrected, "runs_needed": v.needed, "why": v.reason}
    return {"experiment": experiment, **claim, "ours": plain_interval(v.ours), "verdict": v.verdict, **tested}


@app.command()
def suggest(
    operation: Annotated[str, typer.Option(help="What is to be learnt, such as divide.")],
    between: Annotated[
        tuple[float, float], typer.Option("--range", metavar="LOW HIGH", help="Where the inputs lie.")
    ],
    inputs: Annotated[int, typer.Option(help="How many inputs there are, operands and others.")] = 2,
    operands: Annotated[
        int | None, typer.Option(help="How many of them the operation takes.", show_default="as usual")
    ] = None,
    json: Json = False,
) -> None:
    """Name the best unit and recipe for a problem, from the results that come with the package."""
    from nalm.lab.suggest import suggest as find_best
    from nalm.operations import COMPOSITIONS

    found = find_best(operation, *between, inputs, operands=operands)
    if json:
        print_json(found.plain())
        return

    from nalm.cli.tables import verdicts as verdict_tables

    for part in verdict_tables.suggestion(found):
        screen.show(part)
    if found.code:
        typer.echo(f"Use it:        {found.code}")
        if found.loss:
            typer.echo(f"Its loss:      {found.loss}")
    if found.best and found.best.command:
        typer.echo(f"Reproduce it:  {found.best.command}")
    if found.closed_form:
        typer.echo(
            f"From a table:  {found.closed_form} finds such a law without training (docs/discovery.md)"
        )
    if found.operation in COMPOSITIONS:
        typer.echo("As a network:  nalm.compose(X, y) trains such a composition (docs/discovery.md)")
    if found.snippet:
        typer.echo(f"Try it:\n\n{found.snippet}")
