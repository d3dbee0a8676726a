"""What is broken off is tried again: in halves if memory ran out, and not for ever."""

import os
import signal

import pytest
from accidents import GREEDY, case, experiment, kinds, same

from nalm.engine import Run
from nalm.errors import NALMError
from nalm.lab.executors.queue import Job, Queue
from nalm.lab.run import run
from nalm.results.store import Store
from nalm.units.own import load


def job(count):
    return Job(tuple(Run(case(), seed, seed) for seed in range(count)))


def drained(queue):
    found = []
    while (next_one := queue.next()) is not None:
        found.append([run.seed for run in next_one.runs])
    return found


def test_memory_halves_a_population_and_what_is_left_comes_after(tmp_path):
    queue = Queue(iter([job(2)]), tmp_path)
    queue.requeue(job(5), "memory")
    assert drained(queue) == [[0, 1], [2, 3, 4], [0, 1]]


def test_a_lost_worker_is_bad_luck_three_times_then_it_is_the_size(tmp_path):
    queue = Queue(iter([]), tmp_path)
    for _ in range(2):
        queue.requeue(job(4), "lost")
        assert drained(queue) == [[0, 1, 2, 3]]
    queue.requeue(job(4), "lost")
    assert drained(queue) == [[0, 1], [2, 3]]
    queue.requeue(Job(job(4).runs[:2]), "lost")
    assert drained(queue) == [[0], [1]]
    with pytest.raises(NALMError, match=r"with seed 0 alone .*every finished run is safe"):
        queue.requeue(job(1), "lost")


def test_a_checkpoint_in_between_and_a_node_that_went_away_are_not_counted(tmp_path):
    queue = Queue(iter([]), tmp_path)
    for _ in range(5):
        queue.requeue(job(4), "lost")
        queue.requeue(job(4), "moved")
        queue.advanced(job(4))
    assert drained(queue) == [[0, 1, 2, 3]] * 10


def test_one_run_that_needs_too_much_is_a_sentence(tmp_path):
    with pytest.raises(NALMError, match="alone ran out of memory"):
        Queue(iter([]), tmp_path).requeue(job(1), "memory")


@pytest.mark.slow
def test_processes_replace_a_killed_worker_and_halve_what_is_too_large(tmp_path):
    (tmp_path / "greedy.py").write_text(GREEDY)
    own = f"{tmp_path / 'greedy.py'}:Greedy"
    unit, killed = load(own), []

    def kill(state):
        for worker in state.workers.values():
            if worker and not killed:
                killed.append(worker)
                os.kill(int(worker.partition(":")[2]), signal.SIGKILL)

    asked = [experiment(case(steps=200), case(unit, steps=200), seeds=range(5))]
    run(asked, tmp_path / "two", compiled=False, workers=2, units=[own], show=kill)
    run(asked, tmp_path / "one", compiled=False, workers=1)
    with Store(tmp_path / "two") as two, Store(tmp_path / "one") as one:
        assert kinds(two).count("lost") == 1 and kinds(two).count("memory") >= 2
        same(two, one)


@pytest.mark.usefixtures("forget_units")
def test_a_mistake_in_a_unit_is_a_sentence_with_its_name(tmp_path, capsys):
    (tmp_path / "odd.py").write_text(
        "from nalm import NMU\nclass Odd(NMU):\n    def compute(self, x):\n"
        "        return super().compute(x) if x.shape[-2] != 16 else 1 / 0\n"
    )
    own = f"{tmp_path / 'odd.py'}:Odd"
    with pytest.raises(
        NALMError, match=r"Training 3 runs of 'Odd@.*failed: ZeroDivisionError: division by zero"
    ):
        run([experiment(case(load(own), steps=10))], tmp_path / "out", compiled=False, workers=1, units=[own])
    assert "Traceback" in capsys.readouterr().err
