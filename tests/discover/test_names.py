"""Names of columns: distinct, as many as there are columns, and usable in a formula."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nalm.discover.law.names import check_distinct, check_names, clean_names, default_names
from nalm.errors import NALMError


def test_default_names_are_letters_and_then_numbered():
    assert default_names(3) == ("a", "b", "c")
    assert default_names(27)[:2] == ("x1", "x2") and len(set(default_names(27))) == 27


@pytest.mark.parametrize(
    ("names", "inputs", "sentence"),
    [
        (["a"], 2, "X has 2 columns, but 1 names were given"),
        (["a", "a"], 2, "X has more than one column called a: rename one of them"),
        (["a", "b c"], 2, "cannot be 'b c'"),
        (["a", "lambda"], 2, "cannot be 'lambda'"),
    ],
)
def test_names_that_a_law_cannot_use_are_one_sentence(names, inputs, sentence):
    with pytest.raises(NALMError, match=sentence):
        check_names(names, inputs)


def test_equal_names_are_refused_with_the_place_they_are_in():
    with pytest.raises(NALMError, match=r"data\.csv has more than one column called 'a\\x1b'"):
        check_distinct(["a\x1b", "b", "a\x1b"], "data.csv")
    assert check_distinct([1, "b"]) == ("1", "b")


@given(st.lists(st.text(max_size=8), max_size=6))
def test_cleaned_names_are_always_valid_and_distinct(names):
    cleaned = clean_names(names)
    assert check_names(cleaned, len(names)) == cleaned
    assert not any(keyword.iskeyword(name) or name == "pi" for name in cleaned)
