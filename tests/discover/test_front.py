"""The front of laws: which one is taken, and that no structure stands on it twice."""

import numpy as np
import pytest

from nalm import NALMError, NALMRegressor
from nalm.discover import search
from nalm.discover.discovery import scores
from nalm.discover.selection.structure import structure

STAGES = ["additive", "power", "ratio", "polynomial", "powersum", "scratchpad"]


def tables():
    """Yield the name, the columns and the target of tables of several kinds."""
    rng = np.random.default_rng(0)
    few, many = rng.uniform(1, 5, (12, 1)), rng.uniform(1, 5, (90, 3))
    noise = rng.standard_normal(90)
    yield "few rows", few, 3 * few[:, 0] ** 1.5 * np.exp(0.05 * rng.standard_normal(12))
    yield "saturation", few, 8 * few[:, 0] / (1.5 + few[:, 0]) + 0.1 * rng.standard_normal(12)
    yield "relative noise", many, 8.3 * many[:, 0] * many[:, 1] / many[:, 2] * np.exp(0.05 * noise)
    yield "additive noise", many, 2 * many[:, 0] + many[:, 1] ** 2 + 0.5 * noise
    yield "printed digits", many, np.round(3.3 * many[:, 0] * many[:, 1], 2)
    yield "no noise", many, 6.674 * many[:, 0] * many[:, 1] / many[:, 2] ** 2
    yield "no law", many, np.sin(3 * many[:, 0] * many[:, 1]) + many[:, 2]
    yield "nearly a root", many, np.sqrt(many[:, 0] ** 2 + many[:, 1]) + 0.001 * noise
    yield "chance", many, noise


@pytest.mark.parametrize(("x", "y"), [pytest.param(x, y, id=name) for name, x, y in tables()])
def test_no_two_laws_of_a_front_have_the_same_structure(x, y):
    found = search(x, y, stages=STAGES, max_time=20)
    forms = [structure(c.law.expression) for c in found.candidates]
    assert len(set(forms)) == len(forms) >= 1
    assert len({str(c.law) for c in found.candidates}) == len(forms)
    assert found.candidates[0].law == found.law
    others = [c.certificate for c in found.candidates[1:] if c.certificate is not None]
    assert not any(str(c.verdict) == "consistent" for c in others)  # the first law explains the rows as well
    assert "(-" not in found.certificate.tested  # no negative number of standard errors


def test_another_law_of_the_front_is_taken_by_its_place_or_by_a_word():
    ((_, x, y),) = [t for t in tables() if t[0] == "saturation"]
    options = {"stages": ["additive", "power", "ratio"], "random_state": 0}
    first = NALMRegressor(**options).fit(x, y)
    front = [e.formula for e in first.equations_]
    assert len(front) > 2
    for place in (1, -1, np.int64(1)):
        taken = NALMRegressor(select=place, **options).fit(x, y)
        assert taken.formula_ == front[place] and sorted(e.formula for e in taken.equations_) == sorted(front)
    accurate = NALMRegressor(select="accurate", **options).fit(x, y)
    assert accurate.equations_[0].error == min(e.error for e in first.equations_)
    knee = NALMRegressor(select="knee", **options).fit(x, y)
    assert accurate.equations_[0].error <= knee.equations_[0].error
    assert knee.equations_[0].size <= accurate.equations_[0].size


@pytest.mark.parametrize(
    ("which", "sentence"),
    [
        (99, "The front has no law at place 99: select one of 0 to"),
        ("best", "no way to select a law called 'best'"),
        (1.0, "select is a place on the front"),
        (True, "select is a place on the front"),
    ],
)
def test_a_choice_that_is_none_is_one_sentence(which, sentence):
    x = np.random.default_rng(0).uniform(1, 5, (20, 1))
    with pytest.raises(NALMError, match=sentence):
        NALMRegressor(select=which, stages=["additive"]).fit(x, 2 * x[:, 0])


def test_a_score_is_the_fall_of_the_error_per_symbol_and_survives_a_file(tmp_path):
    x = np.random.default_rng(0).uniform(1, 4, (60, 2))
    y = 2.31 * x[:, 0] ** 1.5 / x[:, 1] * np.exp(0.03 * np.random.default_rng(1).standard_normal(60))
    found = NALMRegressor(stages=STAGES, max_time=20).fit(x, y)
    laws = sorted(found.equations_, key=lambda e: (e.size, e.error))
    assert laws[0].score == 0 and len(laws) > 2
    fall = np.log(laws[0].error / laws[1].error) / (laws[1].size - laws[0].size)
    assert laws[1].score == pytest.approx(fall) and all(e.score >= 0 for e in laws)
    assert max(laws, key=lambda e: e.score).formula == found.formula_
    found.save(tmp_path / "law.json")
    assert [e.score for e in NALMRegressor.load(tmp_path / "law.json").equations_] == [
        e.score for e in found.equations_
    ]
    assert scores([(1, 1.0), (3, 0.0), (4, np.nan), (5, 0.5)]) == [
        0.0,
        pytest.approx(53 * np.log(2) / 2),
        0.0,
        0.0,
    ]
