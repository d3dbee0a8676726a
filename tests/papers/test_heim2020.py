"""The power units' experiments: what their specification says, and small runs of them."""

import numpy as np
import pytest
import torch
from scipy.stats import qmc

from nalm.config import Arithmetic, Case, Layer, Range, Recipe, Threshold, grid, sequence
from nalm.engine import check, populations, product, train
from nalm.engine.measures import counted, grid_errors, lattice
from nalm.engine.model import Network
from nalm.engine.optim import optimiser
from nalm.errors import NALMError
from nalm.experiments import EXPERIMENTS, experiments
from nalm.experiments.heim2020 import LARGE, POSITIVE, SIMPLE, SYSTEMS, WIDE
from nalm.tasks.operands import Target
from nalm.tasks.sampler import Sampler

CPU = torch.device("cpu")


def test_every_case_can_be_trained():
    for experiment in experiments("heim"):
        check(experiment.cases)
    assert {e.name for e in experiments("heim/large")} == {
        f"heim/large/{task}" for task in ("add", "multiply", "reciprocal", "sqrt")
    }


def test_the_simple_task_is_that_of_the_code():
    assert len(EXPERIMENTS["heim/simple"].claims) == 24  # its two tables hold the same numbers
    assert all(len(c.cases) == 1 for c in EXPERIMENTS["heim/simple"].claims)
    for name, case in SIMPLE.items():
        recipe = case.recipe
        assert (recipe.steps, recipe.batch, str(case.train)) == (20_000, 100, "U[0.1,2.1)")
        assert recipe.lr == (1e-3 if name == "INALU" else 5e-3)
        assert recipe.optimiser == ("rmsprop" if "NALU" in name else "adam")
    assert lattice(WIDE, 2, CPU).shape == (41 * 41, 2) and lattice(POSITIVE, 2, CPU).shape == (40 * 40, 2)
    assert lattice(POSITIVE, 2, CPU)[-1].tolist() == [4.0, 4.0]
    assert float(lattice(WIDE, 2, CPU).max()) == pytest.approx(3.9)


def test_the_large_task_is_that_of_the_code():
    assert {c.recipe.steps for (n, t), c in LARGE.items() if n != "NMU"} == {100_000}
    assert [LARGE["NMU", t].recipe.steps for t in ("add", "multiply", "reciprocal")] == [
        10_000,
        20_000,
        100_000,
    ]
    assert str(LARGE["NPU", "reciprocal"].test) == "Seq[-0.5,0)"
    assert [LARGE["NPU", "sqrt"].recipe.l2.at(s) for s in (0, 10_000, 20_000, 90_000)] == [
        1e-6,
        1e-5,
        1e-4,
        1e-4,
    ]
    first, second = LARGE["NPU", "add"].task.operands
    assert second[1] - second[0] == 50 and first[1] - second[0] == 12
    assert len(EXPERIMENTS["heim/large/multiply"].seeds) == 20
    for task in ("add", "multiply", "reciprocal", "sqrt"):
        # tests twice, trainings once, of five models
        assert len(EXPERIMENTS[f"heim/large/{task}"].claims) == 15


def test_the_pressure_of_the_code_empties_what_nothing_holds_and_that_of_the_paper_does_not():
    """Weights without any other gradient, under RMSProp: the sum of 2-norms draws all to 0, L1 leaves most swinging."""
    empty = {}
    for kind in ("l1", "l2"):
        weight = torch.linspace(0.001, 0.1, 300)[None]
        rule, square = optimiser("rmsprop", decay=0.9), [torch.zeros_like(weight)]
        for _ in range(3_000):
            # beside a norm of 1 that the data hold
            slope = 1e-7 * (weight.sign() if kind == "l1" else weight)
            change, square = rule(slope, square, torch.tensor([5e-3]), torch.tensor(0))
            weight = weight - change
        empty[kind] = float((weight.abs() < 1e-5).float().mean())
    assert empty["l2"] == 1 and empty["l1"] < 0.7


def test_models_of_all_widths_and_pressures_are_one_population():
    runs = product(list(SYSTEMS.values()), range(5))
    assert len(runs) == 300 and sorted(map(len, populations(runs))) == [100, 100, 100]
    # the NMU trains for less on two tasks
    assert len(populations(product(list(LARGE.values()), range(2)))) == 7


def test_the_sequence_is_sobols_from_its_centre_on():
    sampler = Sampler([sequence(0, 1), sequence(-2, 2)], 5)
    key = torch.zeros(2, 2, dtype=torch.int32)
    batches = [sampler(key, torch.tensor(k, dtype=torch.int32), sampler.grid(16)) for k in range(4)]
    ours = torch.cat(batches, -1).mT.double().numpy()
    theirs = qmc.Sobol(5, scramble=False).random(128)[1:65]
    np.testing.assert_allclose(ours[0], theirs, atol=1e-7)
    np.testing.assert_allclose(ours[1], 4 * theirs - 2, atol=1e-6)
    assert ours[0, 0].tolist() == [0.5] * 5


def test_several_operations_are_several_targets():
    case = SIMPLE["NPU"]
    x = torch.tensor([[[4.0, 2.0], [9.0, 3.0]]])
    assert Target([case], [0])(x).tolist() == [[[6.0, 8.0, 2.0, 2.0], [12.0, 27.0, 3.0, 3.0]]]
    with pytest.raises(NALMError, match="as many outputs"):
        Target([case, case.replace(operation="add", grids=())], [0, 0])
    with pytest.raises(NALMError, match=r"4 targets.*ends in 1 outputs"):
        check([case.replace(model=(Layer("NPU"),))])


