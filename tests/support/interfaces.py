"""What other people's code and files rely on, as plain values: written to tests/golden/, compared by a test.

``python tests/support/interfaces.py`` from the checkout rewrites the files; read the difference before you commit it.
"""

import csv
import inspect
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nalm
from nalm.experiments import EXPERIMENTS

GOLDEN = Path(__file__).parents[1] / "golden"
DIGITS = 16  # of a hash of 64: enough to notice any change
COMMANDS = {
    "list": ("list", "--json"),
    "show": ("show", "thesis/ch3/mul", "--json"),
    "show landscapes": ("show", "landscapes/nmu", "--json"),
    "suggest": ("suggest", "--operation", "divide", "--range", "1", "2", "--json"),
    "status": ("status", "--json"),
    "compare": ("compare", ".", "published", "--json"),
}


def cases() -> dict[str, list[str]]:
    """Every case of every experiment, in order: its name, its key among stored results, and its seeds."""
    return {
        name: [f"{len(e.seeds)} seeds", *(f"{case.hash[:DIGITS]} {case.name}" for case in e.cases)]
        for name, e in EXPERIMENTS.items()
    }


def states() -> dict[str, dict[str, list[int]]]:
    """The tensors of every unit that others may have saved: names and shapes, two inputs and three outputs."""
    return {
        name: {key: list(value.shape) for key, value in unit(2, 3).state_dict().items()}
        for name, unit in nalm.UNITS.items()
    }


def names() -> dict[str, list[str]]:
    """The public names, and the parameters that each can be called with."""
    found = {}
    for name in dir(nalm):
        value = getattr(nalm, name)
        called = inspect.isroutine(value) or (inspect.isclass(value) and not issubclass(value, Exception))
        found[name] = list(inspect.signature(value).parameters) if called else []
    return found


def printed(store: Path) -> dict[str, Any]:
    """The structure of the JSON that commands print, of a results folder where they need one."""
    return {name: structure(json.loads(_told(store, *words))) for name, words in COMMANDS.items()}


def exported(store: Path) -> list[str]:
    """The columns of a table of runs."""
    return next(csv.reader(io.StringIO(_told(store, "export"))))


def structure(value: Any) -> Any:
    """Kinds in place of values: of a list that of its entries, each once; a missing number is a number."""
    if isinstance(value, dict):
        return {key: structure(v) for key, v in sorted(value.items())}
    if isinstance(value, list):
        kinds = {json.dumps(structure(v), sort_keys=True) for v in value}
        return [json.loads(kind) for kind in sorted(kinds)]
    return "number" if value is None or isinstance(value, int | float) else type(value).__name__


def _told(store: Path, *words: str) -> str:
    folder = ["--out", str(store)] if words[0] in ("status", "export") else []
    command = [sys.executable, "-m", "nalm", *(str(store) if w == "." else w for w in words), *folder]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


FILES: dict[str, Callable[[], Any]] = {"cases": cases, "states": states, "names": names}


def read(name: str) -> Any:
    """A golden file."""
    return json.loads((GOLDEN / f"{name}.json").read_text())


def write(name: str, value: Any) -> None:
    """Replace a golden file."""
    (GOLDEN / f"{name}.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    for file, compute in FILES.items():
        write(file, compute())
    write("printed", printed(GOLDEN / "results"))
    write("columns", exported(GOLDEN / "results"))
