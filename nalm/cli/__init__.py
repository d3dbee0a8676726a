"""The command line: one file per command, registered by its import here; tables and other output beside them.

May import everything but benchmarks. Heavy imports happen inside the commands, so that help answers at once.
"""

import sys

import typer

from nalm.cli import bench as bench
from nalm.cli import compare as compare
from nalm.cli import coverage as coverage
from nalm.cli import delete as delete
from nalm.cli import experiments as experiments
from nalm.cli import export as export
from nalm.cli import fit as fit
from nalm.cli import merge as merge
from nalm.cli import new as new
from nalm.cli import ode as ode
from nalm.cli import predict as predict
from nalm.cli import report as report
from nalm.cli import run as run
from nalm.cli import status as status
from nalm.cli import units as units
from nalm.cli import verify as verify
from nalm.cli.app import app
from nalm.cli.output import output
from nalm.cli.stopping import stoppable
from nalm.errors import NALMError


def main() -> None:
    """Run the command line; print a NALMError as one sentence and exit with code 2."""
    with output():
        try:
            with stoppable():
                app()
        except NALMError as error:
            typer.echo(f"nalm: {error}", err=True)
            sys.exit(2)
