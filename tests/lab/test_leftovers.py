"""What a command leaves behind when it ends, is stopped or is killed: no process, no temporary file, no warning."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nalm.errors import NALMError
from nalm.results import locks
from nalm.results.store import NAME, Store

pytestmark = pytest.mark.system

PATIENCE = 120  # seconds until something has surely happened


@pytest.fixture
def started(tmp_path):
    """Start runs of two populations in sessions of their own, where every warning is an error; kill them at the end."""
    processes = []

    def start(*, steps, workers=2):
        (tmp_path / "temporary").mkdir()
        command = [sys.executable, "-m", "nalm", "run", "quick", "--seeds", "1", "--steps", str(steps)]
        command += [
            "--only",
            "unit=NMU",
            "--only",
            "unit=NACMul",
            "--workers",
            str(workers),
            "--no-compile",
        ]
        environment = os.environ | {"TMPDIR": str(tmp_path / "temporary"), "PYTHONWARNINGS": "error"}
        environment |= {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "compiled")}  # which is meant to stay
        with open(tmp_path / "stderr", "wb") as errors:
            processes.append(
                subprocess.Popen(
                    [*command, "--out", str(tmp_path / "out")],
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=environment,
                    start_new_session=True,
                )
            )
        return processes[-1]

    yield start
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def soon(holds):
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


def training(tmp_path, many):
    """Whether so many populations have been begun."""
    try:
        with Store(tmp_path / "out") as store:
            return sum(event[2] == "started" for event in store.events()) >= many
    except NALMError:
        return False


def living(session):
    """The processes of a session that are not dead."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, its = path.read_text(encoding="utf-8").rpartition(")")[2].split()[:4]
        except (OSError, ValueError):
            continue
        if int(its) == session and state != "Z":
            found.append(int(path.parent.name))
    return found


def check_nothing_is_left(process, tmp_path):
    if Path("/proc/self/stat").exists():
        soon(lambda: not living(process.pid))
    assert not list((tmp_path / "temporary").rglob("*"))
    assert not list((tmp_path / "out" / "checkpoints").glob("*.tmp"))


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_run_that_ends_leaves_nothing_and_warns_of_nothing(workers, tmp_path, started):
    process = started(steps=50, workers=workers)
    assert process.wait(PATIENCE) == 0
    lines = (tmp_path / "stderr").read_text(encoding="utf-8").splitlines()
    assert all(" runs finished, " in line for line in lines[1:])
    assert lines[0].startswith("Schedules are scaled")
    check_nothing_is_left(process, tmp_path)


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_a_run_that_is_stopped_says_so_and_leaves_nothing(number, tmp_path, started):
    process = started(steps=10_000_000)
    soon(lambda: training(tmp_path, 2))
    process.send_signal(number)
    assert process.wait(PATIENCE) == 128 + number
    lines = (tmp_path / "stderr").read_text(encoding="utf-8").splitlines()
    assert [line[:9] for line in lines if " runs finished, " not in line] == ["Schedules", "Stopped. "]
    check_nothing_is_left(process, tmp_path)
    with Store(tmp_path / "out") as store:
        assert store.count_abandoned() == 0  # nothing is taken any more


def test_workers_of_a_run_that_is_killed_end_too(tmp_path, started):
    process = started(steps=10_000_000)
    soon(lambda: training(tmp_path, 2))
    process.kill()
    process.wait(PATIENCE)
    check_nothing_is_left(process, tmp_path)
    with Store(tmp_path / "out") as store:
        # the lock died with it
        assert store.count_abandoned() > 0 and not any(s["alive"] for s in store.sessions())


def test_a_worker_that_cannot_start_leaves_nothing(tmp_path):
    code = (
        "import multiprocessing.popen_spawn_posix as p, pathlib, sys\n"
        "from nalm.lab.executors import base, local\n"
        "def fail(*_): raise OSError(11, 'no more processes')\n"
        "p.Popen._launch = fail\n"
        "try: local._start_worker(base.Settings(pathlib.Path(sys.argv[1])), 1)\n"
        "except OSError as error: print(error)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert "no more processes" in done.stdout and not done.stderr
    assert not list(tmp_path.iterdir())


def test_a_worker_that_is_ending_cleans_up_in_spite_of_sigterm(tmp_path):
    code = (
        "import atexit, multiprocessing, os, pathlib, signal, sys\n"
        "from nalm.lab.executors import base, local\n"
        "ours, theirs = multiprocessing.Pipe()\n"
        "ours.close()\n"
        "atexit.register(lambda: (os.kill(os.getpid(), signal.SIGTERM), print('cleaned up')))\n"
        "local._serve(theirs, base.Settings(pathlib.Path(sys.argv[1])), 1)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "cleaned up\n", "")


def test_what_a_killed_driver_left_of_its_ray_cluster_is_removed_by_the_next(tmp_path):
    pytest.importorskip("ray")
    from nalm.lab.executors import own_cluster

    dead, living_one, new = (tmp_path / f"nalm-ray-{name}" for name in ("dead", "living", "new"))
    for folder in (dead, living_one, new):
        folder.mkdir()
    locks.acquire(dead)[1].close()  # as a kill does
    held = locks.acquire(living_one)[1]
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    agents = [subprocess.Popen([*sleep, f"--temp={folder}/session"]) for folder in (dead, living_one)]
    try:
        own_cluster.remove_dead_clusters(tmp_path)
        assert agents[0].wait(PATIENCE) == -signal.SIGKILL and agents[1].poll() is None
        assert not dead.exists() and living_one.exists() and new.exists()
    finally:
        held.close()
        for agent in agents:
            agent.kill()
            agent.wait()


def test_a_database_that_is_refused_is_closed(tmp_path, monkeypatch):
    opened, connect = [], sqlite3.connect

    def recorded(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    with contextlib.closing(connect(tmp_path / NAME)) as db:
        db.execute("CREATE TABLE somebodys (a)")
    monkeypatch.setattr(sqlite3, "connect", recorded)
    for create in (False, True):
        with pytest.raises(NALMError, match="another program"):
            Store(tmp_path, create=create)
    with Store(tmp_path / "out", create=True) as store:
        store.begin("nalm run", "2.13.0")
        assert store.reserve([("a", 0)]) == [("a", 0)] and store.sessions()[0]["alive"]
    assert len(opened) >= 5
    for db in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")


SWALLOWED = """
import os, signal, sys, time
from nalm.lab.executors.local import _stop, _stop_again
class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.unraisablehook = _stop_again
    late = Late()
    del late
    time.sleep(60)
"""


def test_a_worker_stops_also_if_the_signal_comes_while_python_runs_a_destructor(tmp_path):
    script = tmp_path / "late.py"
    script.write_text(SWALLOWED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (128 + signal.SIGTERM, "")
