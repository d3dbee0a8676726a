"""nalm.files: files are written completely or not at all, JSON is read with care, numbers fit into JSON."""

import json
import math

import numpy as np
import pytest

from nalm import files
from nalm.errors import NALMError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_written_file_replaces_the_old_one_and_leaves_no_other(tmp_path):
    path = tmp_path / "law.json"
    for content in (b"old", b"new"):
        files.write_atomically(path, content)
        assert path.read_bytes() == content
    assert names(tmp_path) == ["law.json"]


def test_after_an_error_the_old_file_is_unchanged_and_the_temporary_one_removed(tmp_path):
    path = tmp_path / "law.json"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), files.atomic_path(path) as part:
        part.write_bytes(b"half of the ne")
        raise RuntimeError
    assert path.read_bytes() == b"old" and names(tmp_path) == ["law.json"]


@pytest.mark.parametrize("name", ["a" * 255, "\N{CYRILLIC SMALL LETTER A}" * 127])
def test_the_longest_file_names_can_be_written(tmp_path, name):
    path = tmp_path / name
    files.write_atomically(path, b"content")
    assert path.read_bytes() == b"content"


def test_an_unwritable_place_is_one_sentence(tmp_path):
    with pytest.raises(NALMError, match=r"Cannot write .*law\.json: No such file or directory"):
        files.write_atomically(tmp_path / "nowhere" / "law.json", b"")


def test_json_is_written_and_read_back(tmp_path):
    value = {"a": [1, 2.5, None, "x"]}
    files.write_json(tmp_path / "value.json", value)
    assert files.read_json(tmp_path / "value.json") == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(tmp_path / "nan.json", math.nan)
    assert names(tmp_path) == ["value.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_file_that_is_not_json_is_one_sentence(tmp_path, content):
    path = tmp_path / "value.json"
    path.write_bytes(content)
    with pytest.raises(NALMError, match=r"value\.json is not JSON"):
        files.read_json(path)


def test_a_missing_and_a_large_file_are_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "value.json"
    with pytest.raises(NALMError, match=r"Cannot read .*No such file"):
        files.read_json(path)
    path.write_bytes(b"123456")
    monkeypatch.setattr(files, "LARGEST_FILE", 5)
    with pytest.raises(NALMError, match="has 6 bytes; at most 5 are read"):
        files.read_json(path)


def test_numbers_for_json_are_finite_or_none():
    values = [1, -0.5, np.float32(2), np.nan, np.inf, -math.inf]
    assert [files.json_number(v) for v in values] == [1.0, -0.5, 2.0, None, None, None]
    assert json.dumps([files.json_number(np.float64(3))]) == "[3.0]"