def test_errors_over_a_grid_are_those_of_numpy():
    case = SIMPLE["NPU"]
    found = grid_errors(case, lambda x: torch.zeros(*x.shape[:-1], 4), 2, CPU)
    x = np.array([-4.1 + 0.2 * k for k in range(41)])
    np.testing.assert_allclose(found["multiply"], np.abs(np.outer(x, x)).mean(), rtol=1e-5)
    np.testing.assert_allclose(found["divide"], np.abs(x[:, None] / x).mean(), rtol=1e-5)
    np.testing.assert_allclose(found["sqrt"], np.sqrt(np.arange(1, 41) / 10).mean(), rtol=1e-5)


def test_parameters_are_counted_by_their_size():
    params = {"a": torch.tensor([[0.5, -2e-5], [0.0, 5e-4]]), "b": torch.tensor([[-1.0], [2e-6]])}
    found = counted(params, (1e-5, 1e-3))
    assert found["nonzero 1e-05"].tolist() == [3, 1] and found["nonzero 0.001"].tolist() == [2, 0]


def test_parameters_start_where_a_recipe_says():
    network = Network((Layer("Linear", 3, (("bias", False),)), Layer("NPU")), 5)
    found = network.starts([0, 1], torch.zeros(2), between=(("0.weight", 0, 0.1), ("1.gate", 1, 1)))
    assert found["layers.0.weight"].min() >= 0 and 0.05 < found["layers.0.weight"].max() < 0.1
    assert (found["layers.1.gate"] == 1).all() and found["layers.1.weight"].min() < 0
    with pytest.raises(NALMError, match=r"1\.gate"):
        network.starts([0], torch.zeros(1), between=(("1.gat", 1, 1),))


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda c: c.replace(grids=(("square", WIDE),)), "square"),
        (lambda c: c.replace(grids=(("add", Range(0, 1)),)), "over a grid"),
        (lambda c: c.replace(threshold=Threshold()), "fixed threshold"),
        (lambda c: c.replace(recipe=c.recipe.replace(starts=(("0.weight", 2, 1),))), "low <= high"),
        (lambda c: c.replace(recipe=c.recipe.replace(decay=1.0)), "decay"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(change, words):
    with pytest.raises(NALMError, match=words):
        change(SIMPLE["NPU"])


def test_measures_are_of_the_end_and_the_same_alone_as_among_others():
    case = Case(
        (Layer("NPU", 2), Layer("Linear", 2, (("bias", False),))),
        Arithmetic(
            "multiply, sqrt",
            Range(0.1, 2.1),
            Range(0.1, 4),
            threshold=Threshold("fixed"),
            grids=(("multiply", grid(-1, 1, 0.5)), ("sqrt", grid(0.5, 2, 0.5))),
            counts=(1e-3,),
        ),
        Recipe(steps=20, batch=16),
    )
    both, one = (train(case, seeds, "cpu", compiled=False) for seeds in ((0, 1), (1,)))
    assert both.measures[1].keys() == {"test", "validation", "nonzero 0.001", "multiply", "sqrt"}
    for name, value in one.measures[0].items():
        assert both.measures[1][name] == pytest.approx(value, rel=1e-5)
    assert both.measures[0]["validation"] == both.validation[0][-1]


def test_on_positive_numbers_an_npu_is_a_real_one():
    """No gradient reaches its imaginary part: what the paper's Table A2 shows between the two is seeds."""
    cases = [SIMPLE[n].replace(recipe=SIMPLE[n].recipe.replace(steps=30)) for n in ("NPU", "RealNPU")]
    npu, real = (train(case, (0,), "cpu", compiled=False) for case in cases)
    assert (npu.weights[0]["0.imaginary"] == 0).all()
    np.testing.assert_allclose(npu.weights[0]["0.weight"], real.weights[0]["0.weight"], rtol=1e-4)


# -- small runs, each with one published direction ---------------------------------------------------


@pytest.mark.slow
def test_power_units_divide_far_outside_the_data_where_nalus_do_not():
    names = ("RealNPU", "NALU")
    cases = [SIMPLE[n].replace(recipe=SIMPLE[n].recipe.replace(steps=3_000)) for n in names]
    runs = train(cases, range(3), "cpu", compiled=False)
    errors = {n: [m["divide"] for m in runs.of(c).measures] for n, c in zip(names, cases, strict=True)}
    assert np.median(errors["RealNPU"]) < np.median(errors["NALU"])


@pytest.mark.slow
def test_a_power_unit_learns_a_reciprocal_among_a_hundred_inputs_where_a_product_does_not():
    cases = [
        LARGE[n, "reciprocal"].replace(recipe=LARGE[n, "reciprocal"].recipe.replace(steps=500))
        for n in ("RealNPU", "NMU")
    ]
    runs = train(cases, range(2), "cpu", compiled=False)
    power, product_ = ([m["test"] for m in runs.of(c).measures] for c in cases)
    assert max(power) < min(product_) / 10


@pytest.mark.slow
def test_a_power_unit_fits_an_epidemic():
    case = SYSTEMS["NPU", 6, 0.0]
    case = case.replace(recipe=case.recipe.replace(steps=100, polish=40))
    runs = train(case, range(2), "cpu", compiled=False)
    first, last = (np.array([e[i] for e in runs.validation]) for i in (0, -1))
    assert (last < first / 20).all()
    assert all(0 < m["nonzero 0.001"] <= 6 * 3 * 2 + 3 + 18 for m in runs.measures)
