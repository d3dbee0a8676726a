"""Pictures of the power units' experiments, from a store and from shipped files."""

import itertools
import json

import numpy as np
import pytest
import torch

from nalm.config import Experiment
from nalm.engine import train
from nalm.experiments.heim2020 import LARGE, SIMPLE, SYSTEMS
from nalm.report import page
from nalm.report.sections import heim2020 as heim
from nalm.report.sections import pareto as scatter
from nalm.report.sections.surfaces import errors_over, orbit
from nalm.report.study import studies
from nalm.results import files as shipped
from nalm.results.store import Store
from nalm.tasks.epidemic import START

pytestmark = [pytest.mark.system, pytest.mark.xdist_group("heim")]  # one process trains


def short(case, **changes):
    return case.replace(recipe=case.recipe.replace(**changes))


CASES = {
    "simple": tuple(short(SIMPLE[n], steps=3) for n in ("RealNPU", "NMU", "INALU", "NALU", "Dense")),
    "large": (short(LARGE["RealNPU", "sqrt"], steps=1, batch=2),),
    "fsir": tuple(short(SYSTEMS[n, 6, 1.0], steps=1, polish=1) for n in ("RealNPU", "Dense")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("heim")
    with Store(where, create=True) as store:
        store.begin("nalm run heim", torch.__version__)
        for name, cases in CASES.items():
            seeds = (0, 1) if name == "simple" else (0,)
            store.register(Experiment(f"heim/{name}", name, cases, seeds))
            store.save(train(cases, seeds, "cpu", compiled=False))
    return where


@pytest.fixture(params=["store", "shipped"])
def found(folder, tmp_path, request):
    if request.param == "shipped":
        with Store(folder) as store:
            for name in store.experiments():
                shipped.ship(store, name, tmp_path)
    there = studies(folder if request.param == "store" else tmp_path)
    return {study.name.removeprefix("heim/"): study for study in there}


def test_maps_show_the_best_run_of_each_model_and_operation(found):
    (picture,) = heim.pictures(found["simple"])
    assert len(picture["data"]) == 5 * 4
    best = min(
        (o for o in found["simple"].outcomes if o.case == CASES["simple"][0]), key=lambda o: o.measures["add"]
    )
    assert f"seed {best.seed}" in picture["data"][0]["hovertemplate"]
    z = np.array(picture["data"][0]["z"], dtype=float)
    assert z.shape == (41, 41) and z.min() >= -4 and z.max() <= 2
    assert len(picture["data"][-1]["x"]) == 50  # the root up to 5


def test_the_mean_over_a_map_is_the_measured_error(found):
    study = found["simple"]
    for o in study.outcomes:
        weights = scatter.kept(study, o)
        if (
            weights and scatter.model(o.case) != "iNALU"
        ):  # whose saturated weights are known to seven digits only
            for name, points in o.case.task.grids:
                _, errors = errors_over(o.case, weights, name, points)
                assert errors.mean() == pytest.approx(o.measures[name], rel=1e-3)


def test_the_table_has_both_statistics_and_the_published_numbers(found):
    (table,) = heim.tables(found["simple"])
    assert table["columns"] == ["RealNPU", "NMU", "NALU", "iNALU", "Dense"]
    add = table["rows"][0]
    assert (
        add["name"] == "a + b"
        and add["cells"][0][2] == "0.08 ± 0.021"
        and add["cells"][3][2] == "2.18 ± 0.13"
    )
    values = [o.measures["add"] for o in found["simple"].outcomes if o.case == CASES["simple"][0]]
    assert add["cells"][0][1].startswith(f"{np.mean(values):.3g}")


def test_errors_against_parameters_are_drawn_with_the_published_ones(found):
    (picture,) = heim.pictures(found["large"])
    (ours, *theirs) = picture["data"]
    assert ours["x"] == [found["large"].outcomes[0].measures["nonzero 1e-05"]]
    assert {t["name"] for t in theirs} >= {"NPU, published", "RealNPU, published", "NMU, published"}
    assert all(len(t["x"]) == len(t["y"]) > 5 for t in theirs)


def test_fits_have_a_front_a_trajectory_and_matrices(found):
    pareto, trajectory, matrices = heim.pictures(found["fsir"])
    assert sum(len(t["x"]) for t in pareto["data"] if t["name"].endswith("published")) == 300
    assert len(trajectory["data"]) == 9 and len(trajectory["data"][1]["x"]) == 201
    study = found["fsir"]
    best = min(study.outcomes, key=lambda o: o.measures["test"])
    away = orbit(best.case, scatter.kept(study, best), START, 200)
    assert away.shape == (201, 3) and away[0].tolist() == list(START)
    assert matrices["formula"].startswith("S' = ") and "Gates" in matrices["note"]
    assert np.array(matrices["data"][1]["z"]).shape == (6, 3)


def test_the_page_has_every_picture_of_the_paper(found):
    data = page.content(list(found.values()), with_landscapes=False)
    text = page.render(data, "here")
    json.dumps(data, allow_nan=False)
    assert text.count(".heim2020.pictures.") == 1 + 1 + 3 and "S&#39; = " in text


def test_a_front_is_the_lower_left_of_a_hull():
    rng = np.random.default_rng(0)
    points = [tuple(p) for p in rng.random((50, 2)).tolist()]
    corner = scatter.front([*points, (0.5, np.nan)])
    assert corner == sorted(corner) and [y for _, y in corner] == sorted((y for _, y in corner), reverse=True)
    assert corner[0][0] == min(x for x, _ in points) and corner[-1][1] == min(y for _, y in points)
    for (x0, y0), (x1, y1) in itertools.pairwise(corner):  # nothing lies below a line
        assert all((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) >= -1e-12 for x, y in points)
    assert scatter.front([]) == []
