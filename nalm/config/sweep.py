"""Sweeps: every case with several values of a field of its recipe or task, as a person writes them.

``recipe.lr=1e-4,1e-3``, ``recipe.penalties.weight=1,10``, ``task.inputs=2,4``, ``task.train=1:2,-2:2``.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from nalm.config.case import Case
from nalm.config.ranges import Range
from nalm.config.recipe import Growth, Recipe
from nalm.config.values import Value
from nalm.errors import NALMError, unknown

MOST = 10_000  # cases of a sweep
# fields of a recipe that act only where another field has one of these values
ACTS_WITH = {"momentum": ("optimiser", ("sgd",)), "decay": ("optimiser", ("rmsprop", "tf_rmsprop"))}

Change = Callable[[Case], Case]


def swept(cases: Iterable[Case], texts: Sequence[str]) -> tuple[Case, ...]:
    """Return each case with every combination of the values; several texts are combined with each other.

    >>> from nalm.config import Arithmetic, Layer
    >>> case = Case((Layer("NMU"),), Arithmetic("multiply", Range(1, 2), Range(2, 6)))
    >>> [c.recipe.lr for c in swept([case], ["recipe.lr=1e-4,1e-3"])]
    [0.0001, 0.001]
    """
    found = list(cases)
    for text in texts:
        name, equals, values = text.partition("=")
        words = [word for word in values.split(",") if word]
        if not equals or not words or "." not in name:
            raise NALMError(f"--sweep takes FIELD=VALUE,VALUE, such as recipe.lr=1e-4,1e-3; got {text!r}.")
        if len(found) * len(words) > MOST:
            raise NALMError(
                f"--sweep {text} makes {len(found) * len(words):,} cases; at most {MOST:,} are made."
            )
        found = list(dict.fromkeys(_changed(case, name, word) for case in found for word in words))
    return tuple(found)


def _changed(case: Case, name: str, word: str) -> Case:
    """Return a case with one field changed."""
    part, _, field = name.partition(".")
    if part not in ("recipe", "task"):
        raise unknown("part of a case to sweep", part, ("recipe", "task"))
    if name.startswith("recipe.penalties"):
        return case.replace(recipe=_penalised(case, field.partition(".")[2], word))
    value: Value = case.recipe if part == "recipe" else case.task
    kinds = typing.get_type_hints(type(value))
    names = [f.name for f in dataclasses.fields(value)]  # type: ignore[arg-type]
    if field not in names:
        raise unknown(f"field of {type(value).__name__} to sweep", field, names)
    new = _read(kinds[field], word, name)
    if part == "task":
        return case.replace(task=case.task.replace(**{field: new}))
    _check_acts(case.recipe, field)
    if field == "steps":
        return case.replace(recipe=case.recipe.stretched(int(new)))
    return case.replace(recipe=case.recipe.replace(**{field: new}))


def _check_acts(recipe: Recipe, field: str) -> None:
    """Refuse to sweep a field that has no effect in this recipe."""
    other, values = ACTS_WITH.get(field, ("", ()))
    if other and getattr(recipe, other) not in values:
        raise NALMError(
            f"recipe.{field} acts only with {other} {' or '.join(values)}, and a case has {getattr(recipe, other)}: "
            f"sweep another field, or leave such cases out with --only."
        )


def _penalised(case: Case, name: str, word: str) -> Recipe:
    """Return the recipe with another weight of a penalty that it has."""
    have = dict(case.recipe.penalties)
    if name not in have:
        known = ", ".join(f"recipe.penalties.{n}" for n in have) or "none"
        raise NALMError(f"The recipe of {case.name!r} has no penalty {name!r} to sweep; it has: {known}.")
    have[name] = have[name].replace(weight=_number(word, f"recipe.penalties.{name}"))
    return case.recipe.replace(penalties=tuple(have.items()))


def _read(kind: Any, word: str, name: str) -> Any:
    """Read a value of a declared type."""
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        kind = typing.get_args(kind)[0]
    if kind is bool:
        if word not in ("true", "false"):
            raise NALMError(f"{name} is true or false, got {word!r}.")
        return word == "true"
    if kind is int:
        number = _number(word, name)
        if number != int(number):
            raise NALMError(f"{name} is a whole number, got {word!r}.")
        return int(number)
    if kind is float:
        return _number(word, name)
    if kind is Range or kind is Growth:
        low, colon, high = word.partition(":")
        if not colon:
            raise NALMError(f"{name} is written as A:B, such as 1:2; got {word!r}.")
        return kind(_number(low, name), _number(high, name))
    if kind is str or origin is typing.Literal:
        return word
    raise NALMError(
        f"{name} cannot be swept on the command line: write an experiment, `nalm new experiment NAME`."
    )


def _number(word: str, name: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise NALMError(f"{name} takes numbers, got {word!r}.") from None
