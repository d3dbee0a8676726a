"""What the tests of statistics share: strategies for runs, and an interval's three numbers."""

import math

from hypothesis import settings
from hypothesis import strategies as st

from nalm import stats
from nalm.stats import Interval

quick = settings(deadline=None, database=None, max_examples=25)

flags = st.lists(st.booleans(), min_size=1, max_size=40)
numbers = st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=30)
steps = st.lists(st.integers(0, 5000).map(lambda s: 1000.0 * s), min_size=1, max_size=30)
positive = st.lists(st.floats(1e-300, 1e300), min_size=2, max_size=12)
errors = st.lists(
    st.sampled_from([0.0, 1e-300, 1.1920929e-07, 0.25, 0.49999999999999994, 0.5, 252.0, math.inf])
    | st.floats(0, 0.5)
    | st.floats(0, 1e-5),
    min_size=1,
    max_size=20,
)
OF_NUMBERS = [stats.mean, stats.median, stats.solved_at, stats.solved_at_published]
OF_NUMBERS += [stats.sparsity, stats.sparsity_published]


def ends(interval: Interval) -> tuple[float, float, float]:
    return interval.estimate, interval.low, interval.high
