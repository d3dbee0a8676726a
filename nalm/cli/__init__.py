"""The command line. Heavy imports happen inside the commands, so that help answers at once."""

import sys

import typer

from nalm.cli import compare as compare
from nalm.cli import fit as fit
from nalm.cli import lab as lab
from nalm.cli import merge_verify as merge_verify
from nalm.cli import ode as ode
from nalm.cli import predict as predict
from nalm.cli import report as report
from nalm.cli import units as units
from nalm.cli.app import app
from nalm.cli.output import output
from nalm.cli.stopping import stoppable
from nalm.errors import NALMError


def main() -> None:
    """Run the command line; a mistake of the user ends in one sentence and exit code 2."""
    with output():
        try:
            with stoppable():
                app()
        except NALMError as error:
            typer.echo(f"nalm: {error}", err=True)
            sys.exit(2)
