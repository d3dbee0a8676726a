"""Units of the user, in files of their own."""

import pickle
import sys

import pytest
import torch

from nalm.errors import NALMError
from nalm.units import UNITS, unit
from nalm.units.own import OWN, copy_of, copy_sources, load, name_of, spellings

DATACLASS = """
from __future__ import annotations
import dataclasses
from typing import ClassVar
import nalm

@dataclasses.dataclass
class Sizes:
    most: ClassVar[int] = 3

class Mine(nalm.NMU):
    pass
"""


def written(folder, text, name="my_unit.py"):
    (folder / name).write_text(text)
    return f"{folder / name}:Mine"


def test_the_module_is_registered_before_it_is_executed(tmp_path):
    """A dataclass with a ClassVar looks its module up; so do pickle and torch.compile."""
    key = load(written(tmp_path, DATACLASS))
    made = unit(key)(2, 1)
    assert OWN[key].__module__ in sys.modules
    assert torch.equal(pickle.loads(pickle.dumps(made)).weight, made.weight)


def test_the_published_units_stay_as_they_are(tmp_path):
    before = dict(UNITS)
    key = load(written(tmp_path, "import nalm\nclass Mine(nalm.NAU): pass\n"))
    assert before == UNITS and key in OWN and key.startswith("Mine@")
    assert spellings(["NMU", key, key]) == [f"{tmp_path / 'my_unit.py'}:Mine"]


def test_a_unit_may_import_the_file_beside_it_which_belongs_to_its_hash(tmp_path):
    (tmp_path / "beside_mine.py").write_text("HIGH = 0.75\n")
    text = "import nalm\nfrom beside_mine import HIGH\nclass Mine(nalm.NMU):\n    high = HIGH\n"
    first = load(written(tmp_path, text))
    assert OWN[first].high == 0.75
    (tmp_path / "beside_mine.py").write_text("HIGH = 0.5\n")
    assert load(written(tmp_path, text)) != first


def test_a_copy_of_the_file_in_the_results_has_the_same_name(tmp_path):
    key = load(written(tmp_path, DATACLASS + "# a copy\n"))
    copy_sources([key, "NMU"], tmp_path / "units")
    copy = copy_of(key, tmp_path / "units")
    assert copy.startswith(str(tmp_path / "units" / key[-6:])) and load(copy) == key
    assert copy_of("Other@123456", tmp_path / "units") == ""


def test_a_copy_is_found_by_the_whole_name_of_its_class(tmp_path):
    folder = tmp_path / "123456"
    folder.mkdir()
    (folder / "a.py").write_text("class GateBase:\n    pass\n", encoding="utf-8")
    (folder / "gate.py").write_text("class Gate(GateBase):\n    pass\n", encoding="utf-8")
    assert copy_of("Gate@123456", tmp_path) == f"{folder / 'gate.py'}:Gate"


def test_classes_have_names_too(tmp_path):
    assert name_of(UNITS["NMU"]) == "NMU"
    key = load(written(tmp_path, DATACLASS + "# named\n"))
    assert name_of(OWN[key]) == key


def test_the_name_of_a_published_unit_is_refused(tmp_path):
    path = tmp_path / "nmu.py"
    path.write_text("import nalm\nclass NMU(nalm.NAU): pass\n")
    with pytest.raises(NALMError, match="has the name of a published unit: give the class another name"):
        load(f"{path}:NMU")


def test_an_unknown_class_is_answered_with_the_units_of_the_file_itself(tmp_path):
    path = tmp_path / "half.py"
    path.write_text("from nalm.units import NMU, Unit\nclass Half(NMU): pass\n")
    with pytest.raises(NALMError, match=r"Known: Half\.$"):
        load(f"{path}:Halv")


def test_loading_does_not_move_the_generator_of_torch(tmp_path):
    before = torch.random.get_rng_state()
    load(written(tmp_path, DATACLASS + "# quiet\n"))
    assert torch.equal(before, torch.random.get_rng_state())
