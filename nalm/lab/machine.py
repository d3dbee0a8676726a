"""Properties of this machine: the cores that this process may use, and what a compiler needs."""

import os
import shutil
import sys

COMPILERS = {"win32": "cl", "darwin": "clang++"}  # the commands that torch calls; elsewhere g++


def cores() -> int:
    """Return the number of cores that this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def without_compiler() -> str:
    """Why nothing can be compiled for this machine's cores, in one sentence; empty if it can."""
    name = os.environ.get("CXX") or COMPILERS.get(sys.platform, "g++")
    if shutil.which(name.split()[0]) is not None:
        return ""
    return (
        f"There is no C++ compiler called {name} here: training runs uncompiled, which is slower; install one, "
        "or name yours in CXX."
    )
