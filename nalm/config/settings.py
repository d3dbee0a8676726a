"""Declarations of a recipe's fields: what each means for the compiled program and for the names of cases."""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

Groups = Callable[[Any], Hashable]
Label = Callable[[Any], str] | str


def equal(value: Any) -> Hashable:
    """Cases share a program only if they have the same value."""
    return value


def present(value: Any) -> Hashable:
    """Cases share a program if all of them have a value other than 0 and None, or none has."""
    return bool(value)


def per_run(value: Any) -> Hashable:
    """Cases share a program whatever their values: it is a number of each run."""
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
