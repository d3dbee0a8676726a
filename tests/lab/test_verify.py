"""Whether stored numbers are true: recomputed from curves and weights, and trained again."""

import numpy as np
import pytest
from layouts import CASES
from typer.testing import CliRunner

from nalm.cli import app
from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe
from nalm.engine.model import Network
from nalm.experiments import EXPERIMENTS
from nalm.lab import verify
from nalm.lab.rebuilt import formula_of, rebuilt
from nalm.lab.run import run
from nalm.results.store import Store, pack
from nalm.tasks.threshold import threshold
from nalm.units.own import OWN, copy_of, load

pytestmark = pytest.mark.xdist_group("verify")  # one process trains the runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Real runs, of units whose raw parameters are not their weights among them."""
    recipe = Recipe(lr=1e-2, steps=100, batch=16)
    cases = [
        Case((Layer(unit),), Arithmetic(operation, Range(1, 2), Range(2, 6)), recipe)
        for unit, operation in (
            ("NMU", "multiply"),
            ("NAU", "add"),
            ("NALU", "multiply"),
            ("RealNPU", "divide"),
        )
    ]
    out = tmp_path_factory.mktemp("real")
    run([Experiment("small", "A small one", tuple(cases), (0, 1))], out, compiled=False, workers=1)
    return out


def findings(folder, tmp_path, change):
    """What is found after a change to a copy."""
    (tmp_path / "results.db").write_bytes((folder / "results.db").read_bytes())
    with Store(tmp_path, create=True) as store:
        store.db.execute(change)
    with Store(tmp_path) as store:
        return [f.what for f in verify.recompute(store)]


