"""Pictures of trained models: starts on a grid with their ends, and predictions over two inputs; kept and shipped."""

import numpy as np
import pytest
import torch

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe, Threshold, points
from nalm.config.labels import axis, labels, places
from nalm.engine import train
from nalm.engine.model import Network
from nalm.errors import NALMError
from nalm.report import page, static
from nalm.report.sections import surfaces
from nalm.report.study import studies
from nalm.results import files as shipped
from nalm.results.store import Store

GRID = Case(
    (Layer("NMU"),),
    Arithmetic("multiply", points(-2, -1.8), Range(-6, -2), threshold=Threshold("fixed")),
    Recipe(steps=150, batch=1, optimiser="sgd", lr=1e-2, grid=3),
)
PERCEPTRON = Case(
    (Layer("MLP", options=(("hidden", (40,)),)),),
    Arithmetic("add", Range(1, 2), Range(2, 6), threshold=Threshold("fixed")),
    Recipe(steps=2, batch=4),
)
UNIT = PERCEPTRON.replace(model=(Layer("NAU"),))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("maps")
    with Store(where, create=True) as store:
        store.begin("nalm run maps", torch.__version__)
        for name, cases, seeds in (("grid", (GRID,), range(9)), ("mlp", (PERCEPTRON, UNIT), range(2))):
            store.register(Experiment(name, name, cases, tuple(seeds)))
            store.save(train(cases, seeds, "cpu", compiled=False))
    return where


@pytest.mark.parametrize("from_files", [False, True], ids=["store", "shipped"])
def test_arrows_lead_from_initial_weights_to_final_ones(folder, tmp_path, from_files):
    if from_files:
        with Store(folder) as store:
            shipped.ship(store, "grid", tmp_path)
    (study,) = studies(tmp_path if from_files else folder, "grid")
    (surface,) = surfaces.drawn(study)
    assert surface.x.tolist() == [0.0, 0.5, 1.0] and surface.arrows.shape == (9, 4)
    begun = sorted(map(tuple, surface.arrows[:, :2].tolist()))
    assert begun == [(a, b) for a in (0, 0.5, 1) for b in (0, 0.5, 1)]
    good = surface.z[(surface.arrows[:, 1] * 2).astype(int), (surface.arrows[:, 0] * 2).astype(int)] == 1
    np.testing.assert_allclose(surface.arrows[good, 2:], 1.0, atol=1e-3)
    assert surface.at(1, 1) == 1 and surface.at(0, 0) == 0  # clamped at (0, 0), the gradient points out
    assert f"{int(np.sum(surface.z))} of 9" in surface.note


@pytest.mark.parametrize("from_files", [False, True], ids=["store", "shipped"])
def test_predictions_are_those_of_the_stored_weights(folder, tmp_path, from_files):
    if from_files:
        with Store(folder) as store:
            shipped.ship(store, "mlp", tmp_path)
    (study,) = studies(tmp_path if from_files else folder, "mlp")
    perceptron, unit = surfaces.drawn(study)
    assert "MLP" in perceptron.title and "seed 0: inside not and beyond not" in perceptron.title
    assert unit.title.startswith("NAU")
    network = Network(PERCEPTRON.model, 2)
    with Store(folder) as store, torch.no_grad():
        for name, value in store.arrays(PERCEPTRON.hash, 0).items():
            if name.startswith("weights.0."):
                network.get_parameter(f"layers.{name.removeprefix('weights.')}").copy_(
                    torch.from_numpy(value)
                )
        ours = network(torch.tensor([[-6.0, 6.0], [3.0, 1.0]]))[:, 0]
    width = (perceptron.z.max() - perceptron.z.min()) / 19  # of a bin, whose middle is drawn
    for value, at in zip(ours.tolist(), ((-6, 6), (3, 1)), strict=True):
        assert perceptron.at(*at) == pytest.approx(value, abs=0.51 * width + 2e-3)
    assert [(box.low, box.high) for box in perceptron.boxes] == [(1, 2), (2, 6)]


def test_missing_weights_are_an_error():
    with pytest.raises(NALMError, match="are missing"):
        surfaces.predictions(PERCEPTRON, {"weight0": np.zeros(80)}, "")


def test_surfaces_are_on_the_page_and_among_the_static_figures(folder, tmp_path):
    found = page.content(studies(folder), with_landscapes=False)
    kinds = {e["name"]: [m["name"] for m in e["surfaces"]] for e in found["experiments"]}
    assert kinds == {"grid": ["starts"], "mlp": ["predictions", "predictions"]}
    assert len(found["experiments"][0]["surfaces"][0]["arrows"]) == 9
    assert 'class="figure surface" data-path="experiments.1.surfaces.1"' in page.render(found, "")
    names = {p.name for p in static.write(folder, tmp_path, "png", "grid")}
    assert "grid-starts-0.png" in names


def test_the_axis_of_a_figure_is_what_the_cases_vary():
    wide = [PERCEPTRON.replace(model=(Layer("NAU", n), Layer(u))) for u in ("NAU", "NMU") for n in (2, 3)]
    assert axis(wide) == "width" and list(places(wide).values()) == ["2 wide", "3 wide"] * 2
    assert set(labels(wide).values()) == {"NAU-NAU", "NAU-NMU"}
    assert axis([*wide, *(PERCEPTRON.replace(train=Range(0, n)) for n in (1, 2, 3))]) == "range"
    many = [UNIT.replace(inputs=n) for n in (2, 5, 9)]
    assert axis(many) == "inputs" and list(places(many).values()) == ["2 inputs", "5 inputs", "9 inputs"]
    assert axis([UNIT]) == axis([]) == "range"
