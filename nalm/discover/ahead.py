"""Stages that run ahead in other processes, while the ladder tests the candidates of the stages before them.

The ladder takes candidates in the same order as without them, so the same law is found.
"""

import contextlib
import multiprocessing
import queue
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import numpy as np

from nalm.discover.fit.least_squares import solvable
from nalm.discover.law.expression import Node
from nalm.discover.problem import Problem, TimeUpError, silent
from nalm.discover.stages import STAGES
from nalm.operating_system import end_with_driver, ignore_sigint, one_thread, without_main

END, LOST = (
    "end",
    "lost",
)  # what follows the last candidate of a stage: there are no more, or its process has died
Item = Node | str


class Ahead:
    """Worker processes that propose candidates of stages which the ladder has not reached."""

    def __init__(self, problem: Problem, names: Sequence[str], workers: int):
        self.problem = problem
        patient = [name for name in names if STAGES[name].patient]  # these take longest, so they come first
        self.waiting = [*patient, *(name for name in names if name not in patient)]
        self.taken: dict[str, queue.SimpleQueue[Item]] = {}
        self.lock = threading.Lock()
        self.workers = [self._start() for _ in range(min(workers, len(self.waiting)))]

    def _start(self) -> tuple[Connection, BaseProcess]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        problem = replace(self.problem, tell=silent)
        process = context.Process(target=_serve, args=(theirs, problem), daemon=True)
        with ignore_sigint(), without_main(), one_thread():
            process.start()
        theirs.close()
        threading.Thread(target=self._receive, args=(ours,), daemon=True).start()
        return ours, process

    def _take(self, name: str | None) -> str | None:
        """Remove a stage, the next one by default, from the list and return it; None if it is not there."""
        with self.lock:
            name = name or next(iter(self.waiting), None)
            if name not in self.waiting:
                return None
            self.waiting.remove(name)
            return name

    def _receive(self, line: Connection) -> None:
        """Send stage after stage to a worker and keep the candidates that it sends back."""
        while name := self._take(None):
            found = self.taken[name] = queue.SimpleQueue()
            try:
                line.send(name)
                while (item := line.recv()) != END:
                    found.put(item)
            except (OSError, EOFError):
                found.put(LOST)
                return
            found.put(END)

    def proposals(self, name: str) -> Iterator[Node]:
        """Yield the candidates of a stage: those of the worker that has taken it, or else those found here."""
        if self._take(name) is None and name in self.taken:
            while True:
                try:
                    item = self.taken[name].get(timeout=0.2)
                except queue.Empty:
                    self.problem.check()
                    continue
                if isinstance(item, str):
                    if item == END:
                        return
                    break
                yield item
        yield from STAGES[name].propose(self.problem)

    def close(self) -> None:
        """End the workers at once."""
        with self.lock:
            self.waiting.clear()
        for line, process in self.workers:
            process.kill()
            process.join()
            line.close()


def _serve(line: Connection, problem: Problem) -> None:
    """Run a worker: receive names of stages and send their candidates until the driver closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_driver, daemon=True).start()
    with contextlib.suppress(OSError, EOFError), np.errstate(all="ignore"):
        while True:
            name = line.recv()
            with contextlib.suppress(TimeUpError):
                for node in solvable(STAGES[name].propose(problem)):
                    line.send(node)
            line.send(END)
