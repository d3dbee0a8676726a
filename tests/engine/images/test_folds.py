"""Folds and splits are scikit-learn's, number by number."""

import numpy as np
import pytest

from nalm.engine.images.data import held_out, split


@pytest.mark.parametrize(("n", "folds"), [(100, 3), (100, 10), (81, 10)])
def test_folds_are_scikit_learns(n, folds):
    selection = pytest.importorskip("sklearn.model_selection")
    theirs = selection.KFold(folds, shuffle=True, random_state=np.random.RandomState(0)).split(np.arange(n))
    for which, (train, test) in enumerate(theirs):
        ours = held_out(n, folds, which)
        assert np.array_equal(ours, test) and np.array_equal(np.setdiff1d(np.arange(n), ours), train)


@pytest.mark.parametrize("n", [100, 72_600, 73_700, 7])
def test_held_out_rows_are_scikit_learns(n):
    selection = pytest.importorskip("sklearn.model_selection")
    train, test = selection.train_test_split(np.arange(n), test_size=0.15, random_state=0)
    ours = split(n, 0.15)
    assert np.array_equal(ours[0], train) and np.array_equal(ours[1], test)


def test_sizes_of_the_colour_folds_are_the_published_ones():
    assert [len(held_out(100, 3, which)) for which in range(3)] == [34, 33, 33]
    assert tuple(map(len, split(66 * 1100, 0.15))) == (61_710, 10_890)
