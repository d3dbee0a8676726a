"""Arguments of a search and of the regressor, checked when they are used."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from nalm.discover.digits import Digits, Printed
from nalm.discover.dimensions.units import Dimension, dimension
from nalm.discover.law.names import check_distinct
from nalm.discover.redundancy import counts_rows
from nalm.errors import NALMError
from nalm.operating_system import cores

FEWEST_ROWS = 6
MARKED = re.compile(
    r"\s*[+-]?(\d{1,3}([.,'\u2019\s]\d{3})+([.,]\d*)?|\d*,\d+)\s*"
)  # 1,5 or 1.373,12 or 1 373


def seconds_of(max_time: Any) -> float:
    """Return the seconds of a search; None is no limit."""
    match max_time:
        case None:
            return np.inf
        case int() | float() | np.number() if max_time > 0 and max_time is not True:
            return float(max_time)
    raise NALMError(f"max_time is a number of seconds above 0, or None, got {max_time!r}.")


def jobs_of(n_jobs: Any) -> int:
    """Return the number of processes of a search; None is 1, -1 one on each core, -2 one fewer.

    >>> jobs_of(None), jobs_of(3)
    (1, 3)
    """
    match n_jobs:
        case None:
            return 1
        case int() | np.integer() if n_jobs and not isinstance(n_jobs, bool):
            return int(n_jobs) if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))
    raise NALMError(f"n_jobs is a number of processes, or -1 for one on each core, got {n_jobs!r}.")


def seed_of(random_state: Any) -> int:
    """Return the seed of a search; None is 0."""
    if random_state is None or isinstance(random_state, int | np.integer):
        return int(random_state or 0)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31))


def numbers_in(y: Any) -> Any:
    """Convert targets that are numbers written as text; refuse dates and gaps with the remedy."""
    if y is None:
        return y
    array = np.asarray(y)
    if array.dtype.kind == "f" and np.isnan(array).any():
        gaps = np.argwhere(np.isnan(array))
        raise NALMError(f"y contains NaN, {len(gaps)} in all, the first in row {gaps[0][0]}: drop such rows.")
    if array.dtype.kind in "Mm":
        raise NALMError("y holds dates or times: give numbers, such as days since the first.")
    if array.dtype.kind not in "US":
        return y
    if words := [str(v) for v in array.flat if not _is_number(v)]:
        raise NALMError(f"y holds text ({words[0][:40]!r}): {_remedy(words[0]) or 'give numbers'}.")
    return array.astype(np.float64)


def check_frame(table: Any) -> None:
    """Refuse columns of a data frame that hold dates, text or gaps, count rows or have one name, with the remedy."""
    check_distinct(getattr(table, "columns", ()))
    if not (hasattr(table, "columns") and hasattr(table, "dtypes") and hasattr(table, "isna")):
        return
    for name in table.columns:
        column = table[name]
        kind = getattr(column.dtype, "kind", "O")
        if kind in "Mm":
            raise NALMError(
                f"Column {name} holds dates or times: give numbers, such as days since the first."
            )
        if (gaps := int(column.isna().sum())) > 0:
            first = int(np.flatnonzero(column.isna())[0])
            raise NALMError(
                f"Column {name} contains NaN, {gaps} missing values, the first in row {first}: drop such rows."
            )
        if kind in "OUS" and (words := [v for v in column if isinstance(v, str) and not _is_number(v)]):
            remedy = _remedy(words[0]) or "leave it out, or give it as groups"
            raise NALMError(f"Column {name} holds text ({words[0][:40]!r}): {remedy}.")
        if str(column.dtype) == "category":
            raise NALMError(f"Column {name} holds categories: leave it out, or give it as groups.")
    for place, name in enumerate(table.columns if len(table.columns) > 1 else ()):
        numeric = getattr(table[name].dtype, "kind", "O") in "iuf"
        if numeric and counts_rows(str(name), np.asarray(table[name], float), place == 0):
            raise NALMError(
                f"Column {name} counts the rows: leave it out, or rename it if it is a quantity of its own."
            )


def _remedy(text: str) -> str:
    """Return what helps if a text is a number with a decimal comma or thousands marks; empty for other texts.

    >>> _remedy("1.373,12"), _remedy("wild type")
    ("read it with pandas' decimal= and thousands=, or by nalm fit", '')
    """
    return "read it with pandas' decimal= and thousands=, or by nalm fit" if MARKED.fullmatch(text) else ""


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def print_line(message: str) -> None:
    """Print a line about the progress of a search at once."""
    print(message, flush=True)


def check_digits(digits: Any, columns: int) -> Digits | None:
    """Refuse what is neither a number of significant digits nor how each column and then y was printed."""
    if isinstance(digits, Sequence) and not isinstance(digits, str):
        if len(digits) != columns + 1 or not all(d is None or isinstance(d, Printed) for d in digits):
            raise NALMError(
                f"digits needs a Printed or None for each of {columns} columns and for y, got {digits!r}."
            )
        return digits
    if digits is not None and (isinstance(digits, bool | str) or int(digits) != digits or digits < 1):
        raise NALMError(f"digits is a number of significant digits above 0, or None, got {digits!r}.")
    return None if digits is None else int(digits)


def digits_of(digits: Any, columns: int, target: int) -> Any:
    """Return the digits of the columns and of one of several targets."""
    if isinstance(digits, Sequence) and not isinstance(digits, str) and len(digits) > columns + target:
        return (*digits[:columns], digits[columns + target])
    return digits


def units_of(y_unit: str | Sequence[str] | None, outputs: int) -> list[str | None]:
    """Return the unit of measurement of each output."""
    if y_unit is None or isinstance(y_unit, str):
        return [y_unit] * outputs
    if len(y_unit) != outputs:
        raise NALMError(f"y has {outputs} columns, but {len(y_unit)} units were given.")
    return list(y_unit)


def weighted_rows(sample_weight: Any, rows: int) -> np.ndarray:
    """Return which rows count: all but those with a weight of zero."""
    weight = real("sample_weight", sample_weight)
    if weight.shape != (rows,):
        raise NALMError(f"sample_weight needs one number for each of {rows} rows, got {weight.shape}.")
    if not weight.any():
        raise NALMError("Every sample_weight is zero: leave it out, or give one above zero to some rows.")
    return np.asarray(weight != 0)


def table_of(x: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the table as arrays of real numbers, x (rows, columns) and y (rows,)."""
    x, y = real("X", x), real("y", y)
    if x.ndim != 2 or x.shape[1] == 0:
        raise NALMError(f"X needs the shape (rows, columns) with at least one column, got {x.shape}.")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (len(x),):
        raise NALMError(f"y needs one number for each of the {len(x)} rows of X, got the shape {y.shape}.")
    if len(x) < FEWEST_ROWS:
        raise NALMError(f"A law needs at least {FEWEST_ROWS} rows to be seen and tested, got {len(x)}.")
    return x, y


