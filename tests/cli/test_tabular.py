"""Tables as people have them: whatever is not a number is said in a sentence, and nothing is misread."""

import sys

import numpy as np
import pytest

from nalm.cli import tabular
from nalm.cli.tabular import files, table
from nalm.errors import NALMError

NUMBERS = [[1.0, 2.0], [4.0, 5.0], [7.0, 8.5], [2.0, 2.0], [3.0, 1.0]]
LINES = ["1,2,3", "4,5,6", "7,8.5,9", "2,2,1", "3,1,1"]


@pytest.fixture
def file(tmp_path):
    def make(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def rows(lines, header="a,b,y"):
    return "\n".join([header, *lines]) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        rows(LINES),
        "\ufeff" + rows(LINES),
        rows(LINES).replace("\n", "\r\n"),
        rows(LINES).replace("\n", "\r"),
        rows(LINES).replace(",", ";"),
        rows(LINES).replace(",", "\t"),
        rows(LINES).replace(",", "   "),
        rows(LINES).replace(",", " , "),
        rows(LINES).replace(".", "#").replace(",", ";").replace("#", ","),
        "# made by hand\n\n" + rows(LINES).replace("\n4", "\n# a comment, with commas\n\n4"),
        rows(['"1","2","3"', *LINES[1:]], '"a","b","y"'),
        rows([f"{line},,\n" for line in LINES], "a,b,y"),
        rows(LINES).encode("utf-16"),
    ],
)
def test_every_text_format_gives_the_same_numbers(file, content):
    found = tabular.read(file(content), "y")
    assert found.names == ("a", "b") and found.x.tolist() == NUMBERS and found.y.tolist() == [3, 6, 9, 1, 1]
    assert found.dropped == "" and found.total == 5 and found.targets == ("y",)
    assert [w for w in found.warnings if "Decimals" not in w] == []


def test_the_ending_tsv_means_tabs(file):
    found = tabular.read(file("a, m\ty\n1\t2\n2\t3\n3\t7\n", "data.tsv"), "y")
    assert found.names == ("a, m",) and found.x.ravel().tolist() == [1, 2, 3]


def test_decimal_commas_are_reported_and_points_are_then_thousands_marks(file):
    found = tabular.read(file("a;y\n1,5;2\n2,5;3\n1,0;4\n" * 20 + "1.234;5\n"), "y")
    assert "1,5 is read as 1.5" in found.warnings[0] and found.x.max() == 1234
    mixed = tabular.read(file("a;b;y\n1,5;2.5;1\n3;2;1\n4;2.5;1\n4;2.5;5\n"), "y")
    assert mixed.x.tolist() == [[3, 2], [4, 2.5], [4, 2.5]] and "'1,5' in column a (line 2)" in mixed.dropped


