"""The compiler of this machine and its cache."""

import contextlib
import getpass
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator

CACHE = "TORCHINDUCTOR_CACHE_DIR"  # the environment variable with torch's folder of compiled programs
HEADERS = "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS"  # whether torch precompiles headers, 0 or 1
COMPILERS = {"win32": "cl", "darwin": "clang++"}  # the commands that torch calls; elsewhere g++


def without_compiler() -> str:
    """Return a sentence that says why nothing can be compiled for this machine's cores; empty if it can."""
    name = os.environ.get("CXX") or COMPILERS.get(sys.platform, "g++")
    if shutil.which(name.split()[0]) is not None:
        return ""
    return (
        f"There is no C++ compiler called {name} here: training runs uncompiled, which is slower; install one, "
        "or name yours in CXX."
    )


@contextlib.contextmanager
def compiler_cache() -> Iterator[tuple[bool, str]]:
    """Make torch write its compiled programs to a folder that can be written.

    Yields whether there is such a folder, and a sentence for the user unless it is the configured one or torch's
    default. The folder is set in the environment, which worker processes inherit; a temporary one is removed.
    """
    before = {name: os.environ.get(name) for name in (CACHE, HEADERS)}
    folder, sentence, temporary = _choose_cache(before[CACHE])
    if folder:
        os.environ[CACHE] = folder
        if _unwritable(_default_cache()):  # torch keeps precompiled headers in the default folder in any case
            os.environ[HEADERS] = "0"
    try:
        yield bool(folder), sentence
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)


def _choose_cache(configured: str | None) -> tuple[str, str, bool]:
    """Return a folder (empty if there is none), a sentence about it, and whether it is temporary."""
    try:
        default = _default_cache()
        first = configured or default
        why = _unwritable(first)
        if not why:
            return first, "", False
        refused = f"The folder {first} for compiled programs cannot be written ({why}): "
        if configured and not _unwritable(default):
            return default, f"{refused}{default} is used instead; set {CACHE} to another folder.", False
        remedy = f"every run compiles its programs again, which is slower; set {CACHE} to another folder."
        return tempfile.mkdtemp(prefix="nalm-compiled-"), refused + remedy, True
    except OSError as error:  # there is not even a folder for temporary files
        why = error.strerror or str(error)
        return "", f"Training runs uncompiled, which is slower ({why}): set TMPDIR to another folder.", False


def _default_cache() -> str:
    """Return torch's default folder, also for a user without a name, for whom torch 2.9 has none."""
    try:
        user = getpass.getuser()
    except (KeyError, ImportError, OSError):
        user = f"uid_{os.getuid()}" if hasattr(os, "getuid") else "unknown_user"
    name = re.sub(r'[\\/:*?"<>|]', "_", user)
    return os.path.join(tempfile.gettempdir(), f"torchinductor_{name}")


def _unwritable(folder: str) -> str:
    """Return why no file can be written into a folder; empty if one can."""
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or str(error)
