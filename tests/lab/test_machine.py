"""The folder for compiled programs: the configured one, torch's default, or a temporary one that is removed."""

import os
import tempfile
from pathlib import Path

import pytest

from nalm.lab.machine import CACHE, HEADERS, compiler_cache


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A folder for temporary files, a user called me, and a file below which nothing can be written."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("getpass.getuser", lambda: "me")
    monkeypatch.delenv(CACHE, raising=False)
    monkeypatch.delenv(HEADERS, raising=False)
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    return tmp_path


def test_a_folder_that_can_be_written_is_used_without_a_word(folders, monkeypatch):
    with compiler_cache() as found:
        assert found == (True, "") and os.environ[CACHE] == str(folders / "torchinductor_me")
    assert CACHE not in os.environ
    monkeypatch.setenv(CACHE, str(folders / "mine"))
    with compiler_cache() as found:
        assert (
            found == (True, "") and os.environ[CACHE] == str(folders / "mine") and HEADERS not in os.environ
        )
    assert os.environ[CACHE] == str(folders / "mine")


def test_the_default_folder_replaces_one_that_cannot_be_written(folders, monkeypatch):
    monkeypatch.setenv(CACHE, str(folders / "file" / "cache"))
    with compiler_cache() as (possible, sentence):
        assert possible and os.environ[CACHE] == str(folders / "torchinductor_me")
        assert str(folders / "file" / "cache") in sentence and str(folders / "torchinductor_me") in sentence
    assert os.environ[CACHE] == str(folders / "file" / "cache")


def test_a_temporary_folder_is_the_last_resort_and_is_removed(folders):
    (folders / "torchinductor_me").write_text("in the way", encoding="utf-8")
    with compiler_cache() as (possible, sentence):
        chosen = Path(os.environ[CACHE])
        assert possible and chosen.is_dir() and "which is slower" in sentence
        assert os.environ[HEADERS] == "0"  # torch keeps them in its default folder
    assert not chosen.exists() and not {CACHE, HEADERS} & os.environ.keys()


def test_without_any_folder_training_is_uncompiled(folders, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(folders / "file"))
    with compiler_cache() as (possible, sentence):
        assert not possible and "uncompiled" in sentence and "TMPDIR" in sentence


def test_a_user_without_a_name_has_a_folder(folders, monkeypatch):
    def nobody():
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    with compiler_cache() as found:
        assert found == (True, "") and Path(os.environ[CACHE]).parent == folders
