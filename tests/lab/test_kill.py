"""Pull the plug: `nalm run` is killed at random moments, and nothing is lost or done twice."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nalm.cli import app
from nalm.errors import NALMError
from nalm.results.store import Store

pytestmark = pytest.mark.system

TOLERANCE = 1e-4  # relative, on errors: a resumed population may be a part of the first one


def command(out: Path, units: list[str], steps: int, seeds: int, workers: int) -> list[str]:
    only = [word for unit in units for word in ("--only", f"unit={unit}")]
    sizes = ["--steps", str(steps), "--seeds", str(seeds), "--only", "range=1:2", "--only", "range=-2:-1"]
    how = ["--no-compile", "--workers", str(workers), "--save-every", "0.5", "--out", str(out)]
    return [sys.executable, "-m", "nalm", "run", "quick", *only, *sizes, *how]


def killed(out: Path, command: list[str], after: float, late: bool) -> tuple[float, bool] | None:
    """Start the command, kill it so long after it has begun to train (late: and a run is stored), or None if done."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    begun = _sessions(out)
    try:
        while process.poll() is None and (_sessions(out) == begun or (late and not _stored(out))):
            time.sleep(0.01)
        deadline = time.monotonic() + after
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        if process.poll() is not None:
            return None
        return time.time(), _stored(out) > 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()


def _sessions(out: Path) -> int:
    """Sessions that have begun to train."""
    try:
        with Store(out) as store:
            return len({event[0] for event in store.events() if event[2] in ("started", "resumed")})
    except NALMError:  # nothing there yet
        return 0


def _stored(out: Path) -> int:
    with Store(out) as store:
        return len(store.finished())


def compare(a: Store, b: Store) -> None:
    """The same cases, seeds, draws, initial weights and verdicts; metrics within the tolerance."""
    ours, theirs = a.outcomes("quick"), b.outcomes("quick")
    assert [(o.case, o.seed, o.outcome) for o in ours] == [(o.case, o.seed, o.outcome) for o in theirs]
    for o, p in zip(ours, theirs, strict=True):
        np.testing.assert_allclose([o.test, o.validation], [p.test, p.validation], rtol=TOLERANCE)
        mine, other = a.arrays(o.case.hash, o.seed), b.arrays(o.case.hash, o.seed)
        assert mine.keys() == other.keys()
        for name in mine:
            if name.startswith("trajectories."):
                np.testing.assert_array_equal(mine[name][0], other[name][0])  # the start
        np.testing.assert_allclose(mine["test"][0], other["test"][0], rtol=1e-6)  # the draws


def check_counters(store: Store, kills: list[tuple[float, bool]], total: int) -> None:
    """No finished run was trained again; no kill cost more than 30 seconds of training."""
    events = store.events()
    assert sum(runs for _, _, kind, _, runs, _ in events if kind == "finished") == total
    for moment, _ in kills:
        before = [e for e in events if e[1] <= moment]
        session = before[-1][0]
        last = {e[3]: e[1] for e in before if e[0] == session}  # per population, its last sign
        done = {e[3] for e in before if e[2] == "finished"}
        assert all(moment - seen < 30 for population, seen in last.items() if population not in done)


def pull(tmp_path: Path, units: list[str], steps: int, workers: int, wanted: int, spread: float) -> None:
    seeds = 2
    asked = command(tmp_path / "killed", units, steps, seeds, workers)
    kills, chance = [], random.Random(7)
    while len(kills) < wanted:
        late = len(kills) >= wanted // 2
        landed = killed(tmp_path / "killed", asked, chance.uniform(0.0, spread), late)
        if landed is None:
            break
        kills.append(landed)
    assert subprocess.run(asked, capture_output=True, timeout=600, check=False).returncode == 0
    whole = command(tmp_path / "whole", units, steps, seeds, workers)
    assert CliRunner().invoke(app, whole[3:]).exit_code == 0
    with Store(tmp_path / "killed") as a, Store(tmp_path / "whole") as b:
        compare(a, b)
        check_counters(a, kills, len(units) * 2 * seeds)
    assert not list((tmp_path / "killed").rglob("*.safetensors"))
    assert len(kills) == wanted, f"only {len(kills)} kills landed"
    assert sum(committed for _, committed in kills) >= wanted // 3


def test_a_kill_loses_nothing(tmp_path):
    """At once after the first population is stored: on a fast machine the second one takes little longer."""
    pull(tmp_path, ["NMU", "NACMul"], 1_200, 1, wanted=1, spread=0.0)


@pytest.mark.slow
def test_thirty_kills_lose_nothing(tmp_path):
    pull(tmp_path, ["NMU", "SNMU", "NACMul", "NALU", "INALU", "RealNPU"], 8_000, 2, wanted=30, spread=2.0)
