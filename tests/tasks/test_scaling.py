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
