"""Cells that are no plain numbers, rows that repeat, and columns that mean something else than a quantity."""

import numpy as np
import pytest

from nalm.cli import tabular
from nalm.errors import NALMError


@pytest.fixture
def file(tmp_path):
    def make(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def test_thousands_marks_are_read_in_every_row(file):
    found = tabular.read(file('a,y\n12.5,1\n"1,373.12",2\n"2,500",3\n1\'000.5,4\n'), "y")
    assert found.x[:, 0].tolist() == [12.5, 1373.12, 2500, 1000.5] and found.dropped == ""
    assert found.warnings == ["Column a has thousands marks: 1,373.12 is read as 1373.12."]
    comma = tabular.read(file("a;y\n12,5;1\n1.373,12;2\n1.234;3\n"), "y")
    assert comma.x[:, 0].tolist() == [12.5, 1373.12, 1234]


def test_dates_are_days_where_they_are_asked_for(file):
    path = file("day,a,y\n2000-01-01,1,2\n2000-01-02 12:00,2,3\n2000-01-04,4,4\n")
    assert tabular.read(path, "y").names == ("a",)
    assert tabular.read(path, "y", "day").x[:, 0].tolist() == [0, 1.5, 3]
    assert next(tabular.blocks(path, ["day"]))[:, 0].tolist() == [0, 1.5, 3]


def test_truth_values_are_one_and_zero(file):
    found = tabular.read(file("a,on,y\n1,True,2\n2,FALSE,3\n3,true,4\n"), "y")
    assert found.x[:, 1].tolist() == [1, 0, 1] and "truth values" in found.warnings[0]


def test_repeated_rows_codes_and_columns_that_move_together_are_reported(file):
    rng = np.random.default_rng(0)
    a = rng.uniform(1, 2, 40)
    lines = [
        f"{v},{v + 1e-3 * e},{k % 3},{v * v}"
        for k, (v, e) in enumerate(zip(a, rng.normal(size=40), strict=True))
    ]
    words = " ".join(tabular.read(file("\n".join(["a,b,group,y", *lines, lines[0], lines[1]])), "y").warnings)
    assert "2 of 42 rows repeat another one" in words
    assert "Columns a and b move together" in words
    assert "Column group has 3 values and may hold codes" in words


def test_an_excel_file_is_called_one(file):
    with pytest.raises(NALMError, match="Excel file or an archive"):
        tabular.read(file(b"PK\x03\x04\x14\x00", "data.xlsx"), "y")


def test_codes_and_row_numbers_are_reported(file):
    lines = [
        f"{k},{zip_},{k * k % 7}" for k, zip_ in enumerate(["00501", "10001", "02139", "94110", "60601"])
    ]
    found = tabular.read(file("\n".join([",zip,y", *lines])), "y")
    assert found.names == ("zip",)
    assert found.warnings[0] == "Column zip holds codes such as '00501', read as numbers."
    assert found.warnings[1] == "Column column1 is left out: it counts the rows; --columns can force it."
    assert tabular.read(file("\n".join([",zip,y", *lines])), "y", "column1").x[:, 0].tolist() == [
        0,
        1,
        2,
        3,
        4,
    ]
    alone = "\n".join(["id,y", *(f"{k},{k * k % 7}" for k in range(5))])
    assert tabular.read(file(alone), "y").names == ("id",)  # nothing else could explain y
