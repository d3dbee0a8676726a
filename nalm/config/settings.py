"""Declarations of a recipe's fields: what each means for the compiled program and for the names of cases."""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

Groups = Callable[[Any], Hashable]
Label = Callable[[Any], str] | str


def equal(value: Any) -> Hashable:
    """Return the value: cases share a program only if they have the same one."""
    return value


def present(value: Any) -> Hashable:
    """Return whether the value is neither 0 nor None: cases share a program only if they agree in this."""
    return bool(value)


def per_run(value: Any) -> Hashable:
    """Return None: cases share a program whatever their values, since each run has a number of its own."""
    return None


def setting(default: Any, groups: Groups, label: Label = "", *, added_later: bool = False) -> Any:
    """Declare a field of a recipe.

    ``groups`` says which cases share a program. ``label`` is the text that tells cases apart which differ in this
    field, as a function of its value; or the name of an entry of ``labels.COMBINED``, where several fields make one
    text; or "" if cases are never named by it. A field that was ``added_later`` is omitted from JSON at its default, so
    that hashes of older cases do not change.
    """
    metadata = {"groups": groups, "label": label, "added_later": added_later}
    return dataclasses.field(default=default, metadata=metadata)
