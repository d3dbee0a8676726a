"""A command that is told to end (SIGTERM, or its terminal goes away) ends as by Ctrl-C: in good order."""

import contextlib
import signal
import threading
from collections.abc import Iterator


class Stopped(KeyboardInterrupt):
    """Somebody ended this process by a signal."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


def code(error: KeyboardInterrupt) -> int:
    """What a process that was stopped so returns to its shell."""
    return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Raise Stopped at the first such signal; those that come while the command ends change nothing."""
    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    ours = [n for n in numbers if signal.getsignal(n) is signal.SIG_DFL]  # nohup ignores some

    def stop(number: int, frame: object) -> None:
        for n in ours:
            signal.signal(n, signal.SIG_IGN)
        raise Stopped(number)

    for n in ours:
        signal.signal(n, stop)
    try:
        yield
    finally:
        for n in ours:
            signal.signal(n, signal.SIG_DFL)
