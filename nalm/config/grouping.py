"""Which cases can be trained by one program: a function of the cases alone, and so known before anything is loaded."""

from collections.abc import Hashable

from nalm.config import Case, Range
from nalm.operations import LISTS, SYSTEMS


def family(kind: Range) -> str:
    """Which ranges one sampler can draw together: a uniform range is a mirrored one with equal parts."""
    boxes = {"uniform": "box", "mirrored": "box", "parted": "split", "points": "split"}
    return boxes.get(kind.kind, kind.kind)


def signature(case: Case) -> Hashable:
    """Everything that shapes the compiled step; what differs between runs of a group is numbers only."""
    recipe = case.recipe
    if case.operation in SYSTEMS:  # models of all widths are padded, and pressure may be none
        units = tuple((layer.unit, [o for o in layer.options if o[0] != "hidden"]) for layer in case.model)
        how = recipe.replace(lr=1.0, l1=None, starts=())
        return case.operation, str(units), how, case.inputs, case.train, case.counts
    if case.digits is not None:
        return (case,)  # its numbers are part of its program
    return (
        case.model,
        (case.inputs, len(case.operands) or case.subsets),
        case.subset > 1
        or bool(case.operands),  # which inputs are added up is numbers; whether any are is not
        (case.sample, case.data, case.scaling),
        (family(case.train), family(case.test), case.times, case.test_inputs),
        (case.operation if case.operation in LISTS else "", case.threshold.metric),
        (recipe.steps, recipe.batch, recipe.optimiser, recipe.momentum, recipe.decay, recipe.schedule),
        (recipe.loss, recipe.then, recipe.switch),
        tuple(sorted(name for name, _ in recipe.penalties)),
        (recipe.l1 is not None, recipe.l2 is not None, recipe.inalu, recipe.stop_when_solved, recipe.grid),
        (recipe.starts, case.grids, case.counts),
        (recipe.clip_norm > 0, recipe.clip_value > 0, recipe.gradient_noise > 0),
    )
