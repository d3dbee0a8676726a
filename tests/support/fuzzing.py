"""Valid files, mutated: a loader may take them or refuse them with a NALMError, and nothing else.

What counts as a finding: any other exception, more than two seconds of work, more than a gigabyte of memory (when run
as a program), and any attempt to run code, start a process, open a connection or write outside the loader's folder.

    python tests/support/fuzzing.py [TARGET ...] --count 10000 --seed 0
"""

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

if __name__ == "__main__":  # as a program: the checkout goes first
    sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

from mutations import mutated

from nalm.errors import NALMError

SECONDS = 2.0  # of processor time for one input
MEMORY = 2**30  # bytes beyond what the process has when it begins
FORBIDDEN = ("exec", "compile", "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen")
FORBIDDEN += (
    "pickle.find_class",
    "marshal.loads",
    "socket.connect",
    "ctypes.dlopen",
    "import",
    "shutil.rmtree",
)


class TooLong(BaseException):
    """An input took too long."""


class Escaped(BaseException):
    """A loader tried what no loader may."""


@dataclass
class Target:
    """A loader and files that it takes."""

    name: str
    valid: list[bytes]
    load: Callable[[bytes], object]


@dataclass
class Report:
    """What came of many inputs."""

    name: str
    inputs: int = 0
    taken: int = 0
    refused: int = 0
    seconds: float = 0.0
    findings: dict[str, bytes] = field(default_factory=dict)  # what happened -> the first input that did it

    def __str__(self) -> str:
        counts = f"{self.inputs:,} inputs, {self.taken:,} taken, {self.refused:,} refused"
        lines = [f"{self.name:12} {counts}, {len(self.findings)} findings, {self.seconds:.0f} s"]
        return "\n".join(lines + [f"    {what}: {found[:120]!r}" for what, found in self.findings.items()])


_watching: list[Path] = []  # the folder that a loader may write to, while one is at work


def _hook(event: str, arguments: tuple) -> None:
    if not _watching:
        return
    if event.startswith(FORBIDDEN) and not _harmless(event, arguments):
        raise Escaped(f"{event} {str(arguments)[:80]}")
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+"):
        path = os.fspath(arguments[0]) if isinstance(arguments[0], str | os.PathLike) else ""
        if path and not str(path).startswith((str(_watching[-1]), "/dev/null")):
            raise Escaped(f"open {str(path)[:80]} to write")


def _harmless(event: str, arguments: tuple) -> bool:
    """A module of the library or its packages that is loaded late; and parsing a formula to a tree runs nothing."""
    if event == "import":
        return True
    if event == "compile" and _asked_by("nalm/formulas/parse.py", "parse"):  # ast.parse: a tree, not code
        return True
    frame = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _asked_by(file: str, function: str) -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.endswith("ast.py") and frame.f_code.co_name == function:
            return frame.f_back is not None and frame.f_back.f_code.co_filename.endswith(file)
        frame = frame.f_back
    return False


_hooked: list[bool] = []


def attack(target: Target, count: int, seed: int = 0, enough: int = 20) -> Report:
    """Give a loader so many mutated files; different findings are enough at some point."""
    if not _hooked:
        sys.addaudithook(_hook)
        _hooked.append(True)
    chance, report = random.Random(f"{target.name} {seed}"), Report(target.name)
    for data in target.valid:  # whatever is loaded late is loaded now; and all of them are valid
        target.load(data)
    began = time.monotonic()
    for _ in range(count):
        data = mutated(chance.choice(target.valid), target.valid, chance)
        report.inputs += 1
        what = _outcome(target, data, report)
        if what is not None:
            report.findings.setdefault(what, data)
        if len(report.findings) >= enough:
            break
    report.seconds = time.monotonic() - began
    return report


def _outcome(target: Target, data: bytes, report: Report) -> str | None:
    def late(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    _watching.append(Path(tempfile.gettempdir()))
    try:
        target.load(data)
        report.taken += 1
    except NALMError:
        report.refused += 1
    except TooLong:
        return f"more than {SECONDS:g} s"
    except (Exception, Escaped) as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "/nalm/" in f.filename] or frames
        return (
            f"{type(error).__name__} at {Path(ours[-1].filename).name}:{ours[-1].lineno} ({str(error)[:80]})"
        )
    finally:
        _watching.pop()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return None


def main() -> int:
    """Attack the loaders that are named, or all."""
    from loaders import targets

    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = targets(Path(folder))
        for target in found:
            for data in target.valid:
                target.load(data)
        used = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, resource.RLIM_INFINITY))
        reports = [
            attack(t, asked.count, asked.seed) for t in found if not asked.names or t.name in asked.names
        ]
    print(*reports, sep="\n")
    return any(report.findings for report in reports)


if __name__ == "__main__":
    sys.exit(main())
