"""``python -m benchmarks.laws results/beyond/laws`` runs the contest."""

import sys

from benchmarks import harness
from benchmarks.laws.run import BENCHMARK

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
