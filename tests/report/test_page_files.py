"""Folders, names and files of a page that do not exist or cannot be written, and values that are not finite."""

from pathlib import Path

import pytest

from nalm.cli.app import shipped_or
from nalm.errors import NALMError
from nalm.report import page as pages
from nalm.report.study import studies

ROOT = Path(__file__).parents[2]


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(NALMError):
        pages.write(tmp_path, tmp_path / "x.html")


def test_an_unknown_experiment_gets_a_suggestion():
    with pytest.raises(NALMError, match="Did you mean 'thesis/ch3/mul'"):
        studies(ROOT / "results", "thesis/ch3/mull")


def test_the_shipped_results_are_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shipped_or("results") == ROOT / "results" and shipped_or("elsewhere") == Path("elsewhere")


def test_a_page_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NALMError, match="could not be written"):
        pages.write(ROOT / "results", tmp_path / "file" / "x.html", "thesis/ch3/add")


def test_medians_that_are_not_finite_are_shown_with_the_claims(tmp_path):
    path = pages.write(ROOT / "results", tmp_path / "sqrt.html", "heim/large/sqrt")
    assert "not finite, n = 10" in path.read_text("utf-8")
