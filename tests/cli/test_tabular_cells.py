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
    spaces = tabular.read(file("a;y\n12.5;1\n1 373.12;2\n2\u202f500 000;3\n"), "y")
    assert spaces.x[:, 0].tolist() == [12.5, 1373.12, 2500000] and spaces.dropped == ""


def test_dates_are_days_where_they_are_asked_for(file):
    path = file("day,a,y\n2000-01-01,1,2\n2000-01-02 12:00,2,3\n2000-01-04,4,4\n")
    assert tabular.read(path, "y").names == ("a",)
    assert tabular.read(path, "y", "day").x[:, 0].tolist() == [0, 1.5, 3]
    assert next(tabular.blocks(path, ["day"]))[:, 0].tolist() == [0, 1.5, 3]
    with pytest.raises(NALMError, match="it holds dates; --columns uses them as days"):
        tabular.read(file("day,y\n2000-01-01,2\n2000-01-02,3\n"), "y")


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
    assert "Column group has 3 values and may hold codes" in words and "--groups group" in words


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


@pytest.mark.parametrize("name", ["X", "id", "observation"])
def test_row_numbers_of_exported_tables_are_left_out(file, name):
    lines = [f"{k + 1},{k % 4},{k * k % 7}" for k in range(9)]
    found = tabular.read(file("\n".join([f"{name},a,y", *lines])), "y")
    assert found.names == ("a",) and "it counts the rows" in " ".join(found.warnings)
    quantity = tabular.read(file("\n".join(["x,a,y", *lines])), "y")
    assert quantity.names == ("x", "a")


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (("A", "B", "C"), "it holds 3 categories; --groups c gives each its own constants"),
        (("yes", "no", "yes"), "it holds 2 categories"),
        (("01.02.2024", "28.02.2024", "1.3.2024"), "it holds dates: write them as 2024-01-31"),
        (("3.5 kg", "12 kg", "8.25 kg"), "it has units behind its numbers: move them to the header"),
        (("12%", "3%", "8.25%"), "it has units behind its numbers"),
    ],
)
def test_columns_of_text_are_left_out_with_the_remedy(file, cells, words):
    lines = [f"{cells[k % 3]},{k % 4},{k * k % 7}" for k in range(9)]
    (note, *_) = tabular.read(file("\n".join(["c,a,y", *lines])), "y").warnings
    assert note.startswith("Column c is left out: ") and words in note
    if "categories" not in words:
        with pytest.raises(NALMError, match=words):
            tabular.read(file("\n".join(["c,a,y", *lines])), "c")


def test_lines_above_the_header_are_left_out(file):
    lines = [f"{k + 0.5},{k * k % 7}" for k in range(9)]
    found = tabular.read(file("\n".join(["Device: X-100", "Operator, N. N., 2024", "", "a,y", *lines])), "y")
    assert found.names == ("a",) and len(found.x) == 9
    assert found.warnings == ["Line 4 is taken for the header; the lines above are left out."]
