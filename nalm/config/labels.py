"""Names of cases in tables and charts: their units, and the settings in which otherwise equal cases differ."""

import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from nalm.config import MADE_OF, Case, Recipe

ALWAYS = ("options", "scaling", "loss")  # named even where there is only one case
# fields that can be an axis of a chart
AXES = ("range", "inputs", "width", "subset", "overlap", "subsets", "penalties", "lr", "list")
HASH = re.compile(r"@[0-9a-f]{6}\b")  # ends the name of a user-defined unit
_NOTHING = {"ramps": {""}}  # a case without penalties has no ramp that could differ


def unit_of(case: Case) -> str:
    """Return the units of a case's model, as tables name them."""
    return "-".join(layer.label for layer in case.model)


def recipe_words(recipe: Recipe) -> str:
    """Return a recipe in words, with everything that is not usual.

    >>> from nalm.config import Ramp
    >>> recipe_words(Recipe(penalties=(("weight", Ramp(10, 20_000, 35_000)),)))
    'adam, lr 0.001, 50,000 steps of 128 rows, mse, penalty weight 10 (step 20,000 to 35,000)'
    """
    first = f"{recipe.optimiser} {recipe.momentum:g}" if recipe.momentum else recipe.optimiser
    loss = f"{recipe.loss}, from step {recipe.switch:,} {recipe.then}" if recipe.then else recipe.loss
    usual = [first, f"lr {recipe.lr:g}", f"{recipe.steps:,} steps of {recipe.batch} rows", loss]
    return ", ".join([*usual, *rule_words(recipe)])


def rule_words(recipe: Recipe) -> list[str]:
    """Return the penalties and special rules of a recipe in words."""
    r = recipe
    words = [
        f"penalty {name} {ramp.weight:g}"
        + (f" (step {ramp.start:,.10g} to {ramp.end:,.10g})" if ramp.end else "")
        for name, ramp in r.penalties
    ]
    words += [f"{n} {g.start:g} to {g.end:g}" for n, g in (("L1", r.l1), ("L2", r.l2)) if g is not None]
    words += [f"clip {c:g}" for c in (r.clip_value, r.clip_norm) if c]
    words += ["safe norm"] if r.norm == "scaled" else []
    words += ["iNALU's rules"] if r.inalu else []
    words += ["weights and gates in turns"] if r.rules else []
    words += [f"gradient noise {r.gradient_noise:g}"] if r.gradient_noise else []
    words += [f"{r.schedule} schedule"] if r.schedule != "constant" else []
    return words


def without_hash(name: str) -> str:
    """Remove the hashes of the files of user-defined units from a name.

    >>> without_hash("NAU-MyUnit@398e1e (lr 0.01)")
    'NAU-MyUnit (lr 0.01)'
    """
    return HASH.sub("", name)


def loss_of(case: Case) -> str:
    """Return the loss, or both where it changes during training."""
    recipe = case.recipe
    return f"{recipe.loss}, then {recipe.then}" if recipe.then else recipe.loss


def labels(cases: Iterable[Case]) -> dict[Case, str]:
    """Return a name for every case: NRU, NRU (lr 0.01), RealNPU (L1 1e-09 to 1e-07).

    A name lists only the settings in which two cases differ that have the same units, operation, inputs, training
    range and position on the axis of their chart. The hash of a user's unit is left out unless two units would then
    have the same name.
    """
    groups: dict[tuple[str, str, int, str, str], list[Case]] = {}
    unique = list(dict.fromkeys(cases))
    ticks = places(unique)
    for case in unique:
        key = (unit_of(case), case.operation, case.inputs, str(case.train), ticks[case])
        groups.setdefault(key, []).append(case)
    differ: dict[tuple[str, str, int], set[str]] = {}
    for (unit, operation, inputs, *_), group in groups.items():
        if len(group) > 1:
            words = [aspects(case) for case in group]
            found = {
                name for name in words[0] if len({w[name] for w in words} - _NOTHING.get(name, set())) > 1
            }
            differ.setdefault((unit, operation, inputs), set()).update(found)
    names = {}
    for case in unique:
        said = {*ALWAYS, *differ.get((unit_of(case), case.operation, case.inputs), ())}
        names[case] = _named(case, [text for name, text in aspects(case).items() if name in said])
    return _shortened(names)


def _shortened(names: dict[Case, str]) -> dict[Case, str]:
    """Leave out the hashes of user-defined units where their names differ without them."""
    models: dict[str, set[str]] = {}
    for case in names:
        models.setdefault(without_hash(unit_of(case)), set()).add(unit_of(case))
    alone = {short for short, full in models.items() if len(full) == 1}
    return {
        case: without_hash(name) if without_hash(unit_of(case)) in alone else name
        for case, name in names.items()
    }


