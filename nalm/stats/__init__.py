"""Statistics: functions from the outcomes of runs to ``Interval``, an estimate with its 95% interval and method.

One file per kind of number. ``*_published`` repeats two errors of the published tables, for comparison with them.
Imports only ``nalm.errors``, NumPy and SciPy, of which ``scipy.stats`` and ``scipy.optimize`` load when first used.
"""

from nalm.stats.beta import sparsity as sparsity
from nalm.stats.beta import sparsity_published as sparsity_published
from nalm.stats.gamma import solved_at as solved_at
from nalm.stats.gamma import solved_at_published as solved_at_published
from nalm.stats.interval import Difference as Difference
from nalm.stats.interval import Interval as Interval
from nalm.stats.likelihood import CHI as CHI
from nalm.stats.means import mean as mean
from nalm.stats.means import median as median
from nalm.stats.paired import holm as holm
from nalm.stats.paired import paired_difference as paired_difference
from nalm.stats.paired import rate_difference as rate_difference
from nalm.stats.rates import success_rate as success_rate
from nalm.stats.rates import wilson as wilson
