"""The progress of a benchmark on stderr: finished trials, and the time left."""

import sys
import time
from collections.abc import Iterable

import numpy as np


class Progress:
    """Print every few seconds how many trials are finished and how long the others will take."""

    def __init__(self, expected: Iterable[tuple[str, float]], workers: int, every: float = 5.0):
        self.workers, self.every = workers, every
        self.left: dict[str, int] = {}
        self.usual: dict[str, float] = {}
        self.seen: dict[str, list[float]] = {}
        for kind, seconds in expected:
            self.left[kind] = self.left.get(kind, 0) + 1
            self.usual[kind] = seconds
        self.total = sum(self.left.values())
        self.printed = time.monotonic()
        self._print(f"{self.total:,} trials, about {self.eta():.0f} s on {workers} workers")

    def eta(self) -> float:
        """Estimate the seconds until the end from what trials of each kind took so far, or usually take."""
        cost = 0.0
        for kind, count in self.left.items():
            seen = self.seen.get(kind, [])
            cost += count * (float(np.mean(seen)) if len(seen) >= 10 else self.usual[kind])
        return cost / self.workers

    def step(self, kind: str, seconds: float) -> None:
        """Count a finished trial."""
        self.left[kind] -= 1
        self.seen.setdefault(kind, []).append(seconds)
        if time.monotonic() - self.printed > self.every:
            self.printed = time.monotonic()
            done = self.total - sum(self.left.values())
            self._print(f"{done:,} of {self.total:,} trials, {self.eta():.0f} s left")

    def _print(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