def axis(cases: Iterable[Case]) -> str:
    """Return the axis of a chart of these cases: training ranges, or if there is only one, what takes most values."""
    unique = list(dict.fromkeys(cases))
    if len({case.train for case in unique}) > 1:
        return "range"
    seen: dict[tuple[str, str, str], set[str]] = {}
    for case in unique:
        for name in AXES:
            seen.setdefault((name, unit_of(case), case.operation), set()).add(_place(case, name))
    most = {n: max((len(v) for (name, *_), v in seen.items() if name == n), default=0) for n in AXES}
    return max(AXES, key=lambda name: most[name])  # the first of equals


def places(cases: Iterable[Case], along: str = "") -> dict[Case, str]:
    """Return the position of each case on that axis, or on another that is given: U[1,2), or 3 wide."""
    unique = list(dict.fromkeys(cases))
    along = along or axis(unique)
    return {case: _place(case, along) for case in unique}


def _place(case: Case, along: str) -> str:
    if along == "range":
        return str(case.train)
    return f"{case.inputs} inputs" if along == "inputs" else aspects(case)[along] or "none"


def _named(case: Case, words: Iterable[str]) -> str:
    text = ", ".join(filter(None, words))
    return f"{unit_of(case)} ({text})" if text else unit_of(case)


def aspects(case: Case) -> dict[str, str]:
    """Return everything that a label may say about a case, in the order of a label; "" where there is nothing to say.

    >>> from nalm.config import Arithmetic, Layer, Range, Recipe
    >>> case = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)), Recipe(lr=0.01))
    >>> aspects(case)["lr"], aspects(case)["steps"]
    ('lr 0.01', '50,000 steps')
    """
    texts = {name: text(case) for name, text in COMBINED.items()}
    for f in fields(case.recipe):
        label = f.metadata["label"]
        if callable(label):
            texts[f.name] = label(getattr(case.recipe, f.name))
    return {name: texts[name] for name in sorted(texts, key=_place_in_label)}


def _place_in_label(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def _width(case: Case) -> str:
    widths = " and ".join(str(layer.out) for layer in case.model[:-1])
    return f"{widths} wide" if widths else ""


def _optimiser(case: Case) -> str:
    recipe = case.recipe
    return recipe.optimiser + (f" {recipe.momentum:g}" if recipe.momentum else "")


def _penalties(case: Case) -> str:
    return ", ".join(f"{name} {ramp.weight:g}" for name, ramp in case.recipe.penalties if ramp.weight)


def _options(case: Case) -> str:
    options = [option for layer in case.model for option in layer.options]
    return ", ".join(_option(name, value) for name, value in options if name not in MADE_OF)


COMBINED: dict[
    str, Callable[[Case], str]
] = {  # texts about models and tasks, and of several fields of a recipe
    "options": _options,
    "scaling": lambda case: case.task.scaling,
    "loss": lambda case: "" if loss_of(case) == "mse" else loss_of(case),
    "width": _width,
    "subset": lambda case: f"subsets of {case.task.subset}",
    "overlap": lambda case: f"overlap {case.task.overlap}",
    "subsets": lambda case: f"{case.task.subsets} operands",
    "times": lambda case: "{} times, then {}".format(*case.task.times) if case.task.times else "",
    "sample": lambda case: f"{case.task.sample} rows" if case.task.sample else "",
    "data": lambda case: "authors' data" if case.task.data == "authors" else "",
    "list": lambda case: f"lists of {case.task.test_inputs}" if case.task.test_inputs else "",
    "label_noise": lambda case: f"noise {case.task.noise:g}" if case.task.noise else "",
    "test": lambda case: f"to {case.test}",
    "metric": lambda case: "snapped" if case.threshold.metric in ("rule", "valid") else "",
    "threshold": lambda case: f"{case.threshold.kind} threshold",
    "optimiser": _optimiser,
    "penalties": _penalties,
    "ramps": lambda case: ", ".join(f"{r.start:g} to {r.end:g}" for _, r in case.recipe.penalties[:1]),
    "clip": lambda case: ", ".join(
        f"clip {c:g}" for c in (case.recipe.clip_norm, case.recipe.clip_value) if c
    ),
}
ORDER = (  # of texts in a label; a new one comes last
    *(
        "options",
        "scaling",
        "loss",
        "width",
        "subset",
        "overlap",
        "subsets",
        "times",
        "sample",
        "data",
        "list",
    ),
    *("test", "metric", "threshold", "lr", "optimiser", "schedule", "penalties", "ramps", "l1", "l2", "clip"),
    *("gradient_noise", "batch", "steps", "norm", "label_noise"),
)


def _option(name: str, value: Any) -> str:
    word = name.replace("_", " ")
    if isinstance(value, bool):
        return word if value else f"not {word}"
    if isinstance(value, tuple):
        return f"{word} {' '.join(f'{v:g}' if isinstance(v, float) else str(v) for v in value) or 'none'}"
    return f"{word} {value:g}" if isinstance(value, int | float) else f"{word} {value}"
