"""Trainings that are shorter than published are named."""

from nalm.experiments import EXPERIMENTS
from nalm.experiments.lengths import shorter


def test_a_shorter_training_of_a_published_experiment_is_named():
    case = EXPERIMENTS["quick"].cases[0]
    short = case.replace(recipe=case.recipe.replace(steps=1_000))
    (sentence,) = shorter({"quick": [short], "mine/first": [short]})
    assert sentence.startswith("quick was trained for 1,000 of 50,000 published steps")
    assert shorter({"quick": [short, case]}) == []
