"""The command ``nalm predict``: apply a saved law to a table."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nalm.cli.app import Json, app, print_json

if TYPE_CHECKING:
    import numpy as np

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
def predict(
    law: Annotated[Path, typer.Argument(help="What nalm fit --save wrote.")],
    data: Annotated[Path, typer.Argument(help="A CSV, TSV or Parquet file with the columns of the law.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Write the CSV there.")] = None,
    groups: Annotated[
        str, typer.Option(help="The column with the group of each row, if the law has numbers of groups.")
    ] = "",
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Also the 95% interval of a new measurement: low and high.")
    ] = False,
    json: Json = False,
) -> None:
    """Apply a law to a table: a prediction for each row, and whether the law was tested there."""
    from collections import Counter
    from itertools import chain, islice

    from nalm.cli.tabular import refuse_overwriting
    from nalm.discover.regressor import NALMRegressor
    from nalm.operating_system import json_number

    refuse_overwriting(data, out)
    found = NALMRegressor.load(law)
    several = len(found.laws_) > 1
    kinds = ("prediction", "support", *(("low", "high") if intervals else ()))
    names = [f"{n}{k + 1 if several else ''}" for k in range(len(found.laws_)) for n in kinds]
    columns: dict[str, list[Any]] = {name: [] for name in names}
    words: Counter[str] = Counter()
    with _csv_writer(out, json) as put:
        blocks = _predictions(found, data, intervals, groups)
        first = list(islice(blocks, 1))  # an error is raised before anything is written
        put([names])
        for y, support, ends in chain(first, blocks):
            words.update(support.ravel().tolist())
            parts = [y, support, *((ends[..., 0], ends[..., 1]) if intervals else ())]
            sides = [part[:, k].tolist() for k in range(y.shape[1]) for part in parts]
            if json:
                for name, side in zip(names, sides, strict=True):
                    columns[name] += [v if isinstance(v, str) else json_number(v) for v in side]
            else:
                put([["" if v != v else v for v in row] for row in zip(*sides, strict=True)])
    if json:
        print_json({"law": found.formula_, "counts": dict(words), **columns})
        return
    typer.echo(_summary(words), err=True)
    if out is not None:
        typer.echo(f"The predictions are in {out}.", err=True)


def _summary(words: "dict[str, int]") -> str:
    """Count the predictions by their support.

    >>> _summary({"inside": 3, "outside": 1})
    '4 predictions: 3 inside the tested domain, 1 outside the tested domain.'
    """
    parts = [f"{words[word]:,} {meaning}" for word, meaning in SUPPORT.items() if words.get(word)]
    total = sum(words.values())
    return f"{total:,} prediction{'s' if total != 1 else ''}: {', '.join(parts) or 'no rows'}."


def _predictions(
    found: "NALMRegressor", data: Path, intervals: bool, groups: str
) -> "Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]":
    """Yield predictions, support and intervals, block by block; columns that the law does not use may be missing."""
    import numpy as np

    from nalm.cli import tabular

    columns = [str(n) for n in getattr(found, "feature_names_in_", found.names_)]
    found.__dict__.pop("feature_names_in_", None)  # rows come as arrays: they have no names to compare
    used = sorted({found.names_.index(n) for law in found.laws_ for n in law.inputs if n in found.names_})
    labels = np.array(tabular.labels(data, groups)) if groups else None
    row = 0
    for block in tabular.blocks(data, [columns[i] for i in used] or tabular.header(data)[:1]):
        x = np.ones((len(block), len(columns)))
        x[:, used] = block[:, : len(used)]
        there = np.isfinite(x).all(1)
        y = np.full((len(x), len(found.laws_)), np.nan)
        words = np.full(y.shape, "missing", dtype="<U9")
        ends = np.full((*y.shape, 2), np.nan)
        if there.any():
            which = None if labels is None else labels[row : row + len(x)][there]
            values = found.predict(x[there], return_support=True, return_interval=intervals, groups=which)
            for whole, part in zip((y, words, ends), values, strict=False):
                whole[there] = part.reshape(-1, *whole.shape[1:])
        row += len(x)
        yield y, words, ends


@contextmanager
def _csv_writer(out: Path | None, silent: bool) -> Iterator[Any]:
    """Yield a function that writes rows as CSV: to a file, which appears when it is complete, or to standard output."""
    import csv
    import io

    from nalm.errors import NALMError
    from nalm.operating_system import atomic_path

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
    try:
        with atomic_path(out) as part, part.open("w", encoding="utf-8", newline="") as file:
            yield csv.writer(file, lineterminator="\n").writerows
    except OSError as error:
        raise NALMError(f"Cannot write {out}: {error.strerror}; choose another place.") from None
