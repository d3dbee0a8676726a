"""A Ray cluster on this machine that nalm starts for one command and removes afterwards."""

import contextlib
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from nalm.results import locks

PREFIX = "nalm-ray-"  # of the temporary folders of these clusters
OBJECT_STORE = 256 * 2**20  # bytes


def start(ray: Any, stack: contextlib.ExitStack, workers: int | None) -> None:
    """Start a cluster that only this machine can reach; ``stack`` removes its folder and logs at the end."""
    # the paths of sockets must be short
    base = Path("/tmp" if os.path.isdir("/tmp") else tempfile.gettempdir())
    remove_dead_clusters(base)
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=base)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    stack.callback(locks.acquire(Path(folder))[1].close)
    ray.init(
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.CRITICAL,
        object_store_memory=OBJECT_STORE,
        _node_ip_address="127.0.0.1",
        _temp_dir=folder,
    )


def remove_dead_clusters(base: Path) -> None:
    """End the processes of clusters whose driver was killed (its lock is not held), and remove their folders."""
    import psutil  # comes with Ray

    for folder in base.glob(f"{PREFIX}*"):
        names = [path.name for path in (folder / locks.FOLDER).glob("*")]
        if not names or any(locks.is_held(folder, name) for name in names):
            continue  # in use, or another process is just starting it
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                words = process.cmdline()
                if any(str(folder) in word for word in words) and process.pid != os.getpid():
                    process.kill()
        shutil.rmtree(folder, ignore_errors=True)
