"""A command that stops when its time is over saves what it has, and goes on from there."""

import math

import pytest

from nalm.config import Experiment, Layer, TwoDigits, grid
from nalm.errors import NALMError
from nalm.experiments.mnist.two_digits import lasting, reading
from nalm.lab.executors.base import Settings
from nalm.lab.run import run
from nalm.results.networks import load_network
from nalm.results.store import Store

TINY = TwoDigits("multiply", grid(8, 10), source="drawn", samples=8, folds=4, exact="rounded")
CASE = lasting(reading(Layer("NMU"), TINY, 4), 2)
ASKED = Experiment("tiny", "A tiny one", (CASE,), (0,))


def test_unfinished_runs_are_saved_and_resumed(tmp_path, monkeypatch):
    asked = iter([False, False, True])  # it is over after the first turn

    with monkeypatch.context() as patch:
        patch.setattr(Settings, "over", property(lambda self: next(asked, True)))
        state = run([ASKED], tmp_path, device="cpu", workers=1, max_time=60)
    assert (state.finished, state.runs, state.active) == (0, 1, {})
    at = int(load_network(tmp_path, CASE.trunk.hash, 0)["at"])
    assert 0 < at < CASE.recipe.steps
    assert run([ASKED], tmp_path, device="cpu", workers=1).finished == 1
    with Store(tmp_path) as store:
        events = [(kind, step) for *_, kind, _, _, step in store.events()]
    assert ("stopped", at) in events and ("resumed", at) in events


def test_time_is_over_once_it_has_passed():
    assert Settings(".", until=0.0).over and not Settings(".", until=math.inf).over


def test_no_time_at_all_is_refused(tmp_path):
    with pytest.raises(NALMError, match="more than 0 seconds, got 0"):
        run([ASKED], tmp_path / "out", device="cpu", max_time=0)
    with pytest.raises(NALMError, match="bfloat16"):
        run([ASKED], tmp_path / "out", device="cpu", precision="bf16")
    assert not (tmp_path / "out").exists()
