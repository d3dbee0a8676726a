"""Load user-defined units: a class in a file of the user, given as ``FILE.py:Class``."""

import hashlib
import importlib.util
from pathlib import Path

import torch

from nalm.errors import NALMError, unknown
from nalm.units import UNITS
from nalm.units.base import Unit


def load(spelling: str, units: dict[str, type[Unit]] | None = None) -> str:
    """Import the class and register it as NAME@HASH, with the hash of its file; return that name.

    The hash makes a changed file a new unit, so that results of the old code are not taken for those of the new.
    """
    registry = UNITS if units is None else units
    file, colon, name = spelling.rpartition(":")
    path = Path(file)
    if not colon or not name.isidentifier() or path.suffix != ".py":
        raise NALMError(f"A user-defined unit is given as FILE.py:Class, got {spelling!r}.")
    if not path.is_file():
        raise NALMError(f"There is no file {file} to take the unit {name} from.")
    key = f"{name}@{hashlib.sha256(path.read_bytes()).hexdigest()[:6]}"
    if key in registry:
        return key
    spec = importlib.util.spec_from_file_location(f"nalm_custom_{key.replace('@', '_')}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise NALMError(f"{file} could not be imported: {type(error).__name__}: {error}.") from None
    found = getattr(module, name, None)
    if found is None:
        classes = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Unit)]
        raise unknown(f"unit in {file}", name, classes)
    if not isinstance(found, type) or not issubclass(found, Unit):
        raise NALMError(f"{name} in {file} is not a unit: it must be a class derived from nalm.Unit.")
    try:
        found(2, 1)(torch.ones(3, 2))
    except Exception as error:
        raise NALMError(f"{name}(2, 1) of {file} does not work: {type(error).__name__}: {error}.") from None
    registry[key] = found
    return key
