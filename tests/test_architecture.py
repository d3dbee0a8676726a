"""The dependency rule of docs/architecture.md: imports point downwards, and some parts stay light."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "nalm"

# files of the top level that everybody may import, and what they may import themselves
BASE = {
    "__init__": set(),  # exports names lazily; what imports it wants the version
    "errors": set(),
    "operating_system": {"errors"},
    "operations": {"errors"},
    "functional": set(),
    "draws": set(),
    "stats": {"errors"},
    "losses": {"errors", "functional"},
}

# room -> the rooms it may import, besides itself and the base
BELOW = {
    "units": set(),
    "population": {"units"},
    "config": set(),
    "tasks": {"config"},
    "networks": {"units", "config", "tasks"},
    "formulas": {"units", "tasks", "config"},
    "testing": {"units", "population", "formulas"},
    "results": {"config"},
    "engine": {"units", "networks", "formulas", "config", "tasks", "results"},
    "data": set(),
    "experiments": {"config"},
    "landscapes": {"units", "tasks", "config"},
    "claims": {"experiments", "results", "config", "formulas", "tasks", "units", "landscapes"},
    "discover": {"units"},
    "lab": {"engine", "results", "experiments", "config", "units", "networks", "tasks", "discover"},
    "ode": {"discover"},
    "report": {
        *("claims", "experiments", "results", "landscapes", "formulas", "config", "tasks", "units"),
    },
    "cli": {
        *("units", "config", "tasks", "networks", "formulas", "results", "engine", "experiments", "claims"),
        *("lab", "landscapes", "discover", "ode", "report"),
    },
    "__main__": {"cli"},
}
# modules of rooms without torch that need it, and are imported when they are asked for
TORCH = {
    *("discover/composition.py", "discover/distillation.py", "discover/law/network.py"),
    "claims/compositions.py",
}
LONG = {  # files over 250 lines, and why they are not two
    "testing.py": "one list of checks, read one at a time",
}

# names of classes that still stand for two concepts; remove a name here when one of its classes is renamed
SHARED_NAMES: set[str] = set()


def files(part: str) -> list[Path]:
    folder = PACKAGE / part
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{part}.py"]


def siblings(path: Path) -> set[str]:
    """The parts of nalm that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for module in modules:
            if module == "nalm":
                names = {alias.name for alias in node.names}
                found |= {n if n in BELOW or n in BASE else "__init__" for n in names}
            elif module.startswith("nalm."):
                found.add(module.split(".")[1])
            elif module.split(".")[0] == "benchmarks":
                found.add("benchmarks")
    return found


@pytest.mark.parametrize("part", BELOW)
def test_imports_point_downwards(part):
    for path in files(part):
        upward = siblings(path) - BELOW[part] - BASE.keys() - {part}
        assert not upward, f"{path.relative_to(PACKAGE)} imports {upward}, which stand above {part}"


@pytest.mark.parametrize("part", [part for part in BASE if part != "__init__"])
def test_the_base_stands_on_itself(part):
    for path in files(part):
        assert siblings(path) <= BASE[part] | {part}, path.name


def test_no_room_stands_on_one_that_stands_on_it():
    seen = set()
    for part, below in BELOW.items():
        assert below <= seen or part == "cli", f"{part} is listed before {below - seen}"
        seen.add(part)


def test_every_part_has_its_place():
    parts = {p.stem for p in PACKAGE.glob("*.py")} | {
        p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()
    }
    assert parts == BELOW.keys() | BASE.keys()


def test_the_top_level_fits_on_a_screen():
    entries = [p for p in PACKAGE.iterdir() if p.name != "__pycache__"]
    assert sum(p.is_file() for p in entries) <= 12
    assert sum(p.is_dir() for p in entries) <= 17


def test_the_package_does_not_need_the_checkout_beside_it():
    for path in PACKAGE.rglob("*.py"):
        assert "benchmarks" not in siblings(path), path.name


def test_importing_nalm_loads_nothing_heavy():
    code = "import sys, nalm; print(sorted({'torch', 'sympy', 'numpy', 'scipy', 'typer', 'rich'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_configurations_need_no_torch():
    code = "import sys, nalm.config; print(sorted({'torch', 'sympy', 'numpy'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("part", ["results", "experiments", "config", "claims", "discover", "ode"])
def test_these_rooms_need_no_torch(part):
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in files(part)
        if path.relative_to(PACKAGE).as_posix() not in TORCH
    ]
    code = f"import sys, {', '.join(modules)}; print({{'torch'}} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


@pytest.mark.parametrize(
    "module", ["results.store", "stats", "experiments.select", "lab.costs", "lab.suggest"]
)
def test_these_modules_need_no_sympy(module):
    code = f"import sys, nalm.{module}; print(sorted({{'torch', 'sympy'}} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_ray_is_imported_by_functions_of_one_file_only():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        imports = [line for line in text.splitlines() if line.strip().startswith(("import ray", "from ray"))]
        assert not imports or (path.name == "ray.py" and all(i.startswith("    ") for i in imports)), (
            path.name
        )


def test_help_needs_no_torch():
    code = (
        "import sys\nfrom nalm.cli import app\nfrom typer.testing import CliRunner\n"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0\n"
        "print(sorted({'torch', 'sympy', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_no_file_grows_beyond_reading():
    lines = {
        p.relative_to(PACKAGE).as_posix(): len(p.read_text("utf-8").splitlines())
        for p in PACKAGE.rglob("*.py")
    }
    assert {name for name, n in lines.items() if n > 250} == LONG.keys()
    assert {name for name, n in lines.items() if n > 300} <= {"testing.py"}


def test_a_name_of_a_class_stands_for_one_concept():
    names = Counter(
        node.name
        for path in PACKAGE.rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in names.items() if count > 1} <= SHARED_NAMES


def test_nothing_is_unpickled_or_executed():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, path.name
            if isinstance(node, ast.Attribute) and path.name != "testing.py":
                assert node.attr not in {"sympify", "lambdify", "parse_expr"} or path.name == "parse.py", (
                    path.name
                )
                assert ast.unparse(node) not in {"pickle.load", "pickle.loads", "torch.load"}, path.name
