"""Each published recipe learns, over several seeds as one population, and ends in the exact formula."""

import pytest
from recipes import PUBLISHED, TRUTH

from nalm.engine import train

SEEDS = range(8)


@pytest.mark.slow  # the README's block about the laboratory is the short one of the default suite
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_recipe_ends_in_the_exact_formula(name):
    case = PUBLISHED[name]
    runs = train(case, SEEDS, "cpu")
    assert set(runs.modes) == {"compiled"}
    assert runs.solved.all(), f"{name}: {runs.solved.mean():.2f} solved, {runs.formulas}"
    assert set(runs.formulas) == {TRUTH[case.operation]}
    assert all(0 < at <= case.recipe.steps for at in runs.solved_at)
    assert runs.outcomes == ["solved"] * len(SEEDS)
