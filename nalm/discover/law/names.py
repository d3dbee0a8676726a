"""Names of columns: the only place where they are checked, and cleaned so that a formula can use them."""

import keyword
import re
import string
from collections import Counter
from collections.abc import Sequence

from nalm.discover.law.functions import FUNCTIONS
from nalm.errors import NALMError

TAKEN = {"pi", "sqrt", *FUNCTIONS}  # what has a meaning in a formula


def default_names(inputs: int) -> tuple[str, ...]:
    """Return a, b, c, ... for up to 26 inputs, x1, x2, ... for more."""
    return tuple(string.ascii_lowercase[:inputs] if inputs <= 26 else (f"x{i + 1}" for i in range(inputs)))


def check_distinct(names: Sequence[object], where: str = "X") -> tuple[str, ...]:
    """Return the names as text; refuse a name that occurs twice.

    >>> check_distinct(["a", 2])
    ('a', '2')
    """
    texts = tuple(map(str, names))
    if twice := [name for name, count in Counter(texts).items() if count > 1]:
        raise NALMError(f"{where} has more than one column called {shown(twice[0])}: rename one of them.")
    return texts


def check_count(names: Sequence[object], inputs: int) -> tuple[str, ...]:
    """Return the names as text; refuse another number of names than there are columns."""
    if len(names) != inputs:
        raise NALMError(f"X has {inputs} columns, but {len(names)} names were given: name each column once.")
    return tuple(map(str, names))


def check_names(names: Sequence[object] | None, inputs: int) -> tuple[str, ...]:
    """Return one Python name for each input; without names the default ones."""
    if names is None:
        return default_names(inputs)
    found = check_distinct(check_count(names, inputs))
    for name in found:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise NALMError(
                f"A column's name appears in Python source, so it cannot be {name!r}: use x1, x2, ..."
            )
    return found


def clean_names(names: Sequence[object]) -> tuple[str, ...]:
    """Change names so that a formula and Python can use them: no spaces, keywords, functions or pi, none twice.

    >>> clean_names(["mass (kg)", "lambda", "exp", "2nd", "", "a", "a"])
    ('mass_kg', 'lambda_', 'exp_', 'x2nd', 'x5', 'a', 'a_2')
    """
    found: list[str] = []
    for i, name in enumerate(names):
        text = re.sub(r"\W+", "_", str(name)).strip("_")[:60] or f"x{i + 1}"
        text = text if text.isidentifier() else f"x{text}"
        text = text if text.isidentifier() else f"x{i + 1}"
        text = f"{text}_" if keyword.iskeyword(text) or text in TAKEN else text
        once, k = text, 2
        while text in found:
            text, k = f"{once}_{k}", k + 1
        found.append(text)
    return tuple(found)


def shown(name: str) -> str:
    """Format a name for a sentence: shortened, and quoted if it is blank or holds control characters.

    >>> print(shown("mass"), shown(" "), shown("a\\x1b[2J"))
    mass ' ' 'a\\x1b[2J'
    """
    name = name if len(name) <= 60 else f"{name[:57]}..."
    return name if name.isprintable() and name.strip() else repr(name)
