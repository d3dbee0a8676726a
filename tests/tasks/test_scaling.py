"""Scaled inputs: the golden vectors of both scalings, Table 6.1, and what a run is scaled by."""

import json
from pathlib import Path

import pytest
import torch

from nalm import draws
from nalm.config import Arithmetic, Case, Layer, Range
from nalm.engine.numbers.program import Program
from nalm.engine.plan import Run
from nalm.experiments.published import claims
from nalm.tasks.scaling import Scaling
from nalm.units.baselines import Affine

GOLDEN = {
    g["id"]: g
    for g in json.loads((Path(__file__).parent.parent / "data" / "golden_units.json").read_text("utf-8"))
}


def golden(name):
    data = GOLDEN[name]
    x, y = (torch.tensor(data[part], dtype=torch.float64) for part in ("x", "y_train"))
    return data, x, y.unsqueeze(-1)


def test_the_z_score_is_the_golden_one():
    data, x, y = golden("g070")
    scaling = Scaling.of("zscore", x, y)
    seen = scaling.seen(x)
    torch.testing.assert_close(seen.tolist(), data["X_scaled"])
    torch.testing.assert_close(scaling.said(seen.prod(-1, keepdim=True)).squeeze(-1).tolist(), data["y"])


def affine(factor, offset):
    layer = Affine(len(factor), len(factor), dtype=torch.float64)
    layer.factor.data, layer.offset.data = (torch.tensor(v, dtype=torch.float64) for v in (factor, offset))
    return layer


def test_the_learnt_min_max_scaling_is_the_golden_one():
    data, x, y = golden("g071")
    p, scaling = data["params"], Scaling.of("minmax", x, y)
    seen = affine(p["w_in"], p["b_in"])(scaling.seen(x))
    torch.testing.assert_close(seen.tolist(), data["X_scaled"])
    said = scaling.said(affine([p["w_out"]], [p["b_out"]])(seen.prod(-1, keepdim=True)))
    torch.testing.assert_close(said.squeeze(-1).tolist(), data["y"])


@pytest.mark.parametrize("which", ["Fixed NMU", "Learnt NMU"])
def test_the_numbers_of_table_6_1_multiply(which):
    found = {(c.metric, c.where): c.value for c in claims("Feyn-normalised NMU", units=(which,))}

    def both(metric):
        return torch.tensor([found[metric, f"element {i}"] for i in (1, 2)], dtype=torch.float64)

    factor, mean, w, b = (both(name) for name in ("2/(max-min)", "X_mean", "w_in", "b_in"))
    weight = both("NMU_weight")
    x = torch.tensor([[1.0, 1.0], [2.0, 5.0], [-3.0, 7.0], [20.0, -0.5]], dtype=torch.float64)
    seen = (x - mean) * factor * w + b
    z = (weight * seen + 1 - weight).prod(-1)
    y = (z * found["w_out", "element 1"] + found["b_out", "element 1"]) * found["(ymax-ymin)/2", "element 1"]
    torch.testing.assert_close(y, x.prod(-1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("sample", "rows"), [(0, 10_000), (64, 64)])
def test_each_run_is_scaled_by_its_own_training_data(sample, rows):
    case = Case(
        (Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6), sample=sample, scaling="zscore")
    )
    runs = [Run(case, 3, 0), Run(case.replace(train=Range(10, 20)), 4, 1)]
    data = Program(runs, torch.device("cpu"), False).data
    keys = draws.keys([3, 4], "train")
    x = data.train(keys, torch.zeros((), dtype=torch.int32), data.train.grid(rows)).mT
    torch.testing.assert_close(data.scaling.mean, x.mean(-2, keepdim=True))
    torch.testing.assert_close(data.scaling.factor, x.prod(-1).std(-1)[:, None, None])
    assert torch.equal(Scaling().seen(x), x) and torch.equal(Scaling().said(x), x)


@pytest.mark.parametrize("data", ["draws", "authors"])
def test_the_printed_min_max_takes_the_width_of_the_data_at_hand_and_all_else_from_training(data):
    task = Arithmetic("multiply", Range(1, 2), Range(2, 6), data=data, scaling="minmax-evaluated")
    runs = [Run(Case((Layer("NMU"),), task), seed, i) for i, seed in enumerate((3, 4))]
    one, other = (
        Program(
            [Run(r.case.replace(scaling=kind), r.seed, r.index) for r in runs], torch.device("cpu"), False
        ).data
        for kind in ("minmax", "minmax-evaluated")
    )
    assert all(scaling is one.scaling for scaling in one.scalings)
    validation, test = other.scalings
    for scaling in (validation, test):
        for name in ("mean", "shift", "factor"):
            assert torch.equal(getattr(scaling, name), getattr(one.scaling, name))
    torch.testing.assert_close(validation.width, torch.full((2, 1, 2), 0.5), rtol=1e-2, atol=0)
    torch.testing.assert_close(test.width, torch.full((2, 1, 2), 2.0), rtol=1e-2, atol=0)


def test_a_model_that_is_right_on_training_data_is_wrong_outside_if_each_set_has_its_own_width():
    task = Arithmetic("select", Range(1, 2), Range(2, 6), inputs=1, subsets=1)
    found = {}
    for kind in ("minmax", "minmax-evaluated"):
        case = Case((Layer("Affine"),), task.replace(scaling=kind))
        program = Program([Run(case, 0, 0)], torch.device("cpu"), False)
        with torch.no_grad():  # y = mean + width * z, which is x on training data
            program.params["layers.0.factor"].fill_(1.0)
            offset = program.data.scaling.mean / program.data.scaling.factor
            program.params["layers.0.offset"].copy_(offset.squeeze(-2))
        found[kind] = [float(e) for e in program.evaluate()]
    assert max(found["minmax"]) < 1e-9
    assert found["minmax-evaluated"][0] < 1e-4 < 1 < found["minmax-evaluated"][1]
