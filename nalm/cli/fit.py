"""The commands of a scientist: from a table to the law behind it, and from the law to predictions."""

import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nalm.cli.app import Json, app, print_json
from nalm.cli.stopping import code

if TYPE_CHECKING:
    import numpy as np

    from nalm.cli.tabular import Table
    from nalm.discover.regressor import NALMRegressor

SUPPORT = {
    "inside": "inside the tested domain",
    "outside": "outside the tested domain",
    "singular": "near a singularity",
    "overflow": "too large for float64",
    "undefined": "where the law is not defined",
    "missing": "without a number the law needs",
}


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
    seed: Annotated[int, typer.Option(help="For which rows are held out.")] = 0,
    save: Annotated[Path | None, typer.Option(help="Keep the law for nalm predict: law.json.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write an offline page with plots.")] = None,
    json: Json = False,
) -> None:
    """Find the law behind a table, and say what is proven of it."""
    from nalm.cli import fit_output as told
    from nalm.cli import tabular

    spare(data, save, html)
    if html is not None:
        from nalm.report import fit_page as pages

        pages.needed()
    table = tabular.read(data, target, columns or None)
    if not json:
        told.beware(table)
    units = _units(x_units, table.names), _units(y_unit, table.targets)
    found = _searched(table, units, noise, max_time, seed)
    plain = told.plain(found, table, data)
    if save is not None:
        found.save(save)
    if html is not None:
        pages.write(told.page(found, table, plain), html)
    if json:
        print_json(plain)
        return
    told.show(found, table, plain)
    for path, what in ((save, "The law"), (html, "The page")):
        if path is not None:
            typer.echo(f"{what} is in {path}.")


@app.command()
def predict(
    law: Annotated[Path, typer.Argument(help="What nalm fit --save wrote.")],
    data: Annotated[Path, typer.Argument(help="A CSV, TSV or Parquet file with the columns of the law.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the CSV there.")] = None,
    json: Json = False,
) -> None:
    """Apply a law to a table: a prediction for each row, and whether the law was tested there."""
    from collections import Counter
    from itertools import chain, islice

    from nalm.discover.regressor import NALMRegressor

    spare(data, out)
    found = NALMRegressor.load(law)
    several = len(found.laws_) > 1
    names = [
        f"{n}{k + 1 if several else ''}" for k in range(len(found.laws_)) for n in ("prediction", "support")
    ]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    words: Counter[str] = Counter()
    with _sheet(out, json) as put:
        blocks = _predicted(found, data)
        first = list(islice(blocks, 1))  # a mistake is told before anything is written
        put([names])
        for y, support in chain(first, blocks):
            words.update(support.ravel().tolist())
            sides = [c for k in range(y.shape[1]) for c in (y[:, k].tolist(), support[:, k].tolist())]
            if json:
                for name, side in zip(names, sides, strict=True):
                    columns[name] += [
                        None if v != v or v in (float("inf"), -float("inf")) else v for v in side
                    ]
            else:
                put([["" if v != v else v for v in row] for row in zip(*sides, strict=True)])
    if json:
        print_json({"law": found.formula_, "counts": dict(words), **columns})
        return
    typer.echo(_counted(words), err=True)
    if out is not None:
        typer.echo(f"The predictions are in {out}.", err=True)


def _counted(words: "dict[str, int]") -> str:
    """How many predictions may be trusted.

    >>> _counted({"inside": 3, "outside": 1})
    '4 predictions: 3 inside the tested domain, 1 outside the tested domain.'
    """
    parts = [f"{words[word]:,} {meaning}" for word, meaning in SUPPORT.items() if words.get(word)]
    total = sum(words.values())
    return f"{total:,} prediction{'s' if total != 1 else ''}: {', '.join(parts) or 'no rows'}."


def _predicted(found: "NALMRegressor", data: Path) -> "Iterator[tuple[np.ndarray, np.ndarray]]":
    """Predictions and words for block after block of rows; columns the law does not use need not be there."""
    import numpy as np

    from nalm.cli import tabular

    columns = [str(n) for n in getattr(found, "feature_names_in_", found.names_)]
    found.__dict__.pop("feature_names_in_", None)  # rows come as arrays: they have no names to compare
    used = sorted({found.names_.index(n) for law in found.laws_ for n in law.inputs})
    for block in tabular.blocks(data, [columns[i] for i in used] or tabular.header(data)[:1]):
        x = np.ones((len(block), len(columns)))
        x[:, used] = block[:, : len(used)]
        there = np.isfinite(x).all(1)
        y = np.full((len(x), len(found.laws_)), np.nan)
        words = np.full(y.shape, "missing", dtype="<U9")
        if there.any():
            values, support = found.predict(x[there], return_support=True)
            y[there], words[there] = values.reshape(-1, y.shape[1]), support.reshape(-1, y.shape[1])
        yield y, words


@contextmanager
def _sheet(out: Path | None, silent: bool) -> Iterator[Any]:
    """A function that writes rows as CSV: to a file that is put in place when it is whole, or to standard output."""
    import csv
    import io
    import os

    from nalm.errors import NALMError

    if silent:
        yield lambda rows: None
        return
    if out is None:

        def put(rows: Sequence[Sequence[Any]]) -> None:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            typer.echo(text.getvalue(), nl=False)

        yield put
        return
    part = out.with_name(f".{out.name}.{os.getpid()}"[:250])
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            yield csv.writer(file, lineterminator="\n").writerows
        part.replace(out)
    except OSError as error:
        raise NALMError(f"Cannot write {out}: {error.strerror}; choose another place.") from None
    finally:
        part.unlink(missing_ok=True)


def spare(data: Path, *written: Path | None) -> None:
    """The data is never written over."""
    from nalm.errors import NALMError

    for path in written:
        if path is not None and path.resolve() == data.resolve():
            raise NALMError(f"{path} is the table itself: write to another file.")


def _units(text: str, names: Sequence[str]) -> list[str] | None:
    """Units of measurement in the order of the columns.

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


def _searched(
    table: "Table",
    units: tuple[list[str] | None, list[str] | None],
    noise: float | None,
    max_time: float,
    seed: int,
) -> "NALMRegressor":
    """Fit the regressor to a table."""
    from nalm.discover.regressor import NALMRegressor
    from nalm.errors import NALMError

    if len(table.x) < 2:
        raise NALMError(f"There is {len(table.x)} row with numbers: too few for a law; add some.")
    x_units, y_units = units
    y_unit = y_units if y_units is None or len(y_units) > 1 else y_units[0]
    found = NALMRegressor(noise=noise, max_time=max_time, X_units=x_units, y_unit=y_unit, random_state=seed)
    try:
        with progress(max_time):
            found.fit(table.x, table.y, list(table.names))
    except KeyboardInterrupt as stopped:
        typer.echo("Stopped. --max-time ends a search with its best candidate.", err=True)
        raise typer.Exit(code(stopped)) from None
    except NALMError:
        raise
    except ValueError as error:  # of scikit-learn
        raise NALMError(str(error).splitlines()[0]) from None
    return found


@contextmanager
def progress(max_time: float, after: float = 2.0) -> Iterator[None]:
    """A line on a terminal that says how long the search has taken."""
    done, began = threading.Event(), time.monotonic()

    def tick() -> None:
        if done.wait(after):
            return
        while not done.wait(0.5):
            sys.stderr.write(f"\rSearching: {time.monotonic() - began:.0f} s of at most {max_time:g} s ")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[K")

    thread = threading.Thread(target=tick, daemon=True)
    if sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        done.set()
        if thread.is_alive():
            thread.join()
