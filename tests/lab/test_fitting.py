"""fit_units: the best of many starts on rows of one's own, from arrays, loaders and functions."""

import numpy as np
import pytest
import sympy
import torch
from torch import nn

import nalm
from nalm.config import Ramp, Recipe
from nalm.errors import NALMError
from nalm.lab.fitting import models, sources
from nalm.lab.fitting.result import certificates

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, (600, 3))
QUICK = Recipe(steps=40, lr=0.1, batch=32)


def fit(x, y=None, model="NMU", **options):
    usual = {"seeds": 4, "recipe": QUICK, "compiled": False, "device": "cpu"}
    return nalm.fit_units(x, y, model, **usual | options)


@pytest.fixture(scope="module")
def product():
    """One fit that several tests look at: a product of two of three columns, and rows far outside."""
    far = 100 * X[:50]
    return fit(X, X[:, 0] * X[:, 2], names=("width", "depth", "height"), test=(far, far[:, 0] * far[:, 2]))


def test_arrays_become_a_usable_module_with_its_formula(product):
    found = product
    assert [str(f) for f in found.formulas] == ["height*width"]
    assert found.certificates[0].verdict == "exact" and found.certificates[0].rows == 120
    assert found.notes == () and not found.inside
    assert found.error < 1e-6 and found.agreement.estimate == 1.0 and found.agreement.n == 4
    assert found.module(torch.tensor([[300.0, 7.0, -2.0]])).tolist() == [[-600.0]]
    np.testing.assert_allclose(found.predict([[300.0, 7.0, -2.0]]), [[-600.0]])
    assert len(found.runs) == 4 and found.runs.seeds == [0, 1, 2, 3]


def test_printing_shows_a_summary(product):
    text = repr(product)
    assert text.startswith("y = height*width\n") and "4 of 4 starts agree: 1.00 [0.51, 1.00]" in text
    assert "exact: the law holds to the rounding of float64 on 120 held-out rows." in text and len(text) < 700


def test_noise_in_y_is_consistent_and_not_exact():
    y = X[:, 0] * X[:, 2]
    noisy = y + 0.05 * y.std() * np.random.default_rng(1).standard_normal(len(y))
    found = fit(X, noisy, noise=0.05)
    assert [str(f) for f in found.formulas] == ["a*c"] and found.certificates[0].verdict == "consistent"
    assert 0.03 < found.error < 0.08


def test_relative_noise_is_told_from_noise_of_constant_size():
    """A wide quotient whose noise grows with it: a test for noise of constant size refuses 18 of 20 such laws."""
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(0.2, 5, (1_000, 3)), 0.01 * rng.standard_normal(1_000)
    quotient = x[:, 0] / x[:, 2]
    for kind, y in {"relative": quotient * (1 + noise), "additive": quotient + noise}.items():
        law, rows = sympy.Symbol("a") / sympy.Symbol("c"), sources.split(x, y)
        (certificate,) = certificates([law], ("a", "b", "c"), rows, None)
        assert certificate.verdict == "consistent" and f"{kind} noise of" in certificate.tested, certificate


def test_a_law_near_which_another_explains_the_rows_as_well_is_undecided():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 1.2, (30, 2))
    y = x[:, 0] * x[:, 1] * (1 + 0.025 * rng.standard_normal(30))
    (certificate,) = certificates(
        [sympy.Symbol("a") * sympy.Symbol("b")], ("a", "b"), sources.split(x, y), None
    )
    assert certificate.verdict == "undecided" and certificate.alternatives
    assert certificate.advice.startswith("Measure next near a = ")


def test_columns_that_others_can_stand_for_are_named():
    near = X[:, 0] + 1e-3 * np.random.default_rng(1).standard_normal(len(X))
    x = np.column_stack([X, near, X[:, 1]])
    found = fit(x, X[:, 1] * X[:, 2], seeds=2, names=("width", "depth", "height", "span", "copy"))
    assert found.notes[0] == "Columns depth and copy hold the same numbers: the law can name any of them."
    assert "Columns width and span move together (r = 1.00000)" in repr(found)


def test_a_wrong_model_gets_no_certificate():
    found = fit(X, X[:, 0] + X[:, 2], recipe=QUICK.replace(steps=2), seeds=1)
    assert found.certificates[0].verdict == "none" and found.error > 0.5


def test_an_error_that_rounding_makes_larger_is_told():
    """The mean of two columns needs weights of 1/2, between the values of the grid."""
    found = fit(X, (X[:, 0] + X[:, 2]) / 2, "NAU", seeds=1)
    assert found.trained_error < 0.1 and found.error > 0.3
    assert "Rounding the weights made the error" in found.notes[0] and found.notes[0] in repr(found)


def test_the_best_of_several_models_and_recipes_is_chosen_by_validation():
    found = fit(X, X[:, 0] + X[:, 2], ["NMU", nalm.NAU], recipe=[QUICK, QUICK.replace(lr=0.05)], seeds=2)
    assert len(found.runs) == 8 and type(found.module) is nalm.NAU and found.agreement.n == 2
    assert [str(f) for f in found.formulas] == ["a + c"] and found.certificates[0].verdict == "exact"


def test_several_outputs_have_a_formula_and_a_certificate_each():
    found = fit(X, np.stack([X[:, 0] + X[:, 1], X[:, 2] - X[:, 0]], 1), "NAU")
    assert [str(f) for f in found.formulas] == ["a + b", "-a + c"]
    assert [c.verdict for c in found.certificates] == ["exact", "exact"]


