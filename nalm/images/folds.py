"""Folds and splits as scikit-learn shuffles them, by NumPy's generator alone: the published ones are the same."""

import math

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


def fold(n: int, folds: int, which: int) -> tuple[Indices, Indices]:
    """The training and test places of one fold of n: ``KFold(folds, shuffle=True, random_state=RandomState(0))``.

    >>> [places.tolist() for places in fold(5, 2, 1)]
    [[0, 1, 2], [3, 4]]
    """
    order = np.arange(n)
    np.random.RandomState(0).shuffle(order)
    test = np.sort(np.array_split(order, folds)[which])
    return np.setdiff1d(np.arange(n), test), test


def held_out(n: int, share: float) -> tuple[Indices, Indices]:
    """What is kept and what is held out of n: ``train_test_split(range(n), test_size=share, random_state=0)``."""
    order = np.random.RandomState(0).permutation(n)
    cut = math.ceil(n * share)
    return order[cut:], order[:cut]
