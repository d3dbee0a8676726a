"""Handwritten digits from the four files of MNIST (LeCun, Cortes & Burges), checked to the last byte.

The files are read where the reader says they are; nothing is ever downloaded.
"""

import gzip
import hashlib
import math
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nalm.errors import NALMError

SIDE = 28
FILES = {  # name, shape, and the SHA-256 of the plain file
    "train-images-idx3-ubyte": (
        (60_000, SIDE, SIDE),
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train-labels-idx1-ubyte": (
        (60_000,),
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k-images-idx3-ubyte": (
        (10_000, SIDE, SIDE),
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "t10k-labels-idx1-ubyte": (
        (10_000,),
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}
VARIABLE = "NALM_DATA"
GZIP = b"\x1f\x8b"  # the first bytes of a compressed file

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Pictures:
    """Images (n, 28, 28) and their digits (n,), for training and for the test."""

    train: Bytes
    train_digits: Bytes
    test: Bytes
    test_digits: Bytes


def folder(data: Path | str = "") -> Path:
    """Return the folder of the files: the one that is given, or that of the environment variable NALM_DATA."""
    said = str(data) or os.environ.get(VARIABLE, "")
    if not said:
        raise NALMError(
            f"This needs the images of MNIST: put {', '.join(FILES)} (as they are, or with .gz) into a folder and name "
            f"it with --data DIR or {VARIABLE}=DIR; nothing is downloaded."
        )
    place = Path(said)
    if not place.is_dir():
        named = "--data" if str(data) else VARIABLE
        what = "is a file" if place.exists() else "does not exist"
        raise NALMError(
            f"{named} names the folder {place}, which {what}: name one that holds {', '.join(FILES)}."
        )
    return place


def load(data: Path | str = "") -> Pictures:
    """Read all four files, and check that each is there, whole, of the right kind and as published."""
    place = folder(data)
    return Pictures(*(_read(place, name) for name in FILES))


def _read(place: Path, name: str) -> Bytes:
    shape, digest = FILES[name]
    path = next((p for p in (place / f"{name}.gz", place / name) if p.exists()), None)
    if path is None:
        raise NALMError(
            f"{place} has no {name} and no {name}.gz: put one of them there, or name another folder with --data."
        )
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
            # one byte too many is enough to know
            content = file.read(4 * (1 + len(shape)) + math.prod(shape) + 1)
    except gzip.BadGzipFile as error:
        if _begins(path) == GZIP:  # compressed, but for example with another checksum than its content has
            raise NALMError(f"{path} is damaged ({error}): copy it again from its source.") from None
        raise NALMError(f"{path} is not compressed: rename it to {name}, or copy it again.") from None
    except (OSError, EOFError, zlib.error) as error:
        raise NALMError(f"{path} cannot be read ({error}): copy it again from its source.") from None
    array = parsed(content, shape, path)
    if hashlib.sha256(content).hexdigest() != digest:
        raise NALMError(
            f"{path} does not hold what was published under this name: its SHA-256 differs; copy it again."
        )
    return array


def _begins(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(len(GZIP))


def parsed(content: bytes, shape: tuple[int, ...], path: Path) -> Bytes:
    """Parse an IDX file of bytes with this shape: magic number, sizes, then the numbers and nothing more."""
    ends = 4 * (1 + len(shape))
    words = tuple(int.from_bytes(content[i : i + 4], "big") for i in range(0, ends, 4))
    magic = 0x0800 + len(shape)  # 08: unsigned bytes; then the number of axes
    if not content:
        raise NALMError(f"{path} is empty: copy it again from its source.")
    if content[: len(GZIP)] == GZIP:
        raise NALMError(f"{path} is compressed: rename it to {path.name}.gz.")
    if len(content) < ends or words[0] != magic:
        raise NALMError(
            f"{path} is no IDX file of bytes with {'1 axis' if len(shape) == 1 else f'{len(shape)} axes'}: it begins "
            f"with 0x{content[:4].hex()}, not 0x{magic:08x}; is it another file under this name?"
        )
    if words[1:] != shape:
        raise NALMError(
            f"{path} holds an array of {words[1:]}, not of {shape}: is it another file under this name?"
        )
    wanted = ends + int(np.prod(shape))
    if len(content) != wanted:
        raise NALMError(
            f"{path} has {len(content):,} bytes where {wanted:,} belong: it is cut off or too long; copy it again."
        )
    return np.frombuffer(content, np.uint8, offset=ends).reshape(shape)


# -- digits made in code --------------------------------------------------------------------------

GLYPHS = (  # five columns of seven dots, the lowest bit on top
    *(
        (62, 81, 73, 69, 62),
        (0, 66, 127, 64, 0),
        (66, 97, 81, 73, 70),
        (33, 65, 69, 75, 49),
        (24, 20, 18, 127, 16),
    ),
    *(
        (39, 69, 69, 69, 57),
        (60, 74, 73, 73, 48),
        (1, 113, 9, 5, 3),
        (54, 73, 73, 73, 54),
        (6, 73, 73, 41, 30),
    ),
)


def drawn(train: int = 200, test: int = 50, seed: int = 0) -> Pictures:
    """Draw so many images of every digit in code: dots about the middle, brighter or darker, in noise.

    >>> pictures = drawn(2, 1)
    >>> pictures.train.shape, pictures.test_digits.tolist()
    ((20, 28, 28), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    source = np.random.RandomState(seed)
    images, digits = [], []
    for count in (train, test):
        labels = np.tile(np.arange(10, dtype=np.uint8), count)
        images.append(np.stack([_drawn(int(d), source) for d in labels]))
        digits.append(labels)
    return Pictures(images[0], digits[0], images[1], digits[1])


def _drawn(digit: int, source: np.random.RandomState) -> Bytes:
    columns = np.array(GLYPHS[digit], np.uint8)
    dots = (columns[None, :] >> np.arange(7, dtype=np.uint8)[:, None]) & 1  # (7, 5)
    glyph = np.kron(dots, np.ones((3, 3)))  # (21, 15)
    image = source.uniform(0, 40, (SIDE, SIDE))
    top, left = source.randint(2, 6), source.randint(5, 9)
    image[top : top + glyph.shape[0], left : left + glyph.shape[1]] += glyph * source.uniform(140, 215)
    return image.astype(np.uint8)