def test_columns_and_several_targets_are_chosen_by_name(file):
    path = file(rows([f"{line},{k}" for k, line in enumerate(LINES)], "a,b,y,z"))
    found = tabular.read(path, "y, z", columns="b")
    assert found.names == ("b",) and found.y.shape == (5, 2) and found.targets == ("y", "z")
    assert tabular.read(path, ["z", "y"]).y[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert tabular.read(path).y is None and tabular.read(path).x.shape == (5, 4)
    with_comma = tabular.read(file('"a, m","y, s"\n1,2\n3,5\n4,4\n'), "y, s", columns="a, m")
    assert with_comma.names == ("a, m",) and with_comma.y.tolist() == [2, 5, 4]


def test_dropped_rows_are_counted_with_their_reason(file):
    found = tabular.read(file(rows([*LINES, "1,,2", "1,n/a,2", ",,2", "1,2,x", "1,2,x"])), "y")
    assert len(found.x) == 5 and found.dropped == (
        "5 of 10 rows dropped: 2 with an empty cell, 2 without a number in column y (the first: 'x', line 10), "
        "1 with 'n/a' in column b (line 8)"
    )


@pytest.mark.parametrize("cell", ["inf", "-Infinity", "1e999", "nan", "1_000", "1 00", "0x10", "1,5", "12%"])
def test_what_only_looks_like_a_number_is_not_read_as_one(file, cell):
    found = tabular.read(file(rows([*LINES, f'"{cell}",2,3'])), "y")
    assert len(found.x) == 5 and f"'{cell}' in column a (line 7)" in found.dropped


def test_columns_of_words_are_left_out_and_named(file):
    lines = [
        f"{line},{c},2024-01-0{k + 1},,{k if k < 2 else ''}"
        for k, (line, c) in enumerate(zip(LINES, "rgbrg", strict=True))
    ]
    found = tabular.read(file(rows(lines, "a,b,y,colour,day,nothing,some")), "y")
    assert found.names == ("a", "b") and len(found.x) == 5
    assert found.warnings == [
        "Column colour is left out: it is not numeric ('r' on line 2).",
        "Column day is left out: it holds dates; --columns uses them as days.",
        "Column nothing is left out: it is empty.",
        "Column some is left out: only 2 of 5 cells are numbers; --columns can force it.",
    ]
    assert len(tabular.read(file(rows(lines, "a,b,y,colour,day,nothing,some")), "y", "a,some").x) == 2


def test_constant_equal_and_collinear_columns_are_named(file):
    rng = np.random.default_rng(0)
    a, b, c = rng.uniform(1, 2, (3, 50))
    columns = {
        "a": a,
        "b": b,
        "k": a * 0 + 2.5,
        "copy": a,
        "c": c,
        "sum": 200 * a - b + 3,
        "line": 1e-3 * c + 7,
        "y": a * b,
    }
    text = "\n".join(
        [",".join(columns), *(",".join(map(repr, r.tolist())) for r in np.stack(list(columns.values()), 1))]
    )
    assert tabular.read(file(text), "y").warnings == [
        "Column k (2.5) is constant: only a law with units of measurement can use it.",
        "Columns a and copy hold the same numbers: the law can name any of them.",
        "Column sum is a linear combination of a and b: the law can use either.",
        "Column line is a linear function of c: the law can use either.",
    ]


def test_nearly_collinear_columns_are_not_reported(file):
    a, b = np.random.default_rng(0).uniform(1, 2, (2, 50))
    lines = [",".join(map(repr, r)) for r in np.stack([a, b, a + b + 1e-6 * a * b, a], 1).tolist()]
    assert tabular.read(file(rows(lines, "a,b,c,y")), "y").warnings == []


def test_a_file_without_header_gets_names_and_says_so(file):
    found = tabular.read(file("\n".join(LINES)), "x3")
    assert found.names == ("x1", "x2") and found.x.tolist() == NUMBERS
    assert found.warnings == ["data.csv has no header: its columns are called x1 to x3."]
    savetxt = tabular.read(file("# a,b,y\n" + "\n".join(LINES)), "y")
    assert savetxt.x.tolist() == NUMBERS and "the comment above" in savetxt.warnings[0]
    half = tabular.read(file(rows(LINES, "a,2024,y")), "y")
    assert half.names == ("a", "2024") and "'2024' as a name" in half.warnings[0]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "data.csv is empty"),
        ("# only a comment\n\n", "data.csv is empty"),
        ("a,b,y\n", "has a header and no rows"),
        ("y\n1\n2\n", "no column of numbers besides the target"),
        ("a,y\nred,1\nblue,2\n", "no column of numbers besides the target"),
        ("a,b,Y\n1,2,3\n", "no column in data.csv called 'y'. Did you mean 'Y'?"),
        ("a,a,y\n1,2,3\n", "more than one column called a"),
        ("a,y\n1,red\n2,blue\n", "The target y is not numeric: 'red' on line 2"),
        ("a,y\n1,\n2,\n", "The target y is not numeric: its cells are empty"),
        ("a,y\n1,\n,2\n", "No row of data.csv is left: 2 of 2 rows dropped: 2 with an empty cell"),
        ("a,b,y\n1,2,3\n\n1,2\n", "Line 4 of data.csv has 2 cells where the first line has 3"),
        ("a,b,y\n1,2,3,4\n", "Line 2 of data.csv has 4 cells"),
        (
            'a,b,y\n1,"2,3\n1,2,3\n',
            "Line 3 of data.csv cannot be read (unexpected end of data): close every quote",
        ),
        ('a,b,y\n1,"' + "2" * 200_000 + '",3\n', "Line 2 of data.csv cannot be read"),
        (b"a,b,y\n1,2\x00,3\n", "Line 2 of data.csv holds a NUL byte"),
        (b"a,b,y\n1,2,3\n1,\xe9,3\n", "not UTF-8 text (byte 0xe9 on line 3)"),
        (b"\xff\xfea", "is not"),
        (b"PAR1 and nonsense", "not a Parquet file"),
    ],
)
def test_mistakes_are_sentences(file, content, sentence):
    with pytest.raises(NALMError) as caught:
        tabular.read(file(content), "y")
    assert sentence in str(caught.value) and str(caught.value).endswith(".")


