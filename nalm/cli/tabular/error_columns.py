"""Columns of a table that hold the standard errors of other columns."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from nalm.cli.tabular.table import Array, Table
from nalm.cli.tabular.warnings import column_warnings
from nalm.discover.law.names import shown
from nalm.errors import NALMError, unknown

Errors = tuple[Array | None, Array | None]  # of y and of x


def pairs(text: str, option: str) -> dict[str, str]:
    """Read pairs of columns and their errors, as an option of the command line gives them.

    >>> pairs("a=da, b=db", "--x-error")
    {'a': 'da', 'b': 'db'}
    """
    parts = [part.partition("=") for part in text.split(",")] if text.strip() else []
    if wrong := [name for name, sign, error in parts if not (name.strip() and sign and error.strip())]:
        raise NALMError(f"{option} names pairs such as a=da,b=db, got {wrong[0].strip()!r}.")
    return {name.strip(): error.strip() for name, _, error in parts}


def without_errors(table: Table, error: str, of_columns: Mapping[str, str]) -> tuple[Table, Errors]:
    """Remove the columns of standard errors; return the table and the errors, of y and of x, or None."""
    beside = [*([error] if error else []), *of_columns.values()]
    for name in beside:
        if name in table.targets:
            raise NALMError(f"Column {shown(name)} is a target and cannot hold errors: name another column.")
        if name not in table.names:
            raise unknown("column of errors", name, table.names)
    if own := [name for name in of_columns if name in beside]:
        raise NALMError(f"Column {shown(own[0])} holds errors and has none itself: name another column.")
    kept = [k for k, name in enumerate(table.names) if name not in beside]
    names = tuple(table.names[k] for k in kept)
    x_err = np.zeros((len(table.x), len(names))) if of_columns else None
    for name, of in of_columns.items():
        if name not in names:
            raise unknown("column with an error", name, names)
        assert x_err is not None
        x_err[:, names.index(name)] = table.x[:, table.names.index(of)]
    y_err = table.x[:, table.names.index(error)] if error else None
    if y_err is not None and not (y_err > 0).all():
        k = int(np.argmin(y_err > 0))
        raise NALMError(
            f"Column {shown(error)} holds errors, which are above 0, but row {k + 1} has {y_err[k]:.6g}: "
            "leave such rows out."
        )
    x = table.x[:, kept]
    about_all = column_warnings([shown(n) for n in table.names], table.x) if beside else []
    notes = [sentence for sentence in table.warnings if sentence not in about_all]
    notes += column_warnings([shown(n) for n in names], x) if beside else []
    return replace(table, names=names, x=x, warnings=notes), (y_err, x_err)
