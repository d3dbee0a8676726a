"""One form for several data sets: the evidence says which numbers they share."""

import numpy as np
import pytest

from nalm.discover.form import fit_groups
from nalm.errors import NALMError

# Reaction rates with and without puromycin (Treloar 1974, in Bates and Watts 1988, appendix A1.3)
CONCENTRATION = [0.02, 0.02, 0.06, 0.06, 0.11, 0.11, 0.22, 0.22, 0.56, 0.56, 1.10, 1.10]
TREATED = [76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200]
UNTREATED = [67, 51, 84, 86, 98, 115, 131, 124, 144, 158, 160]


@pytest.mark.slow
def test_a_treatment_changes_one_constant_and_not_the_other():
    x = np.array(CONCENTRATION + CONCENTRATION[:-1])[:, None]
    y = np.array(TREATED + UNTREATED, float)
    which = ["treated"] * 12 + ["untreated"] * 11
    found = fit_groups("V*c/(K + c)", x, y, ["c"], which)
    assert list(found.shared) == ["K"] and list(found.own) == ["treated", "untreated"]
    treated, untreated = (found.own[g]["V"] for g in found.own)
    assert untreated.high < treated.low  # the treatment raises the largest rate
    apart = fit_groups("V*c/(K + c)", x, y, ["c"], which, shared=[])
    assert apart.score > found.score and set(apart.values("treated")) == {"V", "K"}


@pytest.mark.slow
def test_samples_decay_with_one_rate_and_trees_grow_to_their_own_height():
    rng = np.random.default_rng(0)
    t = np.tile(np.linspace(0, 8, 9), 4)[:, None]
    sample = np.repeat([0, 1, 2, 3], 9)
    decay = np.array([3.0, 5.0, 8.0, 2.0])[sample] * np.exp(-0.4 * t[:, 0])
    found = fit_groups("N*exp(-k*t)", t, decay * np.exp(0.02 * rng.standard_normal(36)), ["t"], sample)
    assert list(found.shared) == ["k"] and found.shared["k"].value == pytest.approx(0.4, rel=0.05)
    growth = np.array([30.0, 22.0, 27.0, 35.0])[sample] / (1 + np.exp(2 - 0.9 * t[:, 0]))
    found = fit_groups("h/(1 + exp(b - k*t))", t, growth + 0.2 * rng.standard_normal(36), ["t"], sample)
    assert set(found.shared) == {"b", "k"} and found.own[3]["h"].value == pytest.approx(35, rel=0.05)


def test_mistakes_about_groups_are_sentences():
    x, y = np.arange(1.0, 9.0)[:, None], np.arange(8.0)
    for sentence, options in [
        ("one label", {"groups": [1]}),
        ("too few rows", {"groups": [1] * 7 + [2]}),
        ("no parameter z", {"groups": [1] * 8, "shared": ["z"]}),
    ]:
        with pytest.raises(NALMError, match=sentence):
            fit_groups("a*x + b", x, y, ["x"], **options)
