"""The command line, as a person would use it."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import nalm
from nalm import cli
from nalm.claims import ClaimVerdict
from nalm.cli.run_output import agreement
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_the_checkout_runs_without_installation():
    """-S hides site-packages of an editable install only if the path is given: run from the root."""
    output = subprocess.check_output([sys.executable, "-m", "nalm", "--version"], cwd=ROOT, text=True)
    assert output.strip() == f"nalm {nalm.__version__}"


def test_units_are_listed():
    listing = run("units")
    for name in nalm.UNITS:
        assert name in listing


def test_the_page_about_units_is_the_generated_one():
    assert (ROOT / "docs" / "units.md").read_text("utf-8") == run("units", "--markdown")


def test_a_mistake_ends_in_one_sentence(monkeypatch, capsys):
    def fail() -> None:
        raise NALMError("There is no such thing.")

    monkeypatch.setattr(cli, "app", fail)
    try:
        cli.main()
    except SystemExit as stop:
        assert stop.code == 2
    assert capsys.readouterr().err == "nalm: There is no such thing.\n"


def test_numbers_that_cannot_be_compared_are_not_said_to_differ():
    claim = EXPERIMENTS["mnist/colour"].claims[0]
    short = ClaimVerdict(claim, None, "cannot tell", "epochs 61 to 1,000 are missing")
    same, other = (ClaimVerdict(claim, None, word, "") for word in ("agrees", "differs"))
    assert agreement([short]) == (
        "Of none of them can be told yet whether it agrees: epochs 61 to 1,000 are missing."
    )
    assert agreement([short, same, other]) == "Of 3 published numbers 1 agree, 1 differ, 1 cannot be told."


@pytest.mark.parametrize("name", ["mnist/division", "mnist/sequence-losses", "thesis/ch5/main"])
def test_names_that_one_asks_for_are_never_cut(name):
    shown = run("show", name)
    assert "…" not in shown.split("Ranges:")[0]
    assert all(len(line) <= 80 for line in shown.splitlines())
