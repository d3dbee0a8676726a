"""The command ``nalm fit``: from a table to the law behind it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nalm.cli.app import Json, app, print_json
from nalm.cli.stopping import code

if TYPE_CHECKING:
    from nalm.cli.tabular import Errors, Table
    from nalm.discover.regressor import NALMRegressor


@app.command()
def fit(
    data: Annotated[Path, typer.Argument(help="A CSV, TSV or Parquet file.")],
    target: Annotated[str, typer.Option(help="The column to explain, or several: y1,y2.")],
    columns: Annotated[
        str, typer.Option(help="Explain it by these only: a,b. Default: all of numbers.")
    ] = "",
    noise: Annotated[
        float | None,
        typer.Option(help="Of the target, as a share of its spread; 0: exact laws only. Default: either."),
    ] = None,
    max_time: Annotated[float, typer.Option(help="Seconds for the search.")] = 60.0,
    x_units: Annotated[
        str, typer.Option(help="Units of measurement: m,kg in the columns' order, or a=m,b=kg.")
    ] = "",
    y_unit: Annotated[str, typer.Option(help="Unit of the target, or of several: m/s,J.")] = "",
    header_units: Annotated[
        bool,
        typer.Option("--header-units", help="Units of measurement are those of the headers: T [K], V (m3)."),
    ] = False,
    form: Annotated[
        str,
        typer.Option(help="Fit this form instead of searching: 'a*T*n/V + b'; other names are parameters."),
    ] = "",
    error: Annotated[str, typer.Option(help="The column with the standard error of the target.")] = "",
    x_error: Annotated[
        str, typer.Option(help="Columns with the standard errors of columns: a=da,b=db; with --error.")
    ] = "",
    bootstrap: Annotated[
        int, typer.Option(help="Intervals of numbers from so many draws of the rows; 0: from the curvature.")
    ] = 0,
    groups: Annotated[
        str,
        typer.Option(
            help="The column with the group of each row: one law, with numbers of each group's own."
        ),
    ] = "",
    contains: Annotated[str, typer.Option(help="Columns that the law must have: a,b.")] = "",
    without: Annotated[str, typer.Option(help="Columns that the law must not have: a,b.")] = "",
    exponents: Annotated[str, typer.Option(help="Exponents of the law: any, half or integer.")] = "any",
    functions: Annotated[
        str | None,
        typer.Option(help="The only functions that the law may have: exp,log; or none. Default: all."),
    ] = None,
    constants: Annotated[
        str, typer.Option(help="Constants of nature to offer for numbers and use in --form: R,g,k_B.")
    ] = "",
    select: Annotated[
        str, typer.Option(help="Which law of the front: evidence, knee, accurate, or its place: 0, 1, ...")
    ] = "evidence",
    digits: Annotated[
        int | None, typer.Option(help="Significant digits of the table. Default: read from its text.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes that search at the same time; -1: one per core.")] = 1,
    seed: Annotated[int, typer.Option(help="For which rows are held out.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the law for nalm predict: law.json.")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print the law in LaTeX, too.")] = False,
    python: Annotated[bool, typer.Option("--python", help="Print it as a Python function, too.")] = False,
    excel: Annotated[bool, typer.Option("--excel", help="Print it as the formula of a cell, too.")] = False,
    c: Annotated[bool, typer.Option("--c", help="Print it as a function in C, too.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write an offline page with plots.")] = None,
    json: Json = False,
) -> None:
    """Find the law behind a table, and say what is proven of it."""
    from nalm.cli import fit_output, fit_screen, tabular
    from nalm.discover.regressor import NALMRegressor

    tabular.refuse_overwriting(data, save, html)
    if html is not None:
        from nalm.report import fit_page

        fit_page.needed()
    of_columns = tabular.pairs(x_error, "--x-error")
    beside = dict.fromkeys([*([error] if error else []), *of_columns.values()])
    named = ",".join([columns, *beside]) if columns else None
    table = tabular.read(data, target, named, groups or None)
    table, errors = tabular.without_errors(table, error, of_columns)
    if not json:
        fit_screen.print_warnings(table)
    x_unit, y_units = _units(x_units, table.names), _units(y_unit, table.targets)
    if header_units:
        x_unit, y_units = (x_unit or _of_headers(table.names)), (y_units or _of_headers(table.targets))
    regressor = NALMRegressor(
        noise=noise,
        max_time=max_time,
        X_units=x_unit,
        y_unit=y_units if y_units is None or len(y_units) > 1 else y_units[0],
        form=form or None,
        select=int(select) if select.lstrip("-").isdigit() else select,
        digits=table.digits if digits is None else digits,
        bootstrap=bootstrap,
        contains=_listed(contains, table.names),
        without=_listed(without, table.names),
        exponents=exponents,
        functions=None if functions is None else [f for f in _listed(functions) if f != "none"],
        constants=_listed(constants),
        n_jobs=jobs,
        random_state=seed,
    )
    found = _search(regressor, table, errors)
    result = fit_output.to_json(found, table, data)
    if save is not None:
        found.save(save)
    if html is not None:
        fit_page.write(fit_output.page_content(found, table, result), html)
    if json:
        print_json(result)
        return
    fit_screen.print_result(found, table, result)
    for wanted, language in ((latex, "latex"), (python, "python"), (excel, "excel"), (c, "c")):
        if wanted:
            fit_screen.print_code(getattr(found, f"to_{language}")(), found if language == "excel" else None)
    for path, what in ((save, "The law"), (html, "The page")):
        if path is not None:
            typer.echo(f"{what} is in {path}.")


def _units(text: str, names: Sequence[str]) -> list[str] | None:
    """Read units of measurement and return them in the order of the columns.

    >>> _units("m,kg", ["a", "b"]), _units("b=kg,a=m", ["a", "b"]), _units("", ["a"])
    (['m', 'kg'], ['m', 'kg'], None)
    """
    from nalm.errors import NALMError, unknown

    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not parts:
        return None
    if not any("=" in part for part in parts):
        if len(parts) != len(names):
            raise NALMError(
                f"{len(parts)} units are given for {len(names)} columns ({', '.join(names)}): give each one."
            )
        return parts
    given = {name.strip(): unit.strip() for name, _, unit in (part.rpartition("=") for part in parts)}
    for name in given:
        if name not in names:
            raise unknown("column with a unit", name, names)
    if without := [n for n in names if n not in given]:
        raise NALMError(f"Column {without[0]} has no unit: add {without[0]}=1 if it is a plain number.")
    return [given[n] for n in names]


def _of_headers(names: Sequence[str]) -> list[str]:
    """Return the units that headers name.

    >>> _of_headers(["T [K]", "n (mol)"])
    ['K', 'mol']
    """
    from nalm.discover.dimensions.units import in_header
    from nalm.errors import NALMError

    if without := [n for n in names if in_header(n) is None]:
        raise NALMError(
            f"The header {without[0]!r} has no unit: write it as {without[0]} [1] if it is a number."
        )
    return [in_header(n) or "1" for n in names]


def _listed(text: str, columns: Sequence[str] = ()) -> list[str]:
    """Split a list; columns get the names that they have in a law.

    >>> _listed("mass (kg), v", ["mass (kg)", "v"]), _listed("")
    (['mass_kg', 'v'], [])
    """
    from nalm.discover.law.names import clean_names

    in_law = dict(zip(columns, clean_names(columns), strict=True))
    return [in_law.get(part.strip(), part.strip()) for part in text.split(",") if part.strip()]


def _search(found: "NALMRegressor", table: "Table", errors: "Errors") -> "NALMRegressor":
    """Fit the regressor to a table."""
    from nalm.cli.fit_screen import elapsed_time
    from nalm.errors import NALMError

    if len(table.x) < 2:
        raise NALMError(f"There is {len(table.x)} row with numbers: too few for a law; add some.")
    try:
        with elapsed_time(found.max_time or 0.0):
            found.fit(table.x, table.y, list(table.names), errors[0], table.labels, errors[1])
    except KeyboardInterrupt as stopped:
        typer.echo("Stopped. --max-time ends a search with its best candidate.", err=True)
        raise typer.Exit(code(stopped)) from None
    except NALMError:
        raise
    except ValueError as error:  # of scikit-learn
        raise NALMError(str(error).splitlines()[0]) from None
    return found
