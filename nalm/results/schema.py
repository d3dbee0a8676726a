"""The tables of a results database, and what holds for every row that nalm writes into them."""

# "nalm" in SQLite's header, and the version of the tables below
APPLICATION, FORMAT = 0x6E616C6D, 1

TABLES = """
CREATE TABLE sessions (id INTEGER PRIMARY KEY, lock TEXT, command TEXT, version TEXT, torch TEXT, python TEXT,
    started REAL, seen REAL);
CREATE TABLE experiments (name TEXT PRIMARY KEY, title TEXT);
CREATE TABLE cases (hash TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE members (experiment TEXT, hash TEXT, place INTEGER, PRIMARY KEY (experiment, hash)) WITHOUT ROWID;
CREATE TABLE runs (hash TEXT, seed INTEGER, outcome TEXT, solved_at INTEGER, best_step INTEGER, validation REAL,
    test REAL, sparsity REAL, threshold REAL, steps INTEGER, resets INTEGER, formula TEXT, seconds REAL, mode TEXT,
    device TEXT, neighbours INTEGER, session INTEGER, finished REAL, PRIMARY KEY (hash, seed)) WITHOUT ROWID;
CREATE TABLE arrays (hash TEXT, seed INTEGER, data BLOB, PRIMARY KEY (hash, seed));
CREATE TABLE taken (hash TEXT, seed INTEGER, session INTEGER, PRIMARY KEY (hash, seed)) WITHOUT ROWID;
CREATE TABLE events (session INTEGER, time REAL, kind TEXT, population TEXT, runs INTEGER, at INTEGER);
"""


OUTCOMES = ("solved", "unsolved", "diverged")
MAX_TEXT = 2**24  # characters of a formula, which is long for a deep network
MAX_VALUE = 2**28  # bytes of one value in any table

_REAL_OR_NULL = ("validation", "test", "sparsity", "threshold", "seconds")
_INTEGERS, _TEXTS = "seed best_step steps resets neighbours", "formula mode device"
_CONTROL = "'*[' || char(1) || '-' || char(31) || ']*'"  # a GLOB pattern: contains a control character
_TEXT_CONDITIONS = [
    *(f"length({name}) <= {MAX_TEXT}" for name in _TEXTS.split()),
    *(f"{name} NOT GLOB {_CONTROL}" for name in _TEXTS.split()),
]


def _typeof(kind: str, names: str) -> list[str]:
    """Return the SQL conditions that these columns have this type."""
    return [f"typeof({name}) = '{kind}'" for name in names.split()]


# per table, SQL conditions that hold for every row that nalm wrote: SQLite itself accepts any value in any column
ROW_CONDITIONS = {
    "runs": [
        *_typeof("integer", _INTEGERS),
        *_typeof("text", _TEXTS),
        *_TEXT_CONDITIONS,
        *(f"typeof({name}) IN ('real', 'null')" for name in _REAL_OR_NULL),
        f"outcome IN {OUTCOMES} AND typeof(solved_at) IN ('integer', 'null')",
        "hash IN (SELECT hash FROM cases)",
        "session IS NULL OR session IN (SELECT id FROM sessions)",
    ],
    "sessions": [*_typeof("text", "lock command version torch python"), *_typeof("real", "started seen")],
    "events": [
        *_typeof("integer", "session runs at"),
        *_typeof("text", "kind population"),
        *_typeof("real", "time"),
    ],
}


def is_printable_name(text: object) -> bool:
    """Return whether this can be the name or the title of an experiment."""
    return isinstance(text, str) and text.isprintable() and len(text) <= 1_000
