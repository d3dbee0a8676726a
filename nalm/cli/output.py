"""Standard output on any machine: encodings without some characters, a full disk, a closed pipe."""

import codecs
import contextlib
import io
import os
import sys
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

HANDLER, PLAIN = "nalm.plain", "nalm-ascii"
SUBSTITUTES = {
    **{"•": "*", "·": "*", "×": "x", "÷": "/", "−": "-", "√": "r", "∘": "o", "⊕": "^", "¬": "!", "±": "~"},
    **{"≤": "<", "≥": ">", "≠": "!", "→": ">", "↔": "=", "⇝": ">", "∧": "&", "∨": "|", "⊥": "F", "⊤": "T"},
    **{"ε": "e", "θ": "t", "λ": "l", "μ": "u", "π": "p", "σ": "s", "φ": "f", "Ω": "O"},
    **{"─": "-", "│": "|", "└": "+"},
    **{"━": "-", "╸": "-", "╺": "-", "…": "~", "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-"},
}


def plain(text: str) -> str:
    """Return the text in ASCII; each character is replaced by one similar character, so that columns stay aligned.

    >>> plain("NAC• of 3 × 4 ± 1 by Novák")
    'NAC* of 3 x 4 ~ 1 by Novak'
    """
    return "".join(c if c.isascii() else _substitute(c) for c in text)


def _substitute(character: str) -> str:
    base = unicodedata.normalize("NFKD", character)[0]
    return SUBSTITUTES.get(character) or SUBSTITUTES.get(base) or (base if base.isascii() else "?")


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Handle an encoding error: replace characters that the encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


codecs.register_error(HANDLER, _replaced)


def _ascii(name: str) -> codecs.CodecInfo | None:
    """Return ASCII under another name: typer writes UTF-8 to a stream whose encoding is called ascii."""
    if name != PLAIN.replace("-", "_"):
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode,
        known.decode,
        incrementalencoder=known.incrementalencoder,
        incrementaldecoder=known.incrementaldecoder,
        name=PLAIN,
    )


codecs.register(_ascii)


class _File(io.FileIO):
    """A standard stream that remembers its error, to tell it from the same error of another file."""

    failed: OSError | None = None

    def write(self, data: "Buffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            self.failed = error
            raise


@contextlib.contextmanager
def output() -> Iterator[None]:
    """Replace characters that the output cannot show; exit with one sentence if it is full, silently if closed."""
    _open_closed()
    files = [_opened("stdout", 1), _opened("stderr", 2)]
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error not in [file.failed for file in files if file is not None]:
            raise
        if not isinstance(error, BrokenPipeError):
            why = f"The output could not be written ({error.strerror}): send it to another place with > FILE."
            with contextlib.suppress(OSError):
                typer.echo(f"nalm: {why}", err=True)
        sys.exit(1)
    finally:
        for file in files:
            if file is not None and file.failed is not None:
                _discard(file.fileno())


def _opened(name: str, number: int) -> _File | None:
    """Reopen a standard stream as one that remembers its error; None if it is not a file (in a test or notebook)."""
    before = getattr(sys, name)
    if before is None:  # its file descriptor was closed
        before = open(number, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if not isinstance(before, io.TextIOWrapper):
        return None
    if type(getattr(before.buffer, "raw", before.buffer)) is not io.FileIO:  # a Windows console
        before.reconfigure(errors=HANDLER)
        return None
    before.flush()
    file = _File(before.fileno(), "w", closefd=False)
    at_once = before.line_buffering or before.write_through  # python -u
    encoding = PLAIN if codecs.lookup(before.encoding).name == "ascii" else before.encoding
    wrapper = io.TextIOWrapper(io.BufferedWriter(file), encoding, HANDLER, line_buffering=at_once)
    setattr(sys, name, wrapper)
    return file


def _open_closed() -> None:
    """Open the null device for closed standard streams, so that no database gets their file descriptors.

    Standard output is opened for reading only: a command that prints then fails, as it does on a full disk.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(number, True)
        if number == 2:  # lost error messages are not an error
            _discard(2)
    os.close(number)


def _discard(number: int) -> None:
    """Redirect a file descriptor to the null device, so that Python does not fail again when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
