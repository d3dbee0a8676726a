"""Progress of a run: a bar on a terminal, a line every few seconds elsewhere."""

import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from nalm.lab.run import State

EVERY = 10.0  # seconds between plain lines


def duration(seconds: float) -> str:
    """Format seconds as minutes or hours.

    >>> duration(75), duration(4000), duration(float("inf"))
    ('1:15', '1:06:40', '-:--')
    """
    if seconds == float("inf"):
        return "-:--"
    whole = int(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def sentence(state: State) -> str:
    """Return the progress in one line."""
    counts = f"{state.finished:,} of {state.runs:,} runs finished, {state.solved:,} solved"
    if state.waiting:
        return f"{counts}; waiting for another process that is training the rest"
    left = "" if state.finished == state.runs else f", {duration(state.remaining)} left"
    return f"{counts} ({state.fraction:.0%} of the steps{left}){_workers(state)}"


def _workers(state: State) -> str:
    """Return the number of workers and nodes, if training runs on a cluster."""
    busy = {worker for worker in state.workers.values() if worker}
    nodes = {worker.partition(":")[0] for worker in busy} - {"here"}
    if not nodes:
        return ""
    return f"; {_count(len(busy), 'worker')} on {_count(len(nodes), 'node')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


class Progress:
    """A context manager that shows the state of a run on the console."""

    def __init__(self, console: Console):
        self.console = console
        moves = console.is_terminal and not console.is_dumb_terminal  # a dumb one cannot move its cursor
        self._live = Live(console=console, transient=True, refresh_per_second=4) if moves else None
        self._printed = 0.0
        self._last = ""
        self._warning = ""

    def __enter__(self) -> "Progress":
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, state: State) -> None:
        """Show this state, at most as often as the console allows; print a warning once."""
        if state.warning and not self._warning:
            self._warning = state.warning
            self.console.print(state.warning, markup=False, highlight=False, soft_wrap=True)
        if self._live is not None:
            self._live.update(self._picture(state))
        elif time.monotonic() - self._printed > EVERY or (state.finished == state.runs and self._last):
            line = sentence(state)
            if line != self._last:
                self.console.print(line, highlight=False, soft_wrap=True)
            self._printed, self._last = time.monotonic(), line

    def _picture(self, state: State) -> Table:
        grid = Table.grid(padding=(0, 1))
        grid.add_row(ProgressBar(total=1.0, completed=state.fraction, width=30), Text(sentence(state)))
        for name, runs, at, solved in list(state.active.values())[:8]:
            what = "compiling" if at == 0 else f"step {at:,}, {solved} solved"
            grid.add_row(
                Text(f"{runs} runs like", style="dim", justify="right"), Text(f"{name}: {what}", style="dim")
            )
        return grid
