"""What a person types, as experiments."""

import pytest

from nalm.config.labels import unit_of
from nalm.engine import check
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS
from nalm.experiments.select import chosen
from nalm.lab.request import Changes, experiments

MINE = """
import nalm

class Mine(nalm.NMU):
    '''Somebody's unit.'''

class Bare:
    pass
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "my_unit.py"
    path.write_text(MINE)
    return path


def ask(name="quick", seeds="", **changes):
    return experiments([name], seeds, Changes(**changes)).experiments


@pytest.mark.parametrize(
    ("text", "expected"), [("3", (0, 1, 2)), ("2:5", (2, 3, 4)), (":2", (0, 1)), ("", tuple(range(5)))]
)
def test_seeds_are_a_number_or_a_half_open_range(text, expected):
    assert ask(seeds=text)[0].seeds == expected


@pytest.mark.parametrize("text", ["0", "-1", "5:5", "5:2", "a", "1:b", "1.5", "1:2:3", "99999999999"])
def test_seeds_that_make_no_sense_are_refused(text):
    with pytest.raises(NALMError, match="--seeds takes"):
        ask(seeds=text)


def test_only_keeps_what_matches_every_key_and_any_value():
    (found,) = ask(only=["unit=NMU", "unit=SNMU", "range=1.1:1.2"])
    assert [(unit_of(c), str(c.train)) for c in found.cases] == [
        ("NMU", "U[1.1,1.2)"),
        ("SNMU", "U[1.1,1.2)"),
    ]


def test_only_takes_one_of_two_cases_of_a_unit_by_its_key():
    plain, batch = (c for c in EXPERIMENTS["mnist/product"].cases if unit_of(c) == "SNMU")
    (found,) = ask("mnist/product", only=[f"case={batch.key}"])
    assert found.cases == (batch,) and plain != batch


def test_experiments_without_a_matching_case_are_left_out():
    assert [e.name for e in ask("thesis/ch3", only=["unit=NMU"])] == ["thesis/ch3/mul"]


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ("unit=NMUU", "Did you mean 'NMU'"),
        ("range=7:8", "There is no range"),
        ("colour=red", "a key of"),
        ("NMU", "KEY=VALUE"),
    ],
)
def test_what_matches_nothing_is_said(only, words):
    with pytest.raises(NALMError, match=words):
        ask(only=[only])


def test_fewer_steps_make_another_case():
    (found,) = ask(steps=100)
    assert {c.recipe.steps for c in found.cases} == {100}
    assert not {c.hash for c in found.cases} & {c.hash for c in EXPERIMENTS["quick"].cases}
    for number in (-1, 0, 10**20):
        with pytest.raises(NALMError, match=f"--steps takes a number from 1 to .*, got {number}"):
            ask(steps=number)
        with pytest.raises(NALMError, match=f"--epochs takes a number from 1 to .*, got {number}"):
            ask("mnist/smoke", epochs=number)


def test_a_unit_of_ones_own_stands_beside_the_published_ones(mine):
    (found,), notes = experiments(["thesis/ch3/mul"], "", Changes(only=["range=1:2"], units=[f"{mine}:Mine"]))
    names = [unit_of(c) for c in found.cases]
    assert names[:-1] == ["NACMul", "NMU", "NPU", "RealNPU", "NALU", "INALU", "GNALU"]
    assert names[-1].startswith("Mine@")
    assert found.cases[-1].recipe == next(c.recipe for c in found.cases if unit_of(c) == "NMU")
    assert notes == [
        "Mine stands for NMU and has the recipe of NMU: adam, lr 0.001, 50,000 steps of 128 rows, mse, "
        "penalty weight 10 (step 20,000 to 35,000)."
    ]


def test_a_unit_of_ones_own_can_be_trained_like_another(mine):
    (found,) = ask("thesis/ch3/mul", units=[f"{mine}:Mine"], like="RealNPU")
    assert found.cases[-1].recipe == next(c.recipe for c in found.cases if unit_of(c) == "RealNPU")
    with pytest.raises(NALMError, match="to train --like"):
        ask("thesis/ch3/mul", units=[f"{mine}:Mine"], like="NAU")


def test_a_changed_file_is_another_unit(mine):
    first = ask(units=[f"{mine}:Mine"])[0].cases[-1]
    mine.write_text(MINE + "\n# changed\n")
    assert ask(units=[f"{mine}:Mine"])[0].cases[-1].hash != first.hash


@pytest.mark.parametrize(
    ("spelling", "words"),
    [
        ("{}:Minee", "Did you mean 'Mine'"),
        ("{}:Bare", "derived from nalm.Unit"),
        ("{}", "FILE.py:Class"),
        ("nowhere.py:Mine", "There is no file"),
        ("{}:os.system", "FILE.py:Class"),
    ],
)
def test_a_unit_that_cannot_be_had_is_a_sentence(mine, spelling, words):
    with pytest.raises(NALMError, match=words):
        ask(units=[spelling.format(mine)])


def test_a_file_that_fails_to_import_is_a_sentence(mine):
    mine.write_text("1 / 0")
    with pytest.raises(NALMError, match="could not be imported: ZeroDivisionError"):
        ask(units=[f"{mine}:Mine"])


def test_no_filter_keeps_everything():
    cases = EXPERIMENTS["quick"].cases
    assert chosen(cases, []) == cases


def test_a_selection_without_a_case_is_refused():
    with pytest.raises(NALMError, match="No case of thesis/ch3 matches all of unit=NMU, operation=add"):
        ask("thesis/ch3", only=["unit=NMU", "operation=add"])


def test_like_needs_a_unit_of_ones_own_and_any_experiment_may_have_the_recipe(mine):
    with pytest.raises(NALMError, match="--like NMU chooses the recipe of a user-defined unit"):
        ask(like="NMU")
    found = ask("thesis/ch3", units=[f"{mine}:Mine"], like="NMU")
    assert all(unit_of(e.cases[-1]).startswith("Mine@") for e in found)


@pytest.mark.parametrize(
    "body",
    ["def __init__(self):\n        pass", "def compute(self, x):\n        raise ValueError('no')"],
)
def test_a_unit_that_does_not_work_is_a_sentence(mine, body):
    mine.write_text(f"import nalm\n\nclass Mine(nalm.NMU):\n    {body}\n")
    with pytest.raises(NALMError, match=r"Mine\(2, 1\) of .* does not work"):
        ask(units=[f"{mine}:Mine"])


def test_a_file_that_ends_the_program_is_a_sentence(mine):
    mine.write_text("import sys\nsys.exit(3)")
    with pytest.raises(NALMError, match="could not be imported: SystemExit"):
        ask(units=[f"{mine}:Mine"])


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name.startswith("mnist/")])
def test_a_unit_of_ones_own_reads_images_like_the_others(name, mine):
    (found,) = ask(name, units=[f"{mine}:Mine"], epochs=2)
    own = [case for case in found.cases if unit_of(case).startswith("Mine")]
    theirs = [case for case in found.cases if case not in own]

    def asked(case):  # a cell may see more of itself
        inner = {"inputs": 2} if case.task.lengths else {}
        return case.task.replace(**inner), case.recipe.steps, case.recipe.batch

    assert own and {asked(case) for case in own} <= {asked(case) for case in theirs}
    check(found.cases)


def test_ranges_and_rates_are_compared_as_numbers():
    cases = EXPERIMENTS["beyond/scientific"].cases
    wide = chosen(cases, ["range=10:1e18"])
    assert wide and wide == chosen(cases, ["range=10:1e+18"]) == chosen(cases, ["range=1e1:1.0e18"])
    quick = EXPERIMENTS["quick"].cases
    assert chosen(quick, ["range=1.0:2.00", "lr=1e-3"]) == chosen(quick, ["range=1:2", "lr=0.001"])
    for wrong in ("range=1.0000001:2", "range=1-2", "range=1:2:3"):
        with pytest.raises(NALMError, match=f"no range called '{wrong.partition('=')[2]}'"):
            chosen(quick, [wrong])
