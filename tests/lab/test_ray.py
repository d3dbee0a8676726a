"""Training on a real Ray cluster of two nodes: what one process gives, whatever is killed on the way."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from accidents import GREEDY, case, experiment, kinds, same
from typer.testing import CliRunner

from nalm.cli import app
from nalm.engine import Run
from nalm.errors import NALMError
from nalm.lab.executors import ray as cluster
from nalm.lab.run import run
from nalm.results.store import Store

pytestmark = [pytest.mark.system, pytest.mark.xdist_group("ray")]


@pytest.fixture(scope="module")
def nodes():
    """Two machines of one core each, as far as Ray knows."""
    logs = tempfile.mkdtemp(prefix="nalm-ray-", dir="/tmp")  # its path must be short
    os.mkdir(f"{logs}/ray")  # for the cluster's address, which Ray writes without making the folder
    setting = pytest.MonkeyPatch()
    setting.setenv("RAY_TMPDIR", logs)
    setting.setenv("RAY_AUTH_MODE", "disabled")  # or Ray keeps a token in the home folder
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    cluster._ray()
    from ray.cluster_utils import Cluster

    period = {"health_check_period_ms": 300, "health_check_initial_delay_ms": 0}
    soon = {**period, "health_check_failure_threshold": 3}  # a dead node is noticed in a second
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": soon, "temp_dir": logs}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    second = nodes.add_node(num_cpus=1)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="CRITICAL")
    yield nodes, second
    ray.shutdown()
    nodes.shutdown()
    setting.undo()
    shutil.rmtree(logs, ignore_errors=True)


def test_a_node_is_killed_in_the_middle_and_the_results_are_those_of_one_process(nodes, tmp_path):
    machines, second = nodes
    killed = []

    def kill(state):
        """Once the second node has come half way with a population."""
        for name, worker in state.workers.items():
            here = worker.startswith(second.node_id[:6])
            if here and 1_000 <= state.active[name][2] < 2_000 and not killed:
                killed.append(name)
                machines.remove_node(second, allow_graceful=False)

    asked = [experiment(case(), case("NAU", "add"))]
    state = run(
        asked, tmp_path / "ray", compiled=False, executor=cluster.Cluster(), show=kill, save_every=0.2
    )
    assert killed and state.finished == 6
    run(asked, tmp_path / "one", compiled=False, workers=1)
    with Store(tmp_path / "ray") as ours, Store(tmp_path / "one") as one:
        assert kinds(ours).count("moved") + kinds(ours).count("lost") == 1
        assert kinds(ours).count("finished") == 2
        same(ours, one)
    assert not list((tmp_path / "ray").rglob("*.safetensors"))


@pytest.mark.slow
def test_a_killed_worker_and_a_population_too_large_are_tried_again(nodes, tmp_path):
    (tmp_path / "greedy.py").write_text(GREEDY)
    from nalm.units.own import load

    own = f"{tmp_path / 'greedy.py'}:Greedy"
    unit, killed = load(own), []

    def kill(state):
        for worker in state.workers.values():
            if worker and not killed:
                killed.append(worker)
                os.kill(int(worker.partition(":")[2]), signal.SIGKILL)

    asked = [experiment(case(steps=200), case(unit, steps=200), seeds=range(5))]
    run(asked, tmp_path / "ray", compiled=False, executor=cluster.Cluster(), units=[own], show=kill)
    run(asked, tmp_path / "one", compiled=False, workers=1)
    with Store(tmp_path / "ray") as ours, Store(tmp_path / "one") as one:
        assert kinds(ours).count("lost") == 1 and kinds(ours).count("memory") >= 2
        assert kinds(one).count("memory") == 2  # five, then three of them
        sizes = sorted(runs for _, _, kind, _, runs, _ in ours.events() if kind == "finished")
        assert sizes == [1, 2, 2, 5]
        same(ours, one)


@pytest.mark.slow
def test_a_driver_dies_and_another_ends_its_work_beside_a_third(nodes, tmp_path):
    machines, _ = nodes
    only = [word for unit in ("NMU", "NACMul", "RealNPU", "NALU") for word in ("--only", f"unit={unit}")]
    command = [sys.executable, "-m", "nalm", "run", "quick", *only, "--only", "range=1:2", "--seeds", "2"]
    command += ["--steps", "3000", "--no-compile", "--save-every", "0.5", "--out", str(tmp_path), "--json"]
    ray, local = [*command, "--on", f"ray:{machines.address}"], [*command, "--workers", "1"]
    first = subprocess.Popen(ray, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not _checkpoints(tmp_path):
        time.sleep(0.1)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    both = [subprocess.Popen(c, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for c in (ray, local)]
    answers = [json.loads(p.communicate(timeout=200)[0]) for p in both]
    assert (
        [row["success"]["n"] for row in answers[0]] == [row["success"]["n"] for row in answers[1]] == [2] * 4
    )
    with Store(tmp_path) as store:
        assert "resumed" in kinds(store)
        assert sum(runs for _, _, kind, _, runs, _ in store.events() if kind == "finished") == 8


def _checkpoints(folder):
    with contextlib.suppress(NALMError), Store(folder) as store:
        return "checkpoint" in kinds(store)
    return False


def test_without_ray_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NALMError, match=r"pip install 'nalm\[ray\]'"), cluster.connected("ray"):
        pass
    done = CliRunner().invoke(app, ["run", "quick", "--on", "ray", "--out", str(tmp_path / "new")])
    assert isinstance(done.exception, NALMError) and "nalm[ray]" in str(done.exception)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("on", ["dask", "rays", "", "ray2:auto"])
def test_another_kind_of_cluster_is_refused(on):
    with pytest.raises(NALMError, match="--on takes ray or ray:ADDRESS"), cluster.connected(on):
        pass


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999", "no-such-host.invalid:6379"])
def test_a_cluster_that_is_not_there_is_a_sentence_at_once(address, monkeypatch):
    ray = pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # another test may be connected to its own
    with pytest.raises(NALMError, match="There is no Ray cluster at"), cluster.connected(f"ray:{address}"):
        pass


def test_a_client_address_and_a_device_that_no_cluster_has_are_refused():
    with pytest.raises(NALMError, match="a client's address"), cluster.connected("ray:ray://head:10001"):
        pass
    with pytest.raises(NALMError, match="no device called 'cuda:1'"), cluster.connected("ray", "cuda:1"):
        pass


class Fake:
    """Resources without a cluster."""

    def __init__(self, **have):
        self.have = have

    def cluster_resources(self):
        return self.have


def made(device="cpu", **have):
    found = object.__new__(cluster.Cluster)
    found.ray, found.device, found.gpu = Fake(**have), device, 0.0833 if device == "cuda" else 0
    return found


def test_a_gpu_is_shared_by_a_dozen_tasks_with_a_core_each():
    assert made(CPU=6.0).slots() == 6 and made().slots() == 1
    assert made("cuda", CPU=64.0, GPU=2.0).slots() == 24
    assert made("cuda", CPU=8.0, GPU=2.0).slots() == 8


def test_populations_are_cut_for_the_workers_but_not_too_small():
    long = [Run(case(steps=50_000_000), seed, seed) for seed in range(1_000)]
    short = [Run(case(steps=50_000), seed, seed) for seed in range(1_000)]
    for runs, compiled, workers, least in ((long, True, 8, 24), (short, True, 8, 1), (short, False, 2, 6)):
        pieces = made(CPU=float(workers)).pieces(runs, compiled)
        assert [run for piece in pieces for run in piece] == runs
        assert len(pieces) >= least and len(pieces) <= 4 * workers + 1
    assert len(made(CPU=8.0).pieces(short, True)) == 1


@pytest.mark.slow
def test_a_cluster_starts_on_a_machine_whose_name_no_server_knows(tmp_path):
    pytest.importorskip("ray", reason="the extra 'ray' is not installed")
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        pytest.skip("only root can rename the machine for one process")
    renamed = [
        unshare,
        "-u",
        "sh",
        "-c",
        'echo nowhere.invalid > /proc/sys/kernel/hostname && exec "$@"',
        "sh",
    ]
    options = ["--only", "unit=NMU", "--only", "range=1:2", "--seeds", "1", "--steps", "20", "--no-compile"]
    command = [sys.executable, "-m", "nalm", "run", "quick", *options, "--workers", "1", "--on", "ray"]
    done = subprocess.run(
        [*renamed, *command, "--out", str(tmp_path), "--json"], capture_output=True, text=True, check=False
    )
    if "hostname" in done.stderr or "unshare" in done.stderr:
        pytest.skip("the machine cannot be renamed here")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["success"]["n"] == 1
