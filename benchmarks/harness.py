"""What is finished, a line each, so that a killed contest loses nothing and a second start goes on."""

import json
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from benchmarks.laws.judge import Outcome
from nalm.errors import NALMError


class Journal:
    """A file of outcomes; its first line says under which settings they came about."""

    def __init__(self, path: Path, settings: dict[str, Any]):
        self.path, self.settings = path, settings
        self.done: dict[tuple[Any, ...], Outcome] = {}
        self.file: TextIO | None = None

    def __enter__(self) -> "Journal":
        whole = self._read() if self.path.exists() else []
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lines = whole or [json.dumps(self.settings)]
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
        """The lines that are whole, and their outcomes; the last one may have been cut by a kill."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        if lines and lines[0] != json.dumps(self.settings):
            raise NALMError(
                f"{self.path} was begun under other settings ({lines[0][:200]}): delete it to start anew."
            )
        kept = lines[:1]
        for number, line in enumerate(lines[1:], 2):
            try:
                outcome = Outcome(**json.loads(line))
            except (ValueError, TypeError):
                if number < len(lines):
                    raise NALMError(f"Line {number} of {self.path} is not an outcome: delete it.") from None
                break
            self.done[outcome.key] = outcome
            kept.append(line)
        return kept

    def add(self, outcome: Outcome) -> None:
        """Note a finished fit."""
        if self.file is None:
            raise NALMError(f"The journal {self.path} is closed.")
        self.done[outcome.key] = outcome
        self.file.write(json.dumps(asdict(outcome)) + "\n")
        self.file.flush()

    def remove(self) -> None:
        """The contest is over and its results are written."""
        self.path.unlink(missing_ok=True)
