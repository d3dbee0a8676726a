"""The dependency rule of docs/architecture.md: imports point downwards, and some parts stay light."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "nalm"

# part -> the parts it may import, besides itself
BELOW = {
    "errors": set(),
    "operations": {"errors"},
    "functional": set(),
    "draws": set(),
    "values": {"errors"},
    "ranges": {"values"},
    "digits": {"values"},
    "config": {"values", "ranges", "digits"},
    "units": {"errors", "operations", "functional", "draws"},
    "losses": {"errors", "functional"},
    "tasks": {"errors", "operations", "config", "programs", "functional", "draws"},
    "optim": {"errors", "draws"},
    "population": {"errors", "units"},
    "symbolic": {"errors", "units"},
    "formula": {"errors", "units"},
    "capabilities": {"operations", "units"},
    "networks": {"errors", "functional", "tasks", "units"},
    "testing": {"errors", "operations", "population", "symbolic", "units"},
    "runs": {"config"},
    "stats": {"errors"},
    "data": {"errors"},
    "readout": {"errors"},
    "labels": {"config"},
    "programs": {"config", "operations"},
    "costs": {"config", "labels", "operations", "programs"},
    "published": {"config"},
    "rules": {"config", "runs", "stats"},
    "formula_rules": {"config", "rules", "stats", "truth"},  # truth only where a formula is judged
    "spread_rules": {"config", "rules", "stats"},
    "image_rules": {"config", "rules", "runs", "stats"},
    "claims": {
        *("config", "labels", "published", "rules", "formula_rules", "spread_rules", "image_rules", "runs"),
        "stats",
    },
    "experiments": {"errors", "config", "digits", "published", "claims"},
    "summary": {"config", "labels", "runs", "stats"},
    "database": {"errors", "__init__"},
    "packed": {"errors", "runs"},
    "locks": {"errors"},
    "store": {"errors", "config", "runs", "database", "locks", "packed", "__init__"},
    "checkpoints": {"errors", "store", "__init__"},
    "shipped": {"errors", "config", "operations", "runs", "claims", "store"},
    "tables": {
        *("config", "costs", "labels", "lengths", "runs", "stats", "spread_rules", "claims", "summary"),
        "image_rules",
    },
    "merge": {"errors", "database", "store"},
    "verify": {"errors", "config", "data", "runs", "store", "merge", "tasks", "units", "engine", "images"},
    "source": {"errors", "runs", "store", "shipped"},
    "compare": {"errors", "config", "runs", "stats", "claims", "experiments"},
    "suggest": {"errors", "config", "stats", "operations", "experiments", "asked"},
    "compositions": {
        *("errors", "config", "draws", "stats", "claims", "experiments", "formula", "operations", "runs"),
        *("tasks", "truth"),
    },
    "lengths": {
        *("errors", "config", "stats", "labels", "published", "rules", "claims", "experiments", "runs"),
        "image_rules",
    },
    "verdict_tables": {"stats", "claims", "compare", "labels", "suggest"},
    "landscapes": {"errors", "config", "operations", "units", "tasks"},
    "report": {
        *(
            "errors",
            "config",
            "runs",
            "stats",
            "labels",
            "claims",
            "experiments",
            "summary",
            "store",
            "shipped",
            "source",
        ),
        *("landscapes", "truth", "compositions", "lengths", "operations", "published", "readout"),
        *("spread_rules", "rules", "tasks", "__init__"),
    },
    "engine": {
        *(
            "errors",
            "programs",
            "operations",
            "config",
            "functional",
            "draws",
            "units",
            "tasks",
            "losses",
            "optim",
            "runs",
            "networks",
            "readout",
        ),
    },
    "images": {
        *(
            "errors",
            "config",
            "digits",
            "operations",
            "draws",
            "units",
            "losses",
            "optim",
            "runs",
            "data",
            "checkpoints",
            "networks",
        ),
        "engine",
    },
    "faults": {"errors", "store", "checkpoints", "engine"},
    "executor": {"errors", "units", "store", "checkpoints", "engine", "faults", "images"},
    "cluster": {"errors", "units", "store", "costs", "engine", "faults", "executor", "__init__"},
    "run": {"config", "data", "errors", "store", "checkpoints", "engine", "images", "executor"},
    "progress": {"run"},
    "asked": {
        "errors",
        "config",
        "digits",
        "labels",
        "claims",
        "experiments",
        "store",
        "checkpoints",
        "units",
    },
    "discover": {
        *("errors", "config", "draws", "units", "tasks", "losses", "claims", "experiments", "__init__"),
    },
    "regressor": {"errors", "discover"},
    "ode": {"errors", "discover", "tasks", "claims", "__init__"},
    "tabular": {"errors"},
    "textplot": set(),
    "truth": {"errors", "config", "operations", "formula", "symbolic", "tasks", "units"},
    "contest": {"errors", "config", "formula", "experiments", "discover", "data", "__init__"},
    "bench": {"config", "engine"},
    "bench_images": {"config", "experiments", "engine", "images"},
    "cli": {
        *(
            "errors",
            "bench",
            "bench_images",
            "capabilities",
            "config",
            "experiments",
            "asked",
            "claims",
            "summary",
            "store",
        ),
        *(
            "shipped",
            "tables",
            "costs",
            "lengths",
            "run",
            "progress",
            "source",
            "compare",
            "suggest",
            "verdict_tables",
        ),
        *("report", "landscapes", "compositions", "operations", "runs", "tabular", "textplot", "regressor"),
        *("ode", "discover", "cluster", "merge", "verify", "__init__"),
    },
    "__main__": {"cli"},
}


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
                found |= {n if n in BELOW else "__init__" for n in names}
            elif module.startswith("nalm."):
                found.add(module.split(".")[1])
    return found


@pytest.mark.parametrize("part", BELOW)
def test_imports_point_downwards(part):
    for path in files(part):
        upward = siblings(path) - BELOW[part] - {part}
        assert not upward, f"{path.name} imports {upward}, which stand above {part}"


def test_every_part_has_its_place():
    parts = {p.stem for p in PACKAGE.glob("*.py")} | {
        p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()
    }
    assert parts - {"__init__"} == set(BELOW)


def test_importing_nalm_loads_nothing_heavy():
    code = "import sys, nalm; print(sorted({'torch', 'sympy', 'numpy', 'scipy', 'typer', 'rich'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_configurations_need_no_torch():
    code = "import sys, nalm.config; print(sorted({'torch', 'sympy', 'numpy'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize(
    "part",
    [
        "store",
        "checkpoints",
        "stats",
        "experiments",
        "shipped",
        "summary",
        "tables",
        "costs",
        "lengths",
        "asked",
        "compare",
        "suggest",
    ],
)
def test_results_need_no_torch(part):
    code = f"import sys, nalm.{part}; print(sorted({{'torch', 'sympy'}} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_ray_is_imported_by_functions_of_one_file_only():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        imports = [line for line in text.splitlines() if line.strip().startswith(("import ray", "from ray"))]
        assert not imports or (path.name == "cluster.py" and all(i.startswith("    ") for i in imports)), (
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
    long = {p.name: n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text("utf-8").splitlines())) > 300}
    assert set(long) <= {"testing.py"}, long  # the kit is one list of checks, read one at a time


def test_nothing_is_unpickled_or_executed():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"eval", "exec", "compile", "__import__"}, path.name
            if isinstance(node, ast.Attribute) and path.name != "testing.py":
                assert node.attr not in {"sympify", "lambdify", "parse_expr"} or path.name == "formula.py", (
                    path.name
                )
                assert ast.unparse(node) not in {"pickle.load", "pickle.loads", "torch.load"}, path.name
