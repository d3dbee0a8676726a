"""Set-up: what each command installs, and that every version of it is pinned."""

import re
import subprocess
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALL_EXTRAS = PROJECT["optional-dependencies"]
LARGE = {
    "lightning",
    "transformers",
    "onnx",
}  # `make integrations` installs them; elsewhere their tests are skipped
EXTRAS = {name: stated for name, stated in ALL_EXTRAS.items() if name not in LARGE}
HEAVY = {
    "ray",
    "gplearn",
    "pysindy",
    "playwright",
    "ruff",
    "mypy",
    "pytest",
    "plotly",
    "pandas",
    "torchdiffeq",
}
# what torch brings along where it is built for CUDA
BY_MACHINE = re.compile(r"nvidia-|cuda-|triton|pytorch-triton")


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    split = [line.split("==") for line in lines]
    assert all(len(parts) == 2 for parts in split), "every line of constraints.txt is name==version"
    return {canonicalize_name(name): version for name, version in split}


def needed(stated: list[str]) -> set[str]:
    """The names of all packages that these requirements install here, those of the requirements' own included."""
    found, left = set(), [(Requirement(text), "") for text in stated]
    while left:
        requirement, extra = left.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        if name in found or BY_MACHINE.match(name):
            continue
        found.add(name)
        try:
            theirs = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # nothing is known of what is not installed
            continue
        left += [(Requirement(text), extra) for text in theirs for extra in ("", *requirement.extras)]
    return found


def commands(target: str) -> str:
    """What make would run for this target in a checkout where nothing is set up."""
    said = subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return said.stdout


def test_demo_installs_neither_clusters_nor_browsers_nor_rivals_nor_linters():
    assert not needed(PROJECT["dependencies"]) & HEAVY
    asked = re.findall(r"--editable (\S+)", commands("demo"))
    assert asked == ["."], "the demo installs the package without extras"


def test_large_extras_have_a_target_of_their_own():
    (*_, asked) = re.findall(r"--editable '\.\[(.*?)\]'", commands("integrations"))
    assert set(asked.split(",")) == set(ALL_EXTRAS) - set(EXTRAS) == LARGE


def test_tests_install_every_other_extra():
    (asked,) = re.findall(r"--editable '\.\[(.*?)\]'", commands("test"))
    assert set(asked.split(",")) == set(EXTRAS)


@pytest.mark.parametrize("target", ["demo", "report", "test"])
def test_set_up_says_what_takes_time_and_keeps_to_the_constraints(target):
    said = commands(target)
    assert "Installing what the" in said
    assert said.count("pip install") == said.count("--constraint constraints.txt") == 1


def test_torch_is_pinned_exactly():
    assert re.fullmatch(r"\d+\.\d+\.\d+", pins()["torch"]), "anything looser brings gigabytes of CUDA along"


def installed(name: str) -> str:
    """The version of a package that is installed here, without its local part; empty if there is none."""
    try:
        return metadata.version(name).split("+")[0]
    except metadata.PackageNotFoundError:
        return ""


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_everything_that_set_up_installs_is_pinned(extra):
    stated = EXTRAS[extra] if extra else PROJECT["dependencies"]
    for name in (Requirement(text).name for text in stated):
        if installed(name) != pins()[canonicalize_name(name)]:
            pytest.skip(f"this environment has another {name} than constraints.txt says, or none")
    assert not needed(stated) - set(pins())


def test_pins_are_versions_that_the_project_admits():
    stated = [Requirement(text) for text in [*PROJECT["dependencies"], *chain(*EXTRAS.values())]]
    for requirement in stated:
        assert pins()[canonicalize_name(requirement.name)] in requirement.specifier, str(requirement)


def test_old_python_is_told_so(tmp_path):
    old = tmp_path / "python3.9"
    old.write_text(
        '#!/bin/sh\ncase "$1$2" in -c) ;; --version) echo Python 3.9.18 ;; *) exit 1 ;; esac\n',
        encoding="utf-8",
    )
    old.chmod(0o755)
    assert "needs 3.11 or newer" in refused(tmp_path, str(old))


def test_python_without_venv_is_told_so(tmp_path):
    bare = tmp_path / "python3"
    bare.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1 ;; esac\n', encoding="utf-8")
    bare.chmod(0o755)
    assert "apt install python3-venv" in refused(tmp_path, str(bare))


def test_missing_python_is_told_so(tmp_path):
    assert "is not here or does not start" in refused(tmp_path, str(tmp_path / "nowhere"))


def refused(place: Path, python: str) -> str:
    """What make says when it sets up with this Python in a folder that has no environment."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        (place / name).write_bytes((ROOT / name).read_bytes())
    said = subprocess.run(
        ["make", f"PYTHON={python}", ".venv/.demo"], cwd=place, capture_output=True, text=True
    )
    assert said.returncode != 0
    assert not (place / ".venv").exists()
    return said.stdout


def test_parts_that_continuous_integration_repeats_exist():
    listed = (ROOT / "tests" / "part.txt").read_text(encoding="utf-8").splitlines()
    named = [line for line in listed if line and not line.startswith("#")]
    assert named
    assert [line for line in named if not (ROOT / line.split("::")[0]).exists()] == []
