"""Pictures inside a page: pixels as PNG, digits side by side, and overlapping digits as localisers see them."""

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nalm.config import Case
from nalm.report.study import Study

SIDE, PLAIN = 42, 28  # pixels: of overlapping digits in two channels, and of a digit of a pair
CHANNELS = ((213, 94, 0), (86, 180, 233))  # first digit orange, second digit sky blue
Bytes = npt.NDArray[np.uint8]


def png(pixels: Bytes) -> str:
    """Encode pixels (height, width, 3) as the data URL of a PNG picture.

    >>> png(np.zeros((2, 2, 3), np.uint8))[:32]
    'data:image/png;base64,iVBORw0KGg'
    """
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels, np.uint8))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    blocks = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(blocks)).decode()


def coloured(channels: npt.NDArray[np.float64]) -> Bytes:
    """Draw two channels (2, height, width) in one picture, each in its colour."""
    light = sum(c[..., None] / 255 * np.array(colour) for c, colour in zip(channels, CHANNELS, strict=True))
    return np.clip(light, 0, 255).astype(np.uint8)


def localised(study: Study) -> list[dict[str, Any]]:
    """Return samples of every case with overlapping digits: the input, and what each localiser shows."""
    found = []
    for s in study.summaries:
        kept = study.curves.get((s.case.key, 0), {})
        if "examples.input" not in kept:
            continue
        image = kept["examples.input"].reshape(-1, 2, SIDE, SIDE)
        seen = kept["examples.seen"].reshape(-1, 2, 2, SIDE, SIDE)
        true, read = (kept[f"examples.{name}"].reshape(-1, 2) for name in ("digits", "read"))
        samples = [
            {
                "digits": f"{true[k, 0]:.0f} and {true[k, 1]:.0f}",
                "read": f"{read[k, 0]:.1f} and {read[k, 1]:.1f}",
                "pictures": [png(coloured(picture)) for picture in (image[k], *seen[k])],
            }
            for k in range(len(image))
        ]
        found.append({"name": study.labels[s.case], "case": s.case.key, "samples": samples})
    return found


def paired(study: Study, cases: Sequence[tuple[Case, str]]) -> list[dict[str, Any]]:
    """Return pairs of digits as pictures, with what the first network that stored samples reads."""
    for case, name in cases:
        kept = study.curves.get((case.key, 0), {})
        if "pairs.input" not in kept:
            continue
        both = kept["pairs.input"].reshape(-1, 2, PLAIN, PLAIN).clip(0, 255)
        true, read = (kept[f"pairs.{part}"].reshape(len(both), -1) for part in ("digits", "read"))
        return [
            {
                "picture": png(np.repeat(np.hstack(tuple(pair))[..., None], 3, -1).astype(np.uint8)),
                "digits": " and ".join(f"{d:.0f}" for d in true[k]),
                "read": " and ".join(f"{d:.2f}" for d in read[k]),
                "by": name,
            }
            for k, pair in enumerate(both)
        ]
    return []