def dimensions_of(
    x_units: Sequence[str] | None, y_unit: str | None, inputs: int
) -> tuple[list[Dimension], Dimension] | None:
    """Return the dimensions of the columns and of y; None without units."""
    if x_units is None and y_unit is None:
        return None
    if x_units is None or y_unit is None:
        missing = "y_unit" if y_unit is None else "x_units"
        raise NALMError(f"x_units and y_unit go together, but {missing} is missing: '1' is no unit.")
    if isinstance(x_units, str) or len(x_units) != inputs:
        got = repr(x_units) if isinstance(x_units, str) else f"{len(x_units)} units"
        raise NALMError(f"x_units needs one unit for each of the {inputs} columns of X, got {got}.")
    return [dimension(u) for u in x_units], dimension(y_unit)


def real(name: str, value: Any) -> np.ndarray:
    """Return an array of finite real numbers; refuse anything else."""
    try:
        array = np.asarray(value)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise NALMError(f"{name} must be a table of numbers: {error}.") from None
    if array.dtype.kind not in "fiub":
        raise NALMError(f"{name} must hold real numbers, got {array.dtype}.")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0]
        place = ", ".join(map(str, where))
        raise NALMError(
            f"{name}[{place}] is {array[tuple(where)]}: drop such rows, laws need finite numbers."
        )
    return array
