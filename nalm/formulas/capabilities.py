"""A table of what each unit can represent, computed from the units: Table 2.1 of Mistry 2023 for all of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from nalm.operations import OPERATIONS
from nalm.operations import operation as find_operation
from nalm.units import UNITS, Unit

if TYPE_CHECKING:
    from rich.table import Table

GATES = {"gate", "negate", "output"}


@dataclass(frozen=True)
class Capability:
    """One row of the table."""

    unit: str
    operations: tuple[str, ...]
    powers: str  # any, |p|≤1, or none
    gating: bool
    negative: bool  # right for negative inputs too
    discrete: bool  # a penalty moves its weights to discrete values
    parameters: str  # as a formula of I inputs and O outputs


def capability(unit: type[Unit]) -> Capability:
    """Return what one unit can represent.

    >>> from nalm.units import NMU
    >>> capability(NMU)
    Capability(unit='NMU', operations=('multiply', 'select'), powers='none', gating=False,
               negative=True, discrete=True, parameters='IO')
    """
    built = unit(3, 2, generator=torch.Generator())
    powers = ("any" if "square" in unit.gold else "|p|≤1") if "sqrt" in unit.gold else "none"
    return Capability(
        unit.__name__,
        tuple(name for name in OPERATIONS if name in unit.gold),
        powers,
        bool(GATES & set(built.weights())),
        _right_for_negatives(unit),
        "weight" in built.penalties(),
        _parameters(unit),
    )


@torch.no_grad()
def _right_for_negatives(unit: type[Unit]) -> bool:
    """Test whether solved units are right for every sign of their operands; logic has no signs."""
    if unit.accepts == "positive":
        return False
    for name in unit.gold:
        operation = OPERATIONS[name]
        if operation.kind == "logic":
            return False
        if name == "sqrt":
            continue
        solved = unit.solved(name, max(2, operation.arity) if unit.ignores else operation.arity).double()
        x = torch.tensor([[-3.0, 2.0], [3.0, -2.0], [-3.0, -2.0]]).double()[:, : solved.in_features]
        truth = operation.formula(*x.unbind(-1)[: operation.arity])
        if not torch.allclose(solved(x).squeeze(-1), truth):
            return False
    return True


def _parameters(unit: type[Unit]) -> str:
    """Return the number of parameters as a formula, determined by counting the parameters of five sizes."""

    def count(i: int, o: int) -> int:
        return sum(p.numel() for p in unit(i, o, device="meta").parameters())

    # count = a IO + b I + c O
    a = count(3, 3) - count(2, 3) - count(3, 2) + count(2, 2)
    b = count(3, 2) - count(2, 2) - 2 * a
    c = count(2, 3) - count(2, 2) - 2 * a
    assert count(5, 7) == 35 * a + 5 * b + 7 * c, f"{unit.__name__} is not counted by IO, I and O"
    terms = [(a, "IO"), (b, "I"), (c, "O")]
    return "+".join(f"{n if n > 1 else ''}{name}" for n, name in terms if n)


def capabilities(operation: str = "") -> list[Capability]:
    """Return one row per published unit, or per unit that can represent an operation."""
    if operation:
        find_operation(operation)
    return [capability(unit) for unit in UNITS.values() if not operation or operation in unit.gold]


LEGEND = (  # what the columns mean
    "`operations`: " + ", ".join(f"{o.sign} {o.name}" for o in OPERATIONS.values()) + ".",
    "`powers`: exponents to which it can raise an input. `signs`: also right for negative inputs.",
    "`discrete`: a penalty moves its weights to discrete values. `parameters`: for I inputs and O outputs.",
)
_HEAD = ("unit", "operations", "powers", "gate", "signs", "discrete", "parameters")


def _cells(row: Capability) -> tuple[str, ...]:
    marks = ("yes" if flag else "" for flag in (row.gating, row.negative, row.discrete))
    powers = "" if row.powers == "none" else row.powers
    signs = " ".join(OPERATIONS[name].sign for name in row.operations)
    return (row.unit, signs, powers, *marks, row.parameters)


def markdown() -> str:
    """Return the page docs/units.md."""
    lines = [
        "# Units",
        "",
        "What each unit can represent exactly, computed from the units (`nalm units --markdown`).",
        *LEGEND,
        "",
        "| " + " | ".join(_HEAD) + " |",
        "|" + " --- |" * len(_HEAD),
        *(
            "| " + " | ".join(cell.replace("|", r"\|") for cell in _cells(row)) + " |"
            for row in capabilities()
        ),
    ]
    return "\n".join(lines) + "\n"


def table(operation: str = "") -> "Table":
    """Return the table for a terminal, of all units or of those that can represent an operation."""
    from rich.table import Table

    view = Table(title="What each unit can represent exactly", title_justify="left", box=None, pad_edge=False)
    for column in _HEAD:
        view.add_column(column, no_wrap=True)
    for row in capabilities(operation):
        view.add_row(*_cells(row))
    return view
