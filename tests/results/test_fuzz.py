"""Loaders under mutated files; and the fuzzer itself, which must find bugs that are planted."""

import subprocess
import sys
from pathlib import Path

import fuzzing
import loaders
import pytest

from nalm.config import values
from nalm.formulas import parse as formula
from nalm.results import checkpoints, packed
from nalm.results.store import Store

pytestmark = pytest.mark.system

NAMES = (
    "store",
    "cells",
    "arrays",
    "checkpoint",
    "config",
    "table",
    "formula",
    "law",
    "tables",
    "tallies",
    "images",
)


def attacked(*names, count):
    command = [sys.executable, str(Path(fuzzing.__file__)), *names, "--count", str(count)]
    return subprocess.run(command, capture_output=True, text=True, timeout=1_200, check=False)


def test_fifty_mutations_of_every_kind_of_file_are_taken_or_refused():
    done = attacked(count=50)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in NAMES:
        assert f"{name:12} 50 inputs" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_mutations_are_taken_or_refused(name):
    done = attacked(name, count=10_000)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10,000 inputs" in done.stdout


def attack(make, tmp_path, count=400):
    return fuzzing.attack(make(tmp_path), count, enough=1).findings


def test_the_fuzzer_finds_a_missing_check_of_what_was_read(tmp_path, monkeypatch):
    (tmp_path / "right").mkdir()
    assert not attack(loaders.cells, tmp_path / "right", 60)
    monkeypatch.setattr(Store, "_check", lambda self, table: None)
    found = attack(loaders.cells, tmp_path, 600)
    assert found


def test_the_fuzzer_finds_a_missing_length_check(tmp_path, monkeypatch):
    def careless(data, where):
        import numpy as np

        content = packed.zlib.decompressobj().decompress(data)
        size = int.from_bytes(content[:8], "little")
        return np.frombuffer(content[8 + size :], np.float64, count=3)

    monkeypatch.setattr(packed, "unpack", careless)
    found = attack(loaders.arrays, tmp_path)
    assert any("buffer" in what or "zlib" in what or "decompressing" in what for what in found)


def test_the_fuzzer_finds_a_power_without_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(formula, "_check_power", lambda text, base, exponent: None)
    found = attack(loaders.formula, tmp_path, 1_500)
    assert any("more than 2 s" in what or "Error at" in what for what in found)


def test_the_fuzzer_finds_text_that_is_executed(tmp_path, monkeypatch):
    def eager(text):
        return eval(text, {"true": True, "false": False, "null": None})

    monkeypatch.setattr(values.json, "loads", eager)
    found = attack(loaders.config, tmp_path, 50)
    assert any(what.startswith("Escaped") for what in found)


def test_the_fuzzer_finds_an_error_that_is_not_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "UNREADABLE", ())
    found = attack(loaders.checkpoint, tmp_path, 1_500)
    assert any("at checkpoints.py" in what for what in found)
