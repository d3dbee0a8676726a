"""A store as large as wanted in a moment: a run of each case saved as always, and copied in SQL with other seeds."""

from made import runs

from nalm.config import Arithmetic, Case, Experiment, Layer, Range, Recipe
from nalm.results.store import FIELDS, Store

UNITS = ("NMU", "SNMU", "NAU", "NRU", "RealNPU", "NALU", "INALU", "NACMul", "NMRU", "NPU")
RANGES = ((1, 2), (10, 20), (-2, -1), (-20, -10), (0.1, 0.2))

COPY = """
WITH RECURSIVE more(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM more WHERE k < ?)
INSERT INTO {table} ({columns}) SELECT {values} FROM {table} CROSS JOIN more WHERE seed = 0 ORDER BY hash, k
"""


def cases(count):
    """Cases that differ in unit, range and learning rate."""
    return [
        Case(
            (Layer(UNITS[i % 10]),),
            Arithmetic("multiply", Range(*RANGES[i // 10 % 5]), Range(2, 6)),
            Recipe(steps=2_000, lr=1e-3 * (1 + i // 50)),
        )
        for i in range(count)
    ]


def fill(folder, count, seeds):
    """So many cases with so many seeds each, every second run solved."""
    wanted = cases(count)
    with Store(folder, create=True) as store:
        store.begin("nalm run large", "2.13.0")
        store.register(Experiment("large", "A large one", tuple(wanted), (0,)))
        store.save(runs(wanted, [0] * count, [1e-12] * count))
        names = ["hash", "seed", *FIELDS, "session", "finished"]
        values = {"seed": "k", "outcome": "CASE k % 2 WHEN 0 THEN 'solved' ELSE 'unsolved' END"}
        values["solved_at"] = "CASE k % 2 WHEN 0 THEN 1000 + k % 7 * 1000 END"
        store.db.execute("BEGIN")
        for table, columns in (("runs", names), ("arrays", ["hash", "seed", "data"])):
            selected = ", ".join(values.get(name, name) for name in columns)
            query = COPY.format(table=table, columns=", ".join(columns), values=selected)
            store.db.execute(query, (seeds - 1,))
        store.db.execute("COMMIT")
