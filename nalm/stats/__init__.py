"""Statistics: functions from the outcomes of runs to ``Interval``, an estimate with its 95% interval and method.

One file per kind of number. ``two_*`` compare a published number with our runs and return a ``Comparison``.
``*_published`` repeats two errors of the published tables, for comparison with them.
Imports only ``nalm.errors``, NumPy and SciPy, of which ``scipy.stats`` and ``scipy.optimize`` load when first used.
"""

from nalm.stats.beta import sparsity as sparsity
from nalm.stats.beta import sparsity_published as sparsity_published
from nalm.stats.comparison import LEVEL as LEVEL
from nalm.stats.comparison import Comparison as Comparison
from nalm.stats.gamma import solved_at as solved_at
from nalm.stats.gamma import solved_at_estimate as solved_at_estimate
from nalm.stats.gamma import solved_at_published as solved_at_published
from nalm.stats.gamma import spread_behind as spread_behind
from nalm.stats.interval import Difference as Difference
from nalm.stats.interval import Interval as Interval
from nalm.stats.likelihood import CHI as CHI
from nalm.stats.means import mean as mean
from nalm.stats.means import median as median
from nalm.stats.means import one_more as one_more
from nalm.stats.paired import holm as holm
from nalm.stats.paired import paired_difference as paired_difference
from nalm.stats.paired import rate_difference as rate_difference
from nalm.stats.power import mcnemar_power as mcnemar_power
from nalm.stats.power import pairs_needed as pairs_needed
from nalm.stats.rates import runs_behind as runs_behind
from nalm.stats.rates import success_rate as success_rate
from nalm.stats.rates import wilson as wilson
from nalm.stats.two_counts import Paired as Paired
from nalm.stats.two_counts import Rate as Rate
from nalm.stats.two_counts import predicted as predicted
from nalm.stats.two_counts import predicted_leads as predicted_leads
from nalm.stats.two_counts import same_count as same_count
from nalm.stats.two_counts import same_difference as same_difference
from nalm.stats.two_means import FACTOR as FACTOR
from nalm.stats.two_means import Margin as Margin
from nalm.stats.two_means import Mean as Mean
from nalm.stats.two_means import mean_of as mean_of
from nalm.stats.two_means import of_interval as of_interval
from nalm.stats.two_means import same_mean as same_mean
from nalm.stats.two_medians import same_least as same_least
from nalm.stats.two_medians import same_median as same_median
from nalm.stats.two_rates import RATE as RATE
from nalm.stats.two_rates import at_least as at_least
from nalm.stats.two_rates import same_rate as same_rate
