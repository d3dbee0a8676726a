"""What can be wrong with a file: bits, lengths, places, and words where numbers were."""

import random

NUMBERS = (
    0,
    1,
    2,
    3,
    127,
    128,
    255,
    256,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**64 - 1,
)
WORDS = [
    *(
        "",
        "0",
        "-1",
        "1e999",
        "-0.0",
        "NaN",
        "Infinity",
        "null",
        "true",
        "[]",
        "{}",
        '""',
        "9" * 400,
        "1" + "0" * 25,
    ),
    *(
        "[" * 200,
        '{"a":' * 60,
        "(" * 150,
        "**9**9**9",
        "**99999",
        "^8^8^8",
        "10**9",
        "1/0",
        "0**-1",
        "x" * 3_000,
    ),
    *(
        "__import__('os').system('true')",
        "eval('1')",
        "().__class__",
        "lambda: 0",
        "{0.__class__}",
        "%s%n",
        "$(true)",
    ),
    *(
        "../../../etc/passwd",
        "/dev/zero",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "Ω",
        "💥",
        "\r\n",
        '"',
        "'",
        ";",
        ",",
    ),
    *(
        "'; DROP TABLE runs; --",
        "<script>alert(1)</script>",
        "=cmd|' /C calc'!A0",
        "Piecewise((a, a>b))",
        "sqrt(-1)",
    ),
]


def mutated(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """The file with a few things wrong."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at = chance.randrange(len(changed) + 1)
        to = min(len(changed), at + chance.choice((1, 1, 2, 4, 8, 64, 1_000)))
        match chance.randrange(10):
            case 0 if changed:
                changed[at % len(changed)] ^= 1 << chance.randrange(8)
            case 1:
                changed[at:to] = chance.randbytes(to - at)
            case 2:
                del changed[at:to]
            case 3:
                changed[at:at] = changed[at:to] * chance.choice((1, 2, 50))
            case 4:
                del changed[at:]
            case 5:
                width = chance.choice((1, 2, 4, 8))
                number = chance.choice(NUMBERS) & (256**width - 1)
                changed[at : at + width] = number.to_bytes(width, chance.choice(("big", "little")))
            case 6:
                other = chance.choice(others)
                start = chance.randrange(len(other) + 1)
                changed[at:to] = other[start : start + chance.choice((1, 16, 300))]
            case _:  # a word in the place of a number or a name, or between two signs
                word = chance.choice(WORDS).encode("utf-8", "surrogatepass")
                if chance.random() < 0.7:
                    at, to = _token(changed, at)
                changed[at:to] = word
    return bytes(changed)


def _token(data: bytearray, at: int) -> tuple[int, int]:
    """The ends of the word or number around a place."""
    inside = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+"
    start = end = min(at, len(data))
    while start and data[start - 1] in inside:
        start -= 1
    while end < len(data) and data[end] in inside:
        end += 1
    return start, end
