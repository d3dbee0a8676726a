"""What a case is called among others: its units, and what of its model, task and recipe tells it from them."""

from collections.abc import Iterable
from typing import Any

from nalm.config import MADE_OF, Case, Growth

ALWAYS = ("options", "scaling", "loss")  # said even of a case alone
AXES = (
    "range",
    "inputs",
    "width",
    "subset",
    "overlap",
    "subsets",
    "penalties",
    "lr",
    "list",
)  # that a chart may run along
_NOTHING = {"ramps": {""}}  # without pressure there is no time for it


def unit_of(case: Case) -> str:
    """The units of a case's model, as tables name them."""
    return "-".join(layer.label for layer in case.model)


def loss_of(case: Case) -> str:
    """The loss, or both of two."""
    recipe = case.recipe
    return f"{recipe.loss}, then {recipe.then}" if recipe.then else recipe.loss


def labels(cases: Iterable[Case]) -> dict[Case, str]:
    """A name for every case: NRU, NRU (lr 0.01), RealNPU (L1 1e-09 to 1e-07).

    Of what can differ, that is said which does between two cases of the same units, task and training range, and
    of the same place on the axis of their chart.
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
    return names


def axis(cases: Iterable[Case]) -> str:
    """What a chart of these cases runs along: training ranges, or if there is only one, what takes most values."""
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
    """Where on that axis, or on another that is given, each case stands: U[1,2), or 3 wide."""
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
    """Everything a label may say of a case, each in a few words; nothing where there is nothing to say."""
    recipe = case.recipe
    loss = loss_of(case)
    return {
        "options": ", ".join(
            _option(n, v) for layer in case.model for n, v in layer.options if n not in MADE_OF
        ),
        "scaling": case.scaling,
        "loss": loss if loss != "mse" else "",
        "width": f"{' and '.join(str(layer.out) for layer in case.model[:-1])} wide"
        if case.model[1:]
        else "",
        "subset": f"subsets of {case.subset}",
        "overlap": f"overlap {case.overlap}",
        "subsets": f"{case.subsets} operands",
        "times": f"{case.times[0]} times, then {case.times[1]}" if case.times else "",
        "sample": f"{case.sample} rows" if case.sample else "",
        "data": "authors' data" if case.data == "authors" else "",
        "list": f"lists of {case.test_inputs}" if case.test_inputs else "",
        "test": f"to {case.test}",
        "metric": "snapped" if case.threshold.metric == "rule" else "",
        "threshold": f"{case.threshold.kind} threshold",
        "lr": f"lr {recipe.lr:g}",
        "optimiser": recipe.optimiser + (f" {recipe.momentum:g}" if recipe.momentum else ""),
        "schedule": recipe.schedule,
        "penalties": ", ".join(f"{name} {ramp.weight:g}" for name, ramp in recipe.penalties if ramp.weight),
        "ramps": ", ".join(f"{ramp.start:g} to {ramp.end:g}" for _, ramp in recipe.penalties[:1]),
        "l1": _growth("L1", recipe.l1),
        "l2": _growth("L2", recipe.l2),
        "clip": ", ".join(f"clip {c:g}" for c in (recipe.clip_norm, recipe.clip_value) if c),
        "noise": f"gradient noise {recipe.gradient_noise:g}" if recipe.gradient_noise else "",
        "batch": f"batches of {recipe.batch}",
        "steps": f"{recipe.steps:,} steps",
    }


def _growth(name: str, growth: Growth | None) -> str:
    return "" if growth is None else f"{name} {growth.start:g} to {growth.end:g}"


def _option(name: str, value: Any) -> str:
    word = name.replace("_", " ")
    if isinstance(value, bool):
        return word if value else f"not {word}"
    if isinstance(value, tuple):
        return f"{word} {' '.join(f'{v:g}' if isinstance(v, float) else str(v) for v in value) or 'none'}"
    return f"{word} {value:g}" if isinstance(value, int | float) else f"{word} {value}"
