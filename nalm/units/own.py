"""User-defined units: a class in a file of the user, given as ``FILE.py:Class`` and known as NAME@HASH.

They are kept apart from ``UNITS``: tables of published units do not change when a user's file is loaded.
"""

import ast
import hashlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import torch

from nalm.errors import NALMError, unknown
from nalm.operating_system import write_atomically
from nalm.units import UNITS
from nalm.units.base import Unit

OWN: dict[str, type[Unit]] = {}  # loaded units by NAME@HASH
FILES: dict[str, Path] = {}  # the file of each


def load(spelling: str) -> str:
    """Import the class and register it as NAME@HASH, with the hash of its source; return that name.

    The hash makes a changed file a new unit, so that results of the old code are not taken for those of the new. It
    covers the file and the modules beside it that it imports by their names; relative imports do not work in a file
    that is loaded alone. Six digits tell the few versions of one class apart.
    """
    path, name = parted(spelling)
    key = f"{name}@{_digest(path)[:6]}"
    if key in OWN:
        return key
    module = import_file(path)
    found = getattr(module, name, None)
    if found is None:
        raise unknown(f"unit in {path}", name, _classes(module))
    if not isinstance(found, type) or not issubclass(found, Unit):
        raise NALMError(f"{name} in {path} is not a unit: it must be a class derived from nalm.Unit.")
    if name in UNITS:
        raise NALMError(f"{name} in {path} has the name of a published unit: give the class another name.")
    try:
        found(2, 1, generator=torch.Generator())(torch.ones(3, 2))
    except Exception as error:
        raise NALMError(f"{name}(2, 1) of {path} does not work: {type(error).__name__}: {error}.") from None
    OWN[key], FILES[key] = found, path
    return key


def parted(spelling: str) -> tuple[Path, str]:
    """Split FILE.py:Class into its parts; the file must exist."""
    file, colon, name = spelling.rpartition(":")
    path = Path(file)
    if not colon or not name.isidentifier() or path.suffix != ".py":
        raise NALMError(f"A user-defined unit is given as FILE.py:Class, got {spelling!r}.")
    if not path.is_file():
        raise NALMError(f"There is no file {file} to take the unit {name} from.")
    return path, name


def name_of(unit: type[Unit]) -> str:
    """Return the name under which results know a unit; that of a class of the user is NAME@HASH."""
    if UNITS.get(unit.__name__) is unit:
        return unit.__name__
    for key, known in OWN.items():
        if known is unit:
            return key
    try:
        return load(f"{inspect.getfile(unit)}:{unit.__name__}")
    except (TypeError, OSError):
        raise NALMError(
            f"{unit.__name__} is not in a file: write it to one, such as my_unit.py, so that workers can load it."
        ) from None


def spellings(names: Iterable[str]) -> list[str]:
    """Return FILE.py:Class of each user-defined unit among these names that is loaded."""
    return [f"{FILES[name]}:{_class(name)}" for name in dict.fromkeys(names) if name in FILES]


def copy_sources(names: Iterable[str], folder: Path) -> None:
    """Copy the files of the loaded user-defined units among these names to ``folder``/HASH.

    A copy has the same hash as its original, so `--unit folder/HASH/FILE.py:Class` checks results after the original
    has changed, or on another machine.
    """
    for name in dict.fromkeys(names):
        if name in FILES:
            for file, content in sources(FILES[name]).items():
                path = folder / name.rpartition("@")[2] / file
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    write_atomically(path, content)


def copy_of(name: str, folder: Path) -> str:
    """Return FILE.py:Class of the copy of a user-defined unit under a folder; empty if there is none."""
    definition = re.compile(rf"^class {re.escape(_class(name))}\b", re.MULTILINE)
    for path in sorted((folder / name.rpartition("@")[2]).glob("*.py")):
        if definition.search(path.read_text(encoding="utf-8", errors="replace")):
            return f"{path}:{_class(name)}"
    return ""


def import_file(path: Path) -> ModuleType:
    """Import a file of the user, once; it may import the modules beside it.

    The module is registered before it is executed, as Python's own imports do: dataclasses, pickle and torch.compile
    look it up by its name.
    """
    name = f"nalm_own_{_digest(path)[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # at the end: a file beside it does not hide an installed package
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        if isinstance(error, NALMError):
            raise
        raise NALMError(f"{path} could not be imported: {type(error).__name__}: {error}.") from None
    return module


def sources(path: Path) -> dict[str, bytes]:
    """Read a file and the modules beside it that it imports, by their path relative to its folder."""
    folder, found, waiting = path.absolute().parent, dict[str, bytes](), [path.absolute()]
    while waiting:
        file = waiting.pop()
        name = file.relative_to(folder).as_posix()
        if name not in found:
            found[name] = file.read_bytes()
            waiting += [f for module in _imported(found[name]) for f in _beside(folder, module)]
    first = path.name
    return {first: found.pop(first), **dict(sorted(found.items()))}


def _class(name: str) -> str:
    """Return the name of the class of a user-defined unit, without the hash."""
    return name.partition("@")[0]


def _digest(path: Path) -> str:
    return hashlib.sha256(b"".join(sources(path).values())).hexdigest()


def _imported(source: bytes) -> list[str]:
    """Return the first parts of the names of the modules that a source imports; none if it cannot be read."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return []
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) and not node.level]
    return [name.partition(".")[0] for name in names if name]


def _beside(folder: Path, module: str) -> list[Path]:
    """Return the files of a module or package in a folder; none if it is not there."""
    single, package = folder / f"{module}.py", folder / module
    if single.is_file():
        return [single]
    return sorted(package.rglob("*.py")) if (package / "__init__.py").is_file() else []


def _classes(module: ModuleType) -> list[str]:
    """Return the units that a module defines itself."""
    found = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, Unit)]
    return [cls.__name__ for cls in found if cls.__module__ == module.__name__]
