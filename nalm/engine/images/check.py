"""What a case with images must look like, said before anything is trained."""

from nalm.config import Case, Digits, grid
from nalm.config.images import amounts_to
from nalm.engine.model import Network
from nalm.errors import NALMError
from nalm.networks.loop import Loop

RECIPE = ("l1", "l2", "clip_value", "gradient_noise", "inalu", "stop_when_solved", "grid", "polish")
CASE = ("scaling", "sample", "times", "operands", "test_inputs", "grids", "counts")
AMOUNTS = ("multiply", "add", "count")  # what a sequence can come to


def check(case: Case) -> None:
    """Refuse what networks that read images are not trained for."""
    digits, recipe = case.digits, case.recipe
    if digits is None:
        return
    asked = [name for name in RECIPE if getattr(recipe, name)]
    asked += ["schedule"] if recipe.schedule != "constant" else []
    asked += [name for name in CASE if getattr(case, name)]
    _require(not asked, f"Networks that read images are trained without {' or '.join(asked)}: leave it out.")
    _require(
        case.train in [grid(first, 10) for first in range(9)],
        f"Digits are read up to 9, and two of them at least: train on grid(FIRST, 10); got {case.train}.",
    )
    _require(
        case.threshold.kind == "fixed",
        f"Networks that read images have a fixed threshold, got one of kind {case.threshold.kind!r}.",
    )
    if digits.layout == "sequence":
        _sequence(case)
    else:
        _pair(case, digits)


def _pair(case: Case, digits: Digits) -> None:
    _require(case.inputs == 2, f"Two digits are 2 inputs, got {case.inputs} for {case.name!r}.")
    _require(
        digits.chosen != "validation",
        "Two digits are judged at the last epoch or where training is best: chosen='last' or 'train'.",
    )
    held = digits.layout == "colour"
    _require(
        held == (digits.validation > 0),
        f"Of samples in colour a share is held out for validation, of others none; got {digits.validation:g}.",
    )


def _sequence(case: Case) -> None:
    _require(
        case.operation in AMOUNTS,
        f"A sequence comes to {', '.join(AMOUNTS)} of its digits, not to {case.operation!r}.",
    )
    _require(
        case.train.low in (0, 1),
        f"Sequences are of all digits, or of all but zero: grid(0, 10) or grid(1, 10); got {case.train}.",
    )
    _require(len(case.model) == 1, f"A sequence has one layer as its cell, got {len(case.model)}.")
    read = amounts_to(case.operation)
    (cell,) = case.model
    _require(
        case.inputs == read + cell.out,
        f"A cell sees {read} of an image and its own {cell.out}: {read + cell.out} inputs; got {case.inputs}.",
    )
    (unit,) = Network(case.model, case.inputs).parts()
    results = Loop(unit).outputs
    _require(
        results == read, f"{case.operation!r} has {read} results, the cell {cell.label} gives {results}."
    )


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise NALMError(sentence)