def test_formulas_are_told_apart_whatever_the_order_of_the_stored_weights():
    case = Case((Layer("INALU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)))
    sums, products = np.array([[0.0, 1.0]]), np.array([[0.0, 0.0]])
    first = {"0.add": sums, "0.gate": np.zeros(1), "0.multiply": products}
    second = {"0.multiply": sums, "0.gate": np.zeros(1), "0.add": products}
    known: dict[object, str] = {}
    texts = [formula_of(rebuilt(case, w), case, known) for w in (first, second)]
    assert texts == ["1", "b"]


def test_real_runs_are_true(folder):
    with Store(folder) as store:
        assert list(verify.recompute(store)) == []
        chosen = verify.sample(store.outcomes(), 2, 7)
        assert len(chosen) == 2
        assert [verify.train_again(store, o, "cpu") for o in chosen] == [[], []]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("test = test * 1.0001", "test"),
        ("validation = validation / 2", "validation"),
        ("sparsity = 0.123", "sparsity"),
        ("outcome = 'solved'", "outcome"),
        ("outcome = 'diverged'", "outcome"),
        ("solved_at = 50", "solved at"),
        ("best_step = 50", "best step"),
        ("steps = 99", "steps"),
        ("threshold = threshold * 2", "threshold"),
        ("formula = 'a*b**7'", "formula"),
    ],
)
def test_a_changed_number_is_found(folder, tmp_path, change, what):
    found = findings(folder, tmp_path, f"UPDATE runs SET {change} WHERE seed = 1")
    assert what in found and len(found) >= 1


def test_one_digit_of_a_weight_is_found(folder, tmp_path):
    """The trajectory of the weights ends in them."""
    (tmp_path / "results.db").write_bytes((folder / "results.db").read_bytes())
    with Store(tmp_path, create=True) as store:
        o = store.outcomes()[0]
        arrays = store.arrays(o.case.hash, o.seed)
        name = next(n for n in arrays if n.startswith("weights."))
        changed = arrays[name].copy()
        changed.flat[0] *= 1 + 1e-6
        data = pack(arrays | {name: changed})
        store.db.execute(
            "UPDATE arrays SET data = ? WHERE hash = ? AND seed = ?", (data, o.case.hash, o.seed)
        )
    with Store(tmp_path) as store:
        (found,) = verify.recompute(store)
    assert found.what == f"weight {name.removeprefix('weights.')}" and "as its trajectory ends" in str(found)


def test_one_digit_of_a_threshold_is_found(folder, tmp_path):
    found = findings(folder, tmp_path, "UPDATE runs SET threshold = threshold * 1.00001 WHERE seed = 1")
    assert found == ["threshold"] * 4


def test_a_unit_that_is_not_at_hand_is_said_and_not_called_wrong(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("import nalm\n\n\nclass Mine(nalm.NMU):\n    pass\n")
    case = Case(
        (Layer(load(f"{file}:Mine")),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(steps=5)
    )
    run([Experiment("own", "Mine", (case,), (0,))], tmp_path / "runs", compiled=False, workers=1)
    with Store(tmp_path / "runs") as store:
        assert list(verify.recompute(store)) == []
        assert len(verify.sample(store.outcomes(), 3, 0)) == 1
    copy = copy_of(case.model[0].unit, tmp_path / "runs" / "units")
    del OWN[case.model[0].unit]
    words = ["verify", "--out", str(tmp_path / "runs"), "--sample", "3"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0 and "1 run recomputed: nothing is wrong." in done.stdout
    assert (
        f"1 run of {case.model[0].unit}: weights and formulas not checked. Add --unit {copy}" in done.stdout
    )
    assert "Trained again" not in done.stdout
    done = CliRunner().invoke(app, [*words, "--unit", copy])
    assert (
        done.exit_code == 0 and "not checked" not in done.stdout and done.stdout.count("Trained again") == 1
    )


def test_arrays_of_another_run_are_found(folder, tmp_path):
    with Store(folder) as store:
        a, b = store.outcomes()[0].case.hash, store.outcomes()[-1].case.hash
    data = f"(SELECT data FROM arrays WHERE hash = '{b}' AND seed = 0)"
    found = findings(folder, tmp_path, f"UPDATE arrays SET data = {data} WHERE hash = '{a}' AND seed = 0")
    assert "weights" in found


def test_a_run_that_was_not_trained_so_is_found(folder, tmp_path):
    """Another seed's results are true in themselves; only training shows that they are not this seed's."""
    (tmp_path / "results.db").write_bytes((folder / "results.db").read_bytes())
    with Store(tmp_path, create=True) as store:
        for table in ("runs", "arrays"):
            store.db.execute(f"DELETE FROM {table} WHERE seed = 0")
            store.db.execute(f"UPDATE {table} SET seed = 0")
    with Store(tmp_path) as store:
        assert list(verify.recompute(store)) == []
        found = verify.train_again(store, store.outcomes()[0], "cpu")
    assert any("the start of" in f.what for f in found)


def test_the_command_tells_and_fails(folder, tmp_path):
    done = CliRunner().invoke(app, ["verify", "--out", str(folder), "--sample", "1", "--seed", "3"])
    assert done.exit_code == 0 and "8 runs recomputed: nothing is wrong" in done.stdout
    assert done.stdout.count("Trained again") == 1
    (tmp_path / "results.db").write_bytes((folder / "results.db").read_bytes())
    with Store(tmp_path, create=True) as store:
        store.db.execute("UPDATE runs SET outcome = 'solved', test = 0")
    done = CliRunner().invoke(app, ["verify", "--out", str(tmp_path), "--sample", "0"])
    assert done.exit_code == 1 and "numbers are wrong" in done.stdout


@pytest.mark.system
def test_networks_that_read_images_are_true(tmp_path):
    pair = CASES["pair"].replace(recipe=CASES["pair"].recipe.replace(steps=3))
    fixed = pair.replace(
        model=(Layer("Fixed", options=(("operation", "multiply"),)),), recipe=Recipe(steps=3, batch=16)
    )
    late = fixed.replace(chosen="train")
    (tmp_path / "changed").mkdir()
    asked = Experiment("images", "Small ones", (pair, fixed, late), (0,))
    run([asked], tmp_path, device="cpu", workers=1)
    with Store(tmp_path) as store:
        assert list(verify.recompute(store)) == []
        (o,) = (o for o in store.outcomes() if o.case == pair)
        assert verify.train_again(store, o, "cpu") == []
    assert {"best step"} <= set(findings(tmp_path, tmp_path / "changed", "UPDATE runs SET best_step = 0"))


def test_a_unit_with_copies_inside_another_keeps_its_stored_weights():
    """Its raw parameters are several copies; what they make of the stored weights is something else."""
    case = EXPERIMENTS["logic/minimum"].cases[-1]
    weights = {f"0.{n}": w for n, w in rebuilt_weights(case).items()}
    network = rebuilt(case, weights)
    for name, w in network.layers[0].weights().items():
        np.testing.assert_array_equal(w.numpy(), weights[f"0.{name}"])


def rebuilt_weights(case):
    """Numbers of the shapes of a unit's weights that its raw parameters cannot all have."""
    unit = Network(case.model, case.inputs).layers[0]
    return {n: np.linspace(-0.9, 0.8, w.numel()).reshape(w.shape) for n, w in unit.weights().items()}


def test_an_infinite_threshold_is_equal_to_itself_only(tmp_path):
    """The simulation of the threshold of a division this wide overflows."""
    cases = EXPERIMENTS["beyond/scientific"].cases
    case = next(c for c in cases if (c.operation, c.train.high) == ("divide", 1e18))
    case = case.replace(recipe=Recipe(steps=5))
    assert threshold(case) == float("inf")
    (tmp_path / "changed").mkdir()
    run([Experiment("open", "No threshold", (case,), (0,))], tmp_path, compiled=False, workers=1)
    with Store(tmp_path) as store:
        assert list(verify.recompute(store)) == []
    assert "threshold" in findings(tmp_path, tmp_path / "changed", "UPDATE runs SET threshold = 1")
