"""The answer where nothing is certified: no worse than a line or a product of powers, and it never explodes."""

import numpy as np
import pytest

from nalm.discover import search
from nalm.discover.fit.fallback import chosen, linear, log_linear, steady
from nalm.discover.law.expression import Input, Power, Sum, evaluate
from nalm.discover.met import Met
from nalm.discover.problem import Problem

A, B = Input(0), Input(1)


def posed(law, noise=0.3, rows=240, seed=0, columns=3):
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 3, (rows, columns))
    y = law(*x.T)
    return Problem.from_table(x, y + noise * y.std() * rng.standard_normal(rows))


def test_a_line_is_the_solution_of_least_squares_where_there_is_no_noise():
    problem = posed(lambda a, b, c: 2 * a - b + 3, noise=0.0)
    line = linear(problem.x, problem.y, [0, 1, 2])
    np.testing.assert_allclose(evaluate(line, problem.held_x), problem.held_y, rtol=1e-5)


def test_a_line_of_more_columns_than_rows_does_not_follow_the_noise():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((40, 100)), rng.standard_normal(40)
    line = linear(x, y, range(100))
    assert np.std(evaluate(line, rng.standard_normal((500, 100)))) < 0.7


def test_a_product_of_powers_is_fitted_between_logarithms():
    problem = posed(lambda a, b, c: -3 * a**1.5 / b, noise=0.0)
    found = log_linear(problem.x, problem.y, [0, 1, 2])
    assert found is not None
    np.testing.assert_allclose(evaluate(found, problem.held_x), problem.held_y, rtol=1e-4)
    assert log_linear(problem.x, problem.y - problem.y.mean(), [0, 1, 2]) is None


def test_laws_that_cancel_or_explode_are_not_steady():
    problem = posed(lambda a, b, c: a * b)
    assert steady(Power((A, B), (1.0, 1.0)), problem)
    assert not steady(Sum((A, Power((A,), (1.0001,))), (1e4, -1e4)), problem)
    assert not steady(Power((Sum((A, B), (1.0, -1.0)),), (-1.0,)), problem)


def test_the_shortest_candidate_is_kept_unless_another_is_clearly_better():
    problem = posed(lambda a, b, c: a * b)
    right, more = Power((A, B), (1.0, 1.0)), Sum((Power((A, B), (1.0, 1.0)), Input(2)), (1.0, 1e-3))
    assert chosen([(right, "one"), (more, "two")], problem)[1] == "one"
    assert chosen([(A, "one"), (right, "two")], problem)[1] == "two"


def test_nothing_worse_than_a_line_is_returned():
    problem = posed(lambda a, b, c: a + b - c, noise=0.1)
    assert chosen([(Power((A, B), (1.0, 1.0)), "product")], problem)[1] == "linear"


def score(x, y, far_x, far_y, **options):
    p = search(x, y, **options).law.predict(far_x)
    return 1 - np.mean((far_y - p) ** 2) / np.var(far_y)


def simple_scores(x, y, far_x, far_y):
    columns = range(x.shape[1])
    fits = [linear(x, y, columns), log_linear(x, y, columns)]
    predicted = [evaluate(f, far_x) for f in fits if f is not None]
    return [1 - np.mean((far_y - p) ** 2) / np.var(far_y) for p in predicted]


TARGETS = {
    "noise": lambda a, b, c, d: 0 * a,
    "step": lambda a, b, c, d: (a > 2) + (b > c) * 1.0,
    "wave": lambda a, b, c, d: np.sin(3 * a) * np.exp(b / 2),
    "bump": lambda a, b, c, d: 1 / (1 + 40 * (a - 2) ** 2) + d,
    "largest": lambda a, b, c, d: np.maximum(a, b) * c,
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.system
def test_the_score_on_new_rows_is_that_of_simple_regressions_or_better(name):
    rng = np.random.default_rng(3)
    x, far_x = rng.uniform(1, 3, (150, 4)), rng.uniform(1, 3, (400, 4))
    y, far_y = (TARGETS[name](*t.T) for t in (x, far_x))
    y, far_y = (t + 0.3 * rng.standard_normal(len(t)) for t in (y, far_y))
    mine = score(x, y, far_x, far_y, stages=["additive", "power", "ratio", "product", "polynomial"])
    assert mine >= max(simple_scores(x, y, far_x, far_y)) - 0.03


@pytest.mark.slow
def test_the_score_on_measured_tables_is_that_of_simple_regressions_or_better():
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed")
    wine = datasets.load_wine().data
    tables = datasets.load_diabetes(return_X_y=True, scaled=False), (wine[:, 1:], wine[:, 0])
    for x, y in tables:
        differences = []
        for seed in range(4):
            order = np.random.default_rng(seed).permutation(len(y))
            train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
            rows = x[train], y[train], x[test], y[test]
            differences.append(score(*rows, max_time=20) - max(simple_scores(*rows)))
        assert np.mean(differences) > -0.03


def test_a_law_that_is_far_too_large_is_the_worst_and_no_error():
    problem = posed(lambda a, b, c: 1e-9 * (a + b))
    met = Met(problem)
    for law in (Sum((A, B), (1e-9, 1e-9)), Power((A,), (1.0,), 1e150)):
        met.remember(law, "test")
    assert sorted(met.met, key=met.score)[0] == Sum((A, B), (1e-9, 1e-9))
    assert met.score(Power((A,), (1.0,), 1e150)) == np.inf
