"""The journal of a benchmark: one line per finished job, so that an interrupted benchmark can be continued."""

import json
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TextIO, TypeVar

from nalm.errors import NALMError

T = TypeVar("T")


def key(job: Any) -> str:
    """Return the text that identifies a job (a dataclass of plain values) in a journal."""
    return json.dumps(asdict(job))


class Journal(Generic[T]):
    """A file of finished trials. Its first line holds the settings under which they were made."""

    def __init__(self, path: Path, trial: type[T], settings: dict[str, Any]):
        self.path, self.trial, self.settings = path, trial, settings
        self.done: dict[str, T] = {}
        self.file: TextIO | None = None

    def __enter__(self) -> "Journal[T]":
        complete = self._read() if self.path.exists() else []
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = complete or [json.dumps(self.settings)]
            self.path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            self.file = self.path.open("a", encoding="utf-8")
        except OSError as error:
            raise NALMError(f"The journal {self.path} could not be written: {error.strerror}.") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.file is not None:
            self.file.close()

    def _read(self) -> list[str]:
        """Read the trials and return the complete lines; an interruption may have cut the last line."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        if lines and lines[0] != json.dumps(self.settings):
            raise NALMError(
                f"The journal {self.path} was written with other settings ({lines[0][:200]}): delete it to start again."
            )
        complete = lines[:1]
        for number, line in enumerate(lines[1:], 2):
            try:
                name, values = json.loads(line)
                self.done[str(name)] = self.trial(**values)
            except (ValueError, TypeError):
                if number < len(lines):
                    raise NALMError(
                        f"Line {number} of {self.path} is not a trial: delete the line."
                    ) from None
                break
            complete.append(line)
        return complete

    def add(self, job: Any, trial: T) -> None:
        """Write the trial of a finished job."""
        if self.file is None:
            raise NALMError(f"The journal {self.path} is closed: use it in a with statement.")
        self.done[key(job)] = trial
        self.file.write(json.dumps([key(job), asdict(trial)]) + "\n")  # type: ignore[call-overload]
        self.file.flush()

    def remove(self) -> None:
        """Delete the file, after the results have been written."""
        self.path.unlink(missing_ok=True)
