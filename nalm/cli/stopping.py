"""End a command on SIGTERM and SIGHUP as on Ctrl-C: finished runs and checkpoints are safe, workers end."""

import contextlib
import signal
import threading
from collections.abc import Iterator


class Stopped(KeyboardInterrupt):
    """The process received SIGTERM or SIGHUP."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


def code(error: KeyboardInterrupt) -> int:
    """Return the exit code of a process that was stopped like this."""
    return 128 + (error.number if isinstance(error, Stopped) else signal.SIGINT)


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Raise Stopped on the first signal; ignore further ones while the command ends."""
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
