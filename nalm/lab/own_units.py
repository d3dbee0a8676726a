"""Add cases of user-defined units to an experiment."""

from collections.abc import Sequence

from nalm.config import Case, Experiment, Layer, Ramp, Recipe
from nalm.config.images import amounts_to


def with_units(experiment: Experiment, units: Sequence[str], like: Recipe | None) -> Experiment:
    """Return the experiment with one more case per user-defined unit and task, trained by the recipe ``like``."""
    if not units:
        return experiment
    from nalm.lab.custom_units import load  # imports torch, which is not needed without such units

    cases = list(experiment.cases)
    for spelling in units:
        name = load(spelling)
        for case in experiment.cases:
            recipe = like or _default_recipe(name, case.inputs)
            recipe = recipe.replace(steps=case.recipe.steps)
            own = case.replace(model=(Layer(name),), recipe=recipe)
            cases.append(_for_images(own, case) if case.task.images else own)
    return experiment.replace(cases=tuple(dict.fromkeys(cases)))


def _for_images(own: Case, case: Case) -> Case:
    """Adapt a case with a user-defined unit to images: batch size, and for sequences the number of results."""
    own = own.replace(recipe=own.recipe.replace(batch=case.recipe.batch))
    if not own.task.lengths:
        return own
    read = amounts_to(case.operation)
    return own.replace(model=(own.model[0].replace(out=read),), inputs=2 * read)


def _default_recipe(name: str, inputs: int) -> Recipe:
    """Return the default recipe, with the usual sparsity penalty if the unit has a penalty called weight."""
    import torch

    from nalm.units import UNITS

    sparse = "weight" in UNITS[name](inputs, 1, generator=torch.Generator()).penalties()
    return Recipe(penalties=(("weight", Ramp(10, 20_000, 35_000)),) if sparse else ())