def test_mistakes_about_columns_are_sentences(file):
    path = file(rows([f"{line},red" for line in LINES], "a,b,y,colour"))
    for columns, sentence in [
        ("a,y", "Column y is the target"),
        ("a,a", "Column a is named twice"),
        ("a,d", "no column in data.csv called 'd'"),
        ("a,colour", "The column colour is not numeric: 'red' on line 2"),
    ]:
        with pytest.raises(NALMError, match=sentence):
            tabular.read(path, "y", columns)


def test_folders_and_missing_files_are_sentences(tmp_path):
    with pytest.raises(NALMError, match="is a folder"):
        tabular.read(tmp_path)
    with pytest.raises(NALMError, match="cannot be read: No such file"):
        tabular.read(tmp_path / "data.csv")


def test_an_endless_line_is_not_read_to_its_end(file, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 1000)
    with pytest.raises(NALMError, match=r"Line 2 of data\.csv has no end"):
        tabular.read(file("a,b,y\n" + "1" * 2000), "y")


def test_hostile_names_cannot_reach_the_terminal(file):
    found = tabular.read(file("a\x1b[2J,y,k\n1,2,3\n2,3,3\n4,5,3\n5,5,3\n"), "y", columns="a\x1b[2J,k")
    with pytest.raises(NALMError) as caught:
        tabular.read(file("a\x1b[2J,y\n1,2\n"), "z")
    assert found.names[0] == "a\x1b[2J" and "\x1b" not in " ".join([*found.warnings, str(caught.value)])


def test_a_large_file_is_thinned_evenly(file, monkeypatch):
    monkeypatch.setattr(table, "MOST", 1000)
    monkeypatch.setattr(files, "BLOCK", 70)
    found = tabular.read(file("a,y\n" + "".join(f"{k},{k}\n" for k in range(3001))), "y")
    assert found.x.ravel().tolist() == list(range(0, 3001, 8)) and found.total == 3001
    assert found.warnings == ["data.csv is large: every 8th row (376 of 3,001) is used."]


def test_blocks_keep_every_row(file, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 2)
    parts = list(tabular.blocks(file(rows([*LINES, "1,x,2"])), ["b", "a"]))
    np.testing.assert_array_equal(np.vstack(parts), [[b, a] for a, b in NUMBERS] + [[np.nan, 1]])
    assert [len(p) for p in parts] == [2, 2, 2]
    assert tabular.header(file(rows(LINES))) == ("a", "b", "y")


def test_parquet_is_read_like_text(file, tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    a, b = zip(*NUMBERS, strict=True)
    made = pyarrow.table(
        {
            "a": pyarrow.array([int(v) for v in a] + [None], pyarrow.int32()),
            "b": [*b, 1.0],
            "text": ["1", "2", "3", "4", "5", "6"],
            "flag": [True, False] * 3,
            "y": [3.0, 6.0, 9.0, 1.0, 1.0, float("inf")],
        }
    )
    parquet.write_table(made, tmp_path / "data.parquet")
    found = tabular.read(tmp_path / "data.parquet", "y")
    assert found.names == ("a", "b", "text", "flag") and found.x[:, :2].tolist() == NUMBERS
    assert found.dropped == "1 of 6 rows dropped: 1 with an empty cell"
    assert found.warnings[0] == "Column flag holds truth values: True is read as 1, False as 0."


def test_parquet_without_pyarrow_names_the_extra(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NALMError, match=r"pip install 'nalm\[parquet\]'"):
        tabular.read(file(b"PAR1", "data.parquet"), "y")
