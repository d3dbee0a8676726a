"""nalm.operating_system: files are written completely or not at all, JSON is read with care, numbers fit into JSON."""

import json
import math

import numpy as np
import pytest

from nalm import operating_system
from nalm.errors import NALMError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_written_file_replaces_the_old_one_and_leaves_no_other(tmp_path):
    path = tmp_path / "law.json"
    for content in (b"old", b"new"):
        operating_system.write_atomically(path, content)
        assert path.read_bytes() == content
    assert names(tmp_path) == ["law.json"]


def test_after_an_error_the_old_file_is_unchanged_and_the_temporary_one_removed(tmp_path):
    path = tmp_path / "law.json"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), operating_system.atomic_path(path) as part:
        part.write_bytes(b"half of the ne")
        raise RuntimeError
    assert path.read_bytes() == b"old" and names(tmp_path) == ["law.json"]


@pytest.mark.parametrize("name", ["a" * 255, "\N{CYRILLIC SMALL LETTER A}" * 127])
def test_the_longest_file_names_can_be_written(tmp_path, name):
    path = tmp_path / name
    operating_system.write_atomically(path, b"content")
    assert path.read_bytes() == b"content"


def test_an_unwritable_place_is_one_sentence(tmp_path):
    with pytest.raises(NALMError, match=r"Cannot write .*law\.json: No such file or directory"):
        operating_system.write_atomically(tmp_path / "nowhere" / "law.json", b"")


def test_json_is_written_and_read_back(tmp_path):
    value = {"a": [1, 2.5, None, "x"]}
    operating_system.write_json(tmp_path / "value.json", value)
    assert operating_system.read_json(tmp_path / "value.json") == value
    with pytest.raises(ValueError, match="not JSON compliant"):
        operating_system.write_json(tmp_path / "nan.json", math.nan)
    assert names(tmp_path) == ["value.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000])
def test_a_file_that_is_not_json_is_one_sentence(tmp_path, content):
    path = tmp_path / "value.json"
    path.write_bytes(content)
    with pytest.raises(NALMError, match=r"value\.json is not JSON"):
        operating_system.read_json(path)


def test_a_missing_and_a_large_file_are_one_sentence(tmp_path, monkeypatch):
    path = tmp_path / "value.json"
    with pytest.raises(NALMError, match=r"Cannot read .*No such file"):
        operating_system.read_json(path)
    path.write_bytes(b"123456")
    monkeypatch.setattr(operating_system, "LARGEST_FILE", 5)
    with pytest.raises(NALMError, match="has 6 bytes; at most 5 are read"):
        operating_system.read_json(path)


def test_numbers_for_json_are_finite_or_none():
    values = [1, -0.5, np.float32(2), np.nan, np.inf, -math.inf]
    assert [operating_system.json_number(v) for v in values] == [1.0, -0.5, 2.0, None, None, None]
    assert json.dumps([operating_system.json_number(np.float64(3))]) == "[3.0]"
