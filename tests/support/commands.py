"""Commands of nalm called inside a test."""

from typer.testing import CliRunner

from nalm import cli
from nalm.errors import NALMError


def run(command: str, *arguments: object):
    """Run a command; raise its error as it is, and fail if it ends with another status than 0."""
    result = CliRunner().invoke(cli.app, [command, *map(str, arguments)])
    if isinstance(result.exception, NALMError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result
