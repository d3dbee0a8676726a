"""Run a part of the tests on every Python and with the oldest packages that pyproject.toml admits.

``make versions`` calls it. Each environment lies in .venv-versions/ and is made once; where torch can be had only
with its CUDA packages it takes some gigabytes. The tests are those of tests/part.txt.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PLACE = HERE / ".venv-versions"
EXTRAS = "dev,report,sklearn,parquet,ray"

# Old packages among new ones warn of what will go away: that is no error of ours.
KINDS = [f"default::{kind}Warning" for kind in ("Deprecation", "PendingDeprecation", "Future")]
LENIENT = [f"-W{kind}" for kind in KINDS]

# name, Python, what uv installs. The rivals are left out of the oldest: pysindy 2.0 asks for numpy 2.0.
PINNED = ["--constraint", "constraints.txt", "--editable", f".[{EXTRAS},baselines]"]
OLDEST = ["--resolution", "lowest-direct", "--editable", f".[{EXTRAS}]"]
ENVIRONMENTS = [
    ("3.11", "3.11", PINNED),
    ("3.12", "3.12", PINNED),
    ("3.13", "3.13", PINNED),
    ("oldest", "3.11", OLDEST),
]


def main(chosen: list[str]) -> int:
    """Make each environment and run the tests in it; the exit status is 1 where any of that failed."""
    PLACE.mkdir(exist_ok=True)
    uv = _uv()
    known = [name for name, _, _ in ENVIRONMENTS]
    if unknown := set(chosen) - set(known):
        print(f"There is no environment {', '.join(sorted(unknown))}: choose from {', '.join(known)}.")
        return 2
    lines = []
    for name, version, packages in ENVIRONMENTS:
        if chosen and name not in chosen:
            continue
        problem = _set_up(uv, name, version, packages)
        passed, said = (False, problem) if problem else _test(name)
        lines.append((name, passed, said))
    print()
    for name, passed, said in lines:
        print(f"{name:<8} {'ok    ' if passed else 'failed'}  {said}")
    return 0 if all(passed for _, passed, _ in lines) else 1


def _uv() -> str:
    """Return the path of uv: on PATH, or in .venv-versions, where it is installed if it is missing."""
    for place in (Path(entry) / "uv" for entry in os.get_exec_path()):
        if os.access(place, os.X_OK):
            return str(place)
    own = PLACE / "uv" / "bin" / "uv"
    if not own.exists():
        subprocess.run([sys.executable, "-m", "venv", PLACE / "uv"], check=True)
        subprocess.run([PLACE / "uv" / "bin" / "python", "-m", "pip", "install", "--quiet", "uv"], check=True)
    return str(own)


def _set_up(uv: str, name: str, version: str, packages: list[str]) -> str:
    """Make an environment with these packages, unless it is there and newer than its sources.

    Return the problem, if there is one.
    """
    place, stamp = PLACE / name, PLACE / f"{name}.ready"
    sources = [HERE / "pyproject.toml", HERE / "constraints.txt", Path(__file__)]
    if stamp.exists() and stamp.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return ""
    python = _python(uv, version)
    if not python:
        return f"Python {version} is not here, neither on PATH nor under pyenv, and uv could not download it."
    print(
        f"Installing {name} on {python} into {place.relative_to(HERE)} (may take minutes and gigabytes) ...",
        flush=True,
    )
    stamp.unlink(missing_ok=True)
    for command in (
        [uv, "venv", "--quiet", "--clear", "--python", python, str(place)],
        [uv, "pip", "install", "--quiet", "--python", str(place / "bin" / "python"), *packages],
    ):
        if subprocess.run(command, cwd=HERE, env=_as_pip_does()).returncode:
            return f"`{' '.join(command)}` failed."
    stamp.touch()
    return ""


def _as_pip_does() -> dict[str, str]:
    """Return the environment variables, with pip's sources of packages also under uv's names for them."""
    theirs = {
        "UV_FIND_LINKS": "PIP_FIND_LINKS",
        "UV_DEFAULT_INDEX": "PIP_INDEX_URL",
        "UV_INDEX": "PIP_EXTRA_INDEX_URL",
    }
    told = {new: os.environ[old] for new, old in theirs.items() if old in os.environ}
    return told | dict(os.environ)


def _python(uv: str, version: str) -> str:
    """Return the path of a Python of this version that starts: from PATH, from pyenv, or downloaded by uv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [sys.executable, *(Path(entry) / f"python{version}" for entry in os.get_exec_path())]
    places += sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
    for place in map(str, places):
        if _version(place) == version:
            return place
    print(f"Python {version} is not here: asking uv for it ...", flush=True)
    subprocess.run([uv, "python", "install", "--quiet", version])
    found = subprocess.run(
        [uv, "python", "find", "--managed-python", version], capture_output=True, text=True
    )
    return found.stdout.strip()


def _version(python: str) -> str:
    """Return the version of a Python, such as 3.12; empty if it does not start, as shims of pyenv may not."""
    if not os.access(python, os.X_OK):
        return ""
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    told = subprocess.run([python, "-c", asked], capture_output=True, text=True)
    return told.stdout.strip() if told.returncode == 0 else ""


def _test(name: str) -> tuple[bool, str]:
    """Run the tests in an environment; return whether they pass, and pytest's closing line."""
    listed = (HERE / "tests" / "part.txt").read_text(encoding="utf-8").splitlines()
    tests = [line for line in listed if line and not line.startswith("#")]
    print(f"\n== {name}: {len(tests)} entries of tests/part.txt", flush=True)
    python = str(PLACE / name / "bin" / "python")
    command = [python, "-m", "pytest", "-q", "-n", "auto", "--dist=loadgroup", "-pno:cacheprovider"]
    command += [*(LENIENT if name == "oldest" else []), *tests]
    began = time.monotonic()
    said_all = []
    surroundings = os.environ | {"OMP_NUM_THREADS": "1"}
    if name == "oldest":
        surroundings["NALM_TEST_WARNINGS"] = ",".join(["error", *KINDS])
    with subprocess.Popen(command, cwd=HERE, env=surroundings, stdout=subprocess.PIPE, text=True) as run:
        for line in run.stdout or ():
            print(line, end="", flush=True)
            said_all.append(line)
    closing = re.findall(r"^=* ?(\d+ \w+.* in [\d.]+s).*$", "".join(said_all), flags=re.MULTILINE)
    said = closing[-1] if closing else f"pytest stopped with status {run.returncode}"
    return run.returncode == 0, f"{said} ({time.monotonic() - began:.0f} s)"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
