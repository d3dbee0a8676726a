"""What every test can count on, whatever the machine, the terminal and the person's own settings."""

import os
import shlex
import signal
import sys

import pytest
import torch
from hypothesis import HealthCheck, settings

OWN = (  # what a person or a service of continuous integration sets, and what changes the commands' output
    "CLICOLOR_FORCE",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "JUPYTER_COLUMNS",
    "NO_COLOR",
    "PY_COLORS",
    "RAY_ADDRESS",
    "TERMINAL_WIDTH",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)
for name in OWN:
    os.environ.pop(name, None)
os.environ["COLUMNS"], os.environ["LINES"] = "80", "24"  # a test of another width says so
# in the processes that tests start, as pytest's own setting here; scripts/versions.py asks for less with old packages
os.environ["PYTHONWARNINGS"] = os.environ.get("NALM_TEST_WARNINGS", "error")

if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):  # a shell starts commands in the background so; tests send it
    signal.signal(signal.SIGINT, signal.default_int_handler)

LIBRARIES = os.path.join(os.path.dirname(torch.__file__), "lib")
if (
    shlex.quote(LIBRARIES) != LIBRARIES
):  # torch does not quote it; tests that call torch.compile themselves need it
    from torch.utils import cpp_extension

    cpp_extension.TORCH_LIB_PATH = shlex.quote(LIBRARIES)

torch.set_num_threads(1)  # the tests run side by side

settings.register_profile(
    "nalm",
    database=None,  # it would be written beside the checkout, which may be read-only
    deadline=None,  # a busy machine is slow
    derandomize=True,  # what fails here fails everywhere
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("nalm")


@pytest.fixture
def forget_units():
    """Remove the units that a test loads from a file: they are registered for the whole process."""
    yield
    units = sys.modules.get("nalm.units")
    if units is not None:
        for name in [name for name in units.UNITS if "@" in name]:
            del units.UNITS[name]


@pytest.fixture
def docs_path(monkeypatch):
    """Let a test import the modules that write the site, and forget them afterwards."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "docs")
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") == folder:
            sys.modules.pop(name)
