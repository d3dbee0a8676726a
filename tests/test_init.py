"""The public names of the package."""

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import nalm
import nalm.units
from nalm.units import UNITS, Unit


def names_in_the_stub() -> dict[str, str]:
    """The names that type checkers see, each with the module it comes from."""
    tree = ast.parse(Path(nalm.__file__).with_suffix(".pyi").read_text("utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}


def test_every_public_name_resolves():
    for name in dir(nalm):
        assert getattr(nalm, name) is not None


def test_every_unit_is_a_name_of_the_package():
    assert set(UNITS) <= set(dir(nalm))
    assert nalm.NMU is UNITS["NMU"]


def test_type_checkers_see_the_names_that_are_found_at_run_time():
    named = names_in_the_stub()
    assert named.pop("*") == "nalm.units"
    assert named.pop("ode") == "nalm"
    from_units = {"Trainable", "Unit", "UNITS", "unit"}
    assert named.keys() | from_units | {"ode", "__version__"} | UNITS.keys() == set(dir(nalm))
    for name, module in named.items():
        assert getattr(nalm, name) is getattr(importlib.import_module(module), name), name


def test_every_unit_that_is_written_is_listed():
    written = set()
    for found in pkgutil.iter_modules(nalm.units.__path__):
        module = importlib.import_module(f"nalm.units.{found.name}")
        for name, value in inspect.getmembers(module, inspect.isclass):
            if issubclass(value, Unit) and not inspect.isabstract(value) and hasattr(value, "gold"):
                written.add(name)
    assert written == {
        name for name in UNITS if "@" not in name
    }  # with it: units of a user, loaded by another test


def test_a_mistyped_name_gets_a_suggestion():
    with pytest.raises(AttributeError, match="Did you mean 'RealNPU'"):
        nalm.RealNPUU  # noqa: B018
    for find, near in ((nalm.unit, "NMU"), (nalm.loss, "mse")):
        with pytest.raises(nalm.NALMError, match=f"Did you mean '{near}'"):
            find(near + near[-1])
    with pytest.raises(nalm.NALMError, match="Did you mean 'multiply'"):
        nalm.NMU.solved("multipy")


def test_a_private_name_raises_an_ordinary_attribute_error():
    assert not hasattr(nalm, "__wrapped__")
    assert not hasattr(nalm, "_nothing")
