"""Tables on terminals of any width: no name is cut, and no line is longer than the terminal."""

import io

import pytest
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nalm.cli import screen
from nalm.cli.tables.experiments import shown
from nalm.experiments import EXPERIMENTS
from nalm.formulas import capabilities
from nalm.units import UNITS

WIDTHS = (40, 60, 80, 200)


def printed(part, width):
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    screen.show(part, console)
    return console.file.getvalue()


def words(text):
    return set(text.split())


def two_columns():
    table = Table("experiment", "what it asks", "cost", box=box.SIMPLE_HEAD)
    table.add_row("mnist/sequence-product", "Which loss learns the product of a sequence?", "2.5 h")
    table.add_row("thesis/ch5/module-resets", "[bold]Do[/] resets help a unit?", "")
    return table


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("make", "names"),
    [
        (two_columns, {"mnist/sequence-product", "thesis/ch5/module-resets", "Do", "2.5", "sequence?"}),
        (capabilities.table, set(UNITS)),
    ],
    ids=["table", "units"],
)
def test_no_name_is_cut_and_no_line_is_longer_than_the_terminal(make, names, width):
    text = printed(make(), width)
    assert names <= words(text)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["quick", "mnist/division", "mnist/sequence-losses", "thesis/ch5/main"])
def test_every_width_shows_all_models_of_an_experiment(name, width):
    parts = list(shown(EXPERIMENTS[name]))
    text = "\n".join(printed(part, width) for part in parts)
    models = {layer.unit for case in EXPERIMENTS[name].cases for layer in case.model}
    assert all(model in text for model in models)
    assert max(map(len, text.splitlines())) <= width


def test_a_table_that_fits_has_one_line_per_row():
    lines = printed(two_columns(), 200).splitlines()
    assert sum("mnist/sequence-product" in line and "2.5 h" in line for line in lines) == 1


def test_a_table_that_does_not_fit_gives_every_cell_its_title():
    lines = [line.rstrip() for line in printed(two_columns(), 40).splitlines()]
    assert lines[0] == "mnist/sequence-product"
    assert "  cost: 2.5 h" in lines
    assert lines[-2:] == [
        "thesis/ch5/module-resets",
        "  what it asks: Do resets help a unit?",
    ]  # no empty cell


def test_a_column_that_must_not_wrap_is_not_broken():
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("name")
    table.add_column("value", no_wrap=True)
    table.add_row("a", "1.25 of 3.75 and more")
    for width in (20, 30):
        assert all(len(line) <= width for line in printed(table, width).splitlines())
    assert "1.25 of 3.75 and more" in printed(table, 30)


def test_a_formula_longer_than_any_terminal_is_folded_and_not_cut():
    formula = "*".join("abcdefghij" * 9)
    table = Table("unit", "formula")
    table.add_row("NMU", Text(formula))
    for width in WIDTHS:
        text = printed(table, width)
        assert max(map(len, text.splitlines())) <= width
        assert formula in "".join(c for c in text if c.isascii() and (c.isalpha() or c == "*")), width


def test_text_is_printed_as_it_is():
    assert printed("Nothing [bold]is[/] left.", 80) == "Nothing is left.\n"
