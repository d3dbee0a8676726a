"""Every nalm command shown in README, CONTRIBUTING and docs has options and experiments that exist."""

import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer

from nalm.cli import app
from nalm.cli.changes import changes
from nalm.experiments import experiments
from nalm.lab import request

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PLACEHOLDERS = ("A", "B", "C", "NAME")  # of names of experiments
INLINE = re.compile(r"`(nalm [a-z-][^`\n]*)`")


def commands(text: str) -> list[str]:
    """Return the nalm commands in blocks of code and between backticks."""
    found, inside = [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif inside:
            parts = line.partition("#")[0].split(";")
            found += [part.strip() for part in parts if re.match(r" *nalm [a-z-]", part)]
        else:
            found += INLINE.findall(line)
    return found


SHOWN = sorted({command for page in PAGES for command in commands(page.read_text("utf-8"))})


def test_commands_are_found_in_blocks_and_in_sentences():
    text = "```python\nimport nalm\n```\nSee `nalm list`:\n```sh\nnalm run quick; nalm status  # both\nnalm/\n```\n"
    assert commands(text) == ["nalm list", "nalm run quick", "nalm status"]


@pytest.mark.parametrize("command", SHOWN)
def test_a_documented_command_is_accepted(command):
    words = shlex.split(command.partition(">")[0])[1:]
    group = typer.main.get_command(app)
    if words[0].startswith("-"):
        assert words[0] in {option for p in group.params for option in p.opts} | {"--help"}
        return
    sub = group.get_command(None, words[0])
    assert sub is not None
    if len(words) == 1:  # the name of a command in a sentence
        return
    options = sub.make_context(words[0], words[1:]).params
    published = [
        name for name in options.get("names") or () if name not in PLACEHOLDERS and name[-3:] != ".py"
    ]
    for name in published:
        assert experiments(name)
    if words[0] == "run" and published and not options["unit"] and not options["model"]:
        assert request.experiments(
            published, options["seeds"], changes(SimpleNamespace(**options))
        ).experiments
