"""Problems are functions of their names, and what lies outside never meets what is fitted."""

import numpy as np
import pytest

from benchmarks.laws.problems import OUTSIDE, REDUNDANT, ROWS, TABLES, VARIANTS, Entry, entries, problem
from benchmarks.laws.problems.laws import expression, laws
from nalm.discover.law.expression import Input, evaluate, used
from nalm.errors import NALMError

OPEN = laws("open")


def law(name="reduced-mass", variant="plain", seed=0):
    return problem(Entry("laws", name, "open", variant, seed))


@pytest.mark.parametrize(
    "entry",
    [
        Entry("laws", "reynolds-number", "open", "redundant", 0),
        Entry("laws", "reynolds-number", "open", "noise 10%", 0),
        Entry("cells", next(iter(TABLES["cells"])), "", "plain", 1),
        Entry("compositions", "add-mul-div", "", "plain", 0),
        Entry("outside", "sine", "", "noise 1%", 2),
    ],
    ids=str,
)
def test_a_problem_is_a_function_of_its_name(entry):
    one, two = problem(entry), problem(entry)
    for name in ("x", "y", "far_x", "far_y"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.names == two.names and one.truth == two.truth


def test_seeds_and_variants_draw_other_rows():
    assert not np.array_equal(law(seed=0).x, law(seed=1).x)
    assert not np.array_equal(law().x, law(variant="noise 1%").x)


@pytest.mark.parametrize("name", OPEN)
def test_the_truth_of_every_open_law_has_values_and_uses_its_inputs(name):
    for variant in ("plain", "redundant", "tight"):
        p = law(name, variant)
        assert len(p.y) == len(p.far_y) == ROWS and np.ptp(p.y) > 0
        assert np.isfinite(p.far_y).all() and np.isfinite(p.rounding).all()
        assert {p.names[i] for i in used(p.truth)} == set(OPEN[name].inputs)
        np.testing.assert_allclose(evaluate(p.truth, p.x), p.y, rtol=1e-12)


def test_formulas_become_expressions():
    x = np.array([[2.0, 3.0], [5.0, 0.5]])
    a, b = x.T
    for text, y in {
        "8/27*a*b**2": 8 / 27 * a * b**2,
        "1/(1/a + 2/b)": 1 / (1 / a + 2 / b),
        "sqrt(2*9.81*a) - 3": np.sqrt(2 * 9.81 * a) - 3,
        "abs(a - b)": np.abs(a - b),
        "a - 2.5*(b - a)**1.5": a - 2.5 * np.maximum(b - a, 0) ** 1.5,
    }.items():
        rows = [0] if "1.5" in text else [0, 1]
        np.testing.assert_allclose(evaluate(expression(text, ("a", "b")), x)[rows], y[rows], rtol=1e-14)
    assert expression("b", ("a", "b")) == Input(1)
    with pytest.raises(NALMError, match="made of inputs"):
        expression("a < b", ("a", "b"))


def test_redundant_columns_are_mixed_with_the_inputs():
    p = law("coulomb-force", "redundant")
    assert p.x.shape == (ROWS, 3 + REDUNDANT) and sum(n.startswith("z") for n in p.names) == REDUNDANT
    assert not np.array_equal([n.startswith("z") for n in p.names], [False] * 3 + [True] * REDUNDANT)
    q1, q2, r = (p.x[:, p.names.index(n)] for n in ("q1", "q2", "r"))
    np.testing.assert_allclose(p.y, 8.988 * q1 * q2 / r**2, rtol=1e-13)


def test_a_tight_range_is_the_middle_tenth():
    p = law("reduced-mass", "tight")
    assert p.x.min() >= 2.8 and p.x.max() <= 3.2 and np.ptp(p.x) > 0.35
    assert p.far_x.min() >= 10


@pytest.mark.parametrize("level", [0.01, 0.1])
def test_noise_is_a_share_of_the_spread_and_only_near(level):
    p = law("reduced-mass", f"noise {level:.0%}")
    clean = evaluate(p.truth, p.x)
    assert 0.8 < np.std(p.y - clean) / (level * np.std(clean)) < 1.2
    np.testing.assert_array_equal(p.far_y, evaluate(p.truth, p.far_x))


def test_targets_outside_the_class_are_finite():
    for name in OUTSIDE:
        p = problem(Entry("outside", name, "", "plain", 0))
        assert p.truth is None and np.isfinite(p.y).all() and np.isfinite(p.far_y).all()
        assert p.x.max() < p.far_x.min()
    assert len(OUTSIDE) >= 12


def test_every_problem_of_the_open_part_is_listed_once():
    found = entries("open")
    assert len(set(found)) == len(found)
    assert sum(e.suite == "laws" for e in found) == len(OPEN) * len(VARIANTS) == 320
    assert len({e.name for e in found if e.suite == "compositions"}) == 16 + 64
    assert {e.part for e in found} == {"open", ""}
    quick = entries("open", quick=True)
    assert set(quick) < set(found) and {e.seed for e in quick} == {0}
    assert all(VARIANTS[e.variant][0] == 0 for e in quick)


def test_an_unknown_part_is_refused_with_a_suggestion():
    with pytest.raises(NALMError, match="Did you mean 'open'"):
        entries("opne")