def test_layers_of_torch_train_beside_units():
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nalm.NMU(2, 1))
    found = fit(X, X[:, 0] * X[:, 2], model, recipe=QUICK.replace(steps=3))
    assert [type(m).__name__ for m in found.module] == ["Linear", "ReLU", "NMU"]
    assert found.formulas == () == found.certificates and "no formula of the whole" in repr(found)
    assert found.inside == {"2": found.module[2].formulas()}
    assert f"unit '2' computes {found.inside['2'][0]}" in repr(found)
    assert found.module[2].is_solved() and not found.trained[2].is_solved()


def test_a_loader_gives_the_same_as_its_rows():
    rows = torch.utils.data.TensorDataset(
        torch.from_numpy(X).float(), torch.from_numpy(X[:, 0] * X[:, 2]).float()
    )
    split = sources.split(torch.utils.data.DataLoader(rows, batch_size=64), None)
    same = sources.split(*rows.tensors)
    assert split.own.digest == same.own.digest and len(split.own.train[0]) == 360


def test_a_function_draws_new_rows_for_every_block(monkeypatch):
    monkeypatch.setattr(sources, "POOL", 64)
    monkeypatch.setattr(sources, "CHECKED", 50)
    monkeypatch.setattr("nalm.engine.numbers.training.EVERY", 20)
    asked = []

    def draw(rows, generator):
        asked.append(rows)
        x = generator.uniform(1, 2, (rows, 2))
        return x, x.prod(1)

    found = fit(draw, seeds=2)
    assert [str(f) for f in found.formulas] == ["a*b"]
    assert asked[:3] == [50, 50, 64] and len(asked) >= 4 and set(asked[3:]) == {64}


def test_a_long_loader_is_a_stream_whose_last_rows_stay(monkeypatch):
    monkeypatch.setattr(sources, "LONGEST", 100)
    monkeypatch.setattr(sources, "POOL", 60)
    monkeypatch.setattr(sources, "CHECKED", 20)
    batches = [(np.full((30, 2), float(k)), np.full(30, float(k))) for k in range(7)]
    split = sources.split(batches, None)
    assert len(split.own.validation[0]) == len(split.held[0]) == 20 and len(split.own.train[0]) == 60
    block = split.own.refill(1)[0]
    assert block.shape == (60, 2) and float(block.min()) > float(split.own.train[0].max()) - 1.5
    assert torch.equal(split.own.refill(2)[0], split.own.refill(3)[0])


def test_patience_stops_a_training_that_does_not_improve(monkeypatch):
    monkeypatch.setattr("nalm.engine.numbers.training.EVERY", 3)
    told, recipe = [], QUICK.replace(steps=4_000, penalties=(("weight", Ramp(1, 3, 6)),))
    found = fit(X, RNG.standard_normal(600), recipe=recipe, patience=3, watch=told.append, seeds=1)
    assert 12 <= int(found.runs.steps[0][-1]) < 1_000
    assert (
        told[0].startswith("step 3 of 4,000: best validation error ") and "starts near the target" in told[0]
    )


def test_test_rows_give_the_test_curve(product):
    assert product.runs.cases[0].test.high > 150 and product.runs.test[0][0] > 1e4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, X[:5, 0]), "y needs a row for each of the 600 rows of X"),
        ((X[:, 0], X[:, 0]), "X needs the shape"),
        ((X[:5], X[:5, 0]), "at least 10 rows, got 5"),
        ((np.full_like(X, np.nan), X[:, 0]), r"X\[0, 0\] is nan: leave out rows"),
        ((X, [["a"]] * 600), "y must be a table of real numbers"),
        ((5,), "got int without y"),
        (([],), "The loader has no batches"),
        ((lambda rows, generator: (X, X[:, 0]),), "asked for 2000 rows and returned 600"),
        (([1, 2],), r"A batch of rows is a pair \(X, y\), got int"),
        ((X, X[:, 0], "NMUU"), "Did you mean 'NMU'"),
        ((X, X[:, 0], []), "A fit needs a model"),
        ((X, X[:, 0], nalm.NMU(2, 1)), "gets 3 numbers: X has 3 columns"),
        ((X, X[:, 0], nalm.NMU(3, 2)), "ends in 2 outputs, y has 1 columns"),
        ((X, X[:, 0], nn.Conv1d(1, 1, 1)), "train such a network in a loop of your own with nalm.attach"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_the_remedy(arguments, message):
    with pytest.raises(NALMError, match=message):
        fit(*arguments)


def test_names_and_seeds_are_checked():
    with pytest.raises(NALMError, match="3 columns, but 1 names"):
        fit(X, X[:, 0], names=["a"])
    with pytest.raises(NALMError, match="at least one seed"):
        fit(X, X[:, 0], seeds=0)


def test_the_recipe_without_one_is_that_of_the_units():
    layers = models.layers(nn.Sequential(nalm.NAU(3, 2), nalm.NMRU(2, 1)), 3, 1)
    (recipe,) = models.recipes(None, layers, 3, 1_000)
    assert recipe.penalties == (("weight", Ramp(10, 400, 700)),)
    assert (recipe.clip_norm, recipe.lr, recipe.steps) == (1.0, 0.01, 1_000)


def test_a_table_names_its_columns():
    pandas = pytest.importorskip("pandas")
    x = np.random.default_rng(0).uniform(-2, 2, (400, 2))
    table = pandas.DataFrame(x, columns=["volt", "mass (kg)"])
    found = nalm.fit_units(
        table, x[:, 0] * x[:, 1], "NMU", seeds=2, recipe=Recipe(steps=40, lr=0.1), compiled=False
    )
    assert str(found.formulas[0]) == "mass_kg*volt"
