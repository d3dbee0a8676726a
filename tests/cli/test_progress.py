"""What people see while they wait."""

import io

from rich.console import Console

from nalm.cli.progress import Progress, sentence
from nalm.lab.run import State


def state(finished=3, done=500):
    found = State(10, 1_000, finished=finished, solved=2, done=done)
    found.active["p"] = ("NMU multiply U[1,2)", 5, 20, 1)
    return found


def test_one_line_tells_runs_solved_and_time_left():
    text = sentence(state())
    assert text.startswith("3 of 10 runs finished, 2 solved (60% of the steps") and "left" in text
    assert "left" not in sentence(State(10, 1_000, finished=10, done=1_000))


def test_waiting_for_another_process_is_said():
    found = state()
    found.waiting = True
    assert "waiting for another process" in sentence(found)


def test_without_a_terminal_there_are_plain_lines_and_not_too_many():
    out = io.StringIO()
    with Progress(Console(file=out, force_terminal=False, width=200)) as bar:
        for _ in range(50):
            bar(state())
        bar(State(10, 1_000, finished=10, done=1_000))
    lines = out.getvalue().splitlines()
    assert len(lines) == 2 and "\x1b" not in out.getvalue()
    assert lines[-1].startswith("10 of 10 runs finished")


def test_on_a_terminal_the_populations_in_training_are_named():
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120, _environ={"TERM": "xterm"})
    with Progress(console) as bar:
        bar(state())
    assert "NMU multiply U[1,2): step 20, 1 solved" in out.getvalue()


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines():
    out = io.StringIO()
    with Progress(Console(file=out, force_terminal=True, width=120, _environ={"TERM": "dumb"})) as bar:
        bar(state())
    assert out.getvalue().count("runs finished") == 1 and "\x1b" not in out.getvalue()


def test_on_a_cluster_the_workers_are_counted():
    found = state()
    found.workers |= {"p": "a1b2c3:100", "q": "a1b2c3:101", "r": "d4e5f6:100"}
    assert sentence(found).endswith("; 3 workers on 2 nodes")
    found.workers = {"p": "a1b2c3:100"}
    assert sentence(found).endswith("; 1 worker on 1 node")
    found.workers = {"p": "here:7", "q": ""}
    assert "worker" not in sentence(found)
