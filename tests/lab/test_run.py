"""The laboratory at work: nothing twice, go on after a stop, share a folder, and say what went wrong."""

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.numpy
import torch

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe
from nalm.engine import Run
from nalm.engine.numbers import NumberTrainer
from nalm.errors import NALMError
from nalm.lab.executors import base
from nalm.lab.executors.base import Job, Settings, attempt, write_checkpoints
from nalm.lab.run import run
from nalm.results import checkpoints
from nalm.results.store import Store


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Evaluations every hundred steps instead of every thousand, so that a hundred are a training."""
    monkeypatch.setattr("nalm.engine.numbers.training.EVERY", 100)


def case(unit="NMU", lr=1e-2, steps=100, operation="multiply"):
    return Case(
        (Layer(unit),), Arithmetic(operation, Range(1, 2), Range(2, 6)), Recipe(lr=lr, steps=steps, batch=32)
    )


def experiment(*cases, seeds=(0, 1, 2), name="small"):
    return Experiment(name, "A small one", cases or (case(), case("NAU", operation="add")), tuple(seeds))


def trained(folder):
    """Runs that were trained to their end, in all sessions together."""
    with Store(folder) as store:
        return sum(runs for _, _, kind, _, runs, _ in store.events() if kind == "finished")


def test_every_run_is_stored_with_its_curves_and_its_provenance(tmp_path):
    state = run([experiment()], tmp_path, compiled=False, workers=1)
    with Store(tmp_path) as store:
        outcomes = store.outcomes("small")
        curve = store.arrays(outcomes[0].case.hash, 0)
        (session,) = store.sessions()
    assert len(outcomes) == state.finished == 6 and state.solved == sum(o.solved for o in outcomes)
    assert {o.mode for o in outcomes} == {"eager"} and {o.neighbours for o in outcomes} == {3}
    assert curve["steps"].tolist() == [0, 100]
    assert session["torch"] == torch.__version__ and not session["alive"]


def test_a_finished_run_is_not_trained_again_and_new_seeds_are_added(tmp_path):
    run([experiment()], tmp_path, compiled=False, workers=1)
    run([experiment()], tmp_path, compiled=False, workers=1)
    assert trained(tmp_path) == 6
    state = run([experiment(seeds=range(1, 5))], tmp_path, compiled=False, workers=1)
    assert trained(tmp_path) == 6 + 2 * 2 and state.finished == 8


def test_cases_of_two_experiments_are_trained_once(tmp_path):
    run(
        [experiment(case()), experiment(case(), case(lr=3e-3), name="other")],
        tmp_path,
        compiled=False,
        workers=1,
    )
    assert trained(tmp_path) == 6
    with Store(tmp_path) as store:
        assert len(store.outcomes("small")) == 3 and len(store.outcomes("other")) == 6


@pytest.mark.slow
def test_several_processes_give_what_one_gives(tmp_path):
    run([experiment()], tmp_path / "one", compiled=False, workers=1)
    run([experiment()], tmp_path / "two", compiled=False, workers=2)
    with Store(tmp_path / "one") as one, Store(tmp_path / "two") as two:
        for a, b in zip(one.outcomes("small"), two.outcomes("small"), strict=True):
            assert (a.case, a.seed, a.outcome, a.test) == (b.case, b.seed, b.outcome, b.test)


def begun(folder, steps, runs, save=True):
    """A population trained half way, as a killed process leaves it."""
    training = NumberTrainer(runs, torch.device("cpu"), compiled=False)
    while training.at < steps:
        training.advance()
    keys = [(r.case.hash, r.seed) for r in runs]
    return checkpoints.save_checkpoint(folder, keys, {n: t.numpy() for n, t in training.state().items()})


def test_a_checkpoint_is_gone_on_with_and_deleted_when_all_its_runs_are_done(tmp_path):
    long = case(steps=200)
    path = begun(tmp_path, 100, [Run(long, s, s) for s in range(3)])
    run([experiment(long)], tmp_path, compiled=False, workers=1)
    with Store(tmp_path) as store:
        kinds = [(kind, at) for _, _, kind, _, _, at in store.events()]
    assert kinds == [("resumed", 100), ("finished", 200)]
    assert not path.exists()
    run([experiment(long)], tmp_path / "whole", compiled=False, workers=1)
    with Store(tmp_path) as a, Store(tmp_path / "whole") as b:
        for seed in range(3):
            for name, values in a.arrays(long.hash, seed).items():
                np.testing.assert_array_equal(values, b.arrays(long.hash, seed)[name])


def test_part_of_a_checkpoint_can_be_gone_on_with(tmp_path):
    long = case(steps=200)
    path = begun(tmp_path, 100, [Run(long, s, s) for s in range(4)])
    run([experiment(long, seeds=(1, 3))], tmp_path, compiled=False, workers=1)
    assert path.exists()  # the others still need it
    run([experiment(long, seeds=range(4))], tmp_path, compiled=False, workers=1)
    assert not path.exists()
    run([experiment(long, seeds=range(4))], tmp_path / "whole", compiled=False, workers=1)
    with Store(tmp_path) as a, Store(tmp_path / "whole") as b:
        assert [k for _, _, k, _, _, _ in a.events()] == ["resumed", "finished"] * 2
        ours, theirs = ([o.test for o in store.outcomes()] for store in (a, b))
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)  # two runs of four share other vectors


def test_checkpoints_are_written_in_time(tmp_path):
    job = Job(tuple(Run(case(steps=300), s, s) for s in range(2)))
    settings = Settings(tmp_path, "cpu", False, (), save_every=0.0)
    kinds = [m.kind for m in write_checkpoints(attempt(job, settings), tmp_path)]
    assert kinds.count("checkpoint") == 2 and kinds[0] == "started" and kinds[-1] == "finished"
    (found,) = checkpoints.list_checkpoints(tmp_path)
    assert list(found.runs) == job.keys


class Endless:
    """A training whose steps take a second each."""

    finished = False

    def __init__(self, clock):
        self.at, self.clock = 0, clock

    def advance(self):
        self.at += 1
        self.clock[0] += 1

    def solved_now(self):
        return torch.zeros(1)

    def state(self):
        return {}


@pytest.mark.parametrize(("taken", "pause"), [(0, 4), (10, 201)])
def test_a_checkpoint_that_takes_long_is_written_more_rarely(tmp_path, monkeypatch, taken, pause):
    clock, found = [0], []
    monkeypatch.setattr(base, "_begun", lambda *_: Endless(clock))
    monkeypatch.setattr(base, "time", SimpleNamespace(monotonic=lambda: clock[0], time=time.time))
    for message in attempt(Job((Run(case(), 0, 0),)), Settings(tmp_path, "cpu", False, (), save_every=3.0)):
        if message.kind == "checkpoint":
            found.append(message.at)
            clock[0] += taken
        if message.at > 1_000:
            break
    assert found[0] == 4 and set(np.diff(found)) == {pause}


def test_a_checkpoint_of_another_version_stops_with_a_sentence_and_loses_nothing(tmp_path):
    run([experiment(seeds=(9,))], tmp_path, compiled=False, workers=1)
    path = begun(tmp_path, 100, [Run(case(), s, s) for s in range(3)])
    arrays = safetensors.numpy.load_file(path)
    about = {"version": "0.0.1", "runs": json.dumps([[case().hash, s] for s in range(3)])}
    path.write_bytes(safetensors.numpy.save(arrays, metadata=about))
    before = path.read_bytes()
    with pytest.raises(NALMError, match=r"written by nalm 0\.0\.1.*delete the file to train its 3 runs"):
        run([experiment()], tmp_path, compiled=False, workers=1)
    assert path.read_bytes() == before and trained(tmp_path) == 2


def test_half_written_checkpoints_of_killed_processes_are_removed(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    old, new = (tmp_path / "checkpoints" / name for name in ("old.tmp", "new.tmp"))
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (0, 0))
    checkpoints.remove_stale_files(tmp_path)
    assert not old.exists() and new.exists()


def test_a_checkpoint_that_goes_away_meanwhile_is_passed_over(tmp_path, monkeypatch):
    path = begun(tmp_path, 100, [Run(case(), s, s) for s in range(2)])
    monkeypatch.setattr(checkpoints, "open_checkpoint", lambda p: (_ for _ in ()).throw(FileNotFoundError(p)))
    assert checkpoints.list_checkpoints(tmp_path) == [] and path.exists()


@pytest.mark.parametrize("device", ["meta", "mps", "cuda:7", "nonsense"])
def test_a_device_that_is_not_here_is_a_sentence(device, tmp_path):
    with pytest.raises(NALMError, match="There is no"):
        run([experiment()], tmp_path / "new", device=device)
    assert not (tmp_path / "new").exists()


def test_a_damaged_checkpoint_stops_with_a_sentence(tmp_path):
    path = begun(tmp_path, 100, [Run(case(), s, s) for s in range(3)])
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(NALMError, match="is damaged"):
        run([experiment()], tmp_path, compiled=False, workers=1)


@pytest.mark.system
def test_an_error_in_a_worker_is_the_same_sentence(tmp_path):
    path = begun(tmp_path, 100, [Run(case(), s, s) for s in range(3)])
    arrays = safetensors.numpy.load_file(path) | {"params.layers.0.weight": np.zeros((3, 1, 5), np.float32)}
    keys = checkpoints.open_checkpoint(path).runs
    checkpoints.save_checkpoint(tmp_path, keys, arrays)
    with pytest.raises(NALMError, match="another population"):
        run([experiment()], tmp_path, compiled=False, workers=2)


def test_a_name_that_does_not_exist_is_found_before_anything_is_made(tmp_path):
    wrong = experiment(case("NMUU"))
    with pytest.raises(NALMError, match="Did you mean 'NMU'"):
        run([wrong], tmp_path / "new", compiled=False)
    assert not (tmp_path / "new").exists()


@pytest.mark.system
def test_two_commands_share_a_folder_and_train_nothing_twice(tmp_path):
    command = [sys.executable, "-m", "nalm", "run", "quick", "--steps", "300", "--seeds", "3"]
    command += ["--only", "range=1:2", "--only", "unit=NMU", "--only", "unit=NACMul"]
    command += ["--no-compile", "--workers", "1", "--out", str(tmp_path), "--json"]
    both = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    answers = [json.loads(p.communicate(timeout=600)[0]) for p in both]
    assert [p.returncode for p in both] == [0, 0]
    assert trained(tmp_path) == 2 * 3
    for answer in answers:
        assert [row["success"]["n"] for row in answer] == [3] * 2


def test_the_time_left_is_told_from_the_rate_so_far(monkeypatch):
    from nalm.lab.run import State

    state = State(10, 1_000)
    assert state.remaining == float("inf") and state.fraction == 0
    monkeypatch.setattr(time, "monotonic", lambda: state.started + 10)
    state.active["a"] = ("x", 5, 40, 0)
    assert state.fraction == 0.2 and state.remaining == pytest.approx(40)
