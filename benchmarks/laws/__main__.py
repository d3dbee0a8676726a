"""``python -m benchmarks.laws results/beyond/laws``: the ladder beside its rivals."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.laws.run import contest, printed
from nalm.errors import NALMError


def main(
    path: Annotated[Path, typer.Argument(help="Where to write: PATH.trials.csv and PATH.json.")],
    rivals: Annotated[str, typer.Option(help="Some rivals, parted by commas; all if empty.")] = "",
    part: Annotated[str, typer.Option(help="Which laws: open, blind or all.")] = "open",
    suites: Annotated[str, typer.Option(help="Some of laws, cells, compositions, outside.")] = "",
    workers: Annotated[int, typer.Option(help="Processes; as many as there are cores if 0.")] = 0,
    seconds: Annotated[float, typer.Option(help="What a fit may take.")] = 60.0,
    quick: Annotated[bool, typer.Option("--quick", help="One seed, no noise.")] = False,
) -> None:
    """Fit every problem with every rival, and judge them far outside the data."""
    try:
        print(printed(contest(path, rivals, part, suites, workers, seconds, quick)))
    except NALMError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None


if __name__ == "__main__":
    typer.run(main)
