"""Cases of a unit of one's own, beside those of an experiment."""

from collections.abc import Sequence

from nalm.config import Case, Experiment, Layer, Ramp, Recipe
from nalm.config.images import amounts_to


def with_units(experiment: Experiment, units: Sequence[str], like: Recipe | None) -> Experiment:
    """The experiment with a case of each unit of one's own beside every task it has."""
    if not units:
        return experiment
    from nalm.lab.custom_units import load  # needs torch, which nothing else here does

    cases = list(experiment.cases)
    for spelling in units:
        name = load(spelling)
        for case in experiment.cases:
            recipe = like or _own_recipe(name, case.inputs)
            recipe = recipe.replace(steps=case.recipe.steps)
            own = case.replace(model=(Layer(name),), recipe=recipe)
            cases.append(_reading(own, case) if case.task.images else own)
    return experiment.replace(cases=tuple(dict.fromkeys(cases)))


def _reading(own: Case, case: Case) -> Case:
    """A case of images with a unit of one's own: in batches as large, and in a loop with as many results."""
    own = own.replace(recipe=own.recipe.replace(batch=case.recipe.batch))
    if not own.task.lengths:
        return own
    read = amounts_to(case.operation)
    return own.replace(model=(own.model[0].replace(out=read),), inputs=2 * read)


def _own_recipe(name: str, inputs: int) -> Recipe:
    """The plain recipe, with the usual pressure on the weights if the unit has a penalty of that name."""
    from nalm.units import UNITS

    sparse = "weight" in UNITS[name](inputs, 1).penalties()
    return Recipe(penalties=(("weight", Ramp(10, 20_000, 35_000)),) if sparse else ())
