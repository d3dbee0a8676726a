"""Every loader of files that others may have made, with valid files for it; see fuzzing.py."""

import gzip
import random
import sqlite3
import zlib
from pathlib import Path
from unittest import mock

import numpy as np
import torch
from fuzzing import Target
from made import case, runs
from mutations import NUMBERS, WORDS

from nalm.cli import tabular
from nalm.config import Case, Experiment
from nalm.discover.law import files as saved
from nalm.discover.regressor import NALMRegressor
from nalm.engine import Run
from nalm.engine.images import mnist
from nalm.engine.numbers import NumberTrainer
from nalm.formulas.parse import parse
from nalm.lab.executors.base import tensors
from nalm.lab.status import status
from nalm.results import checkpoints, packed, tally_files
from nalm.results import files as shipped
from nalm.results.store import NAME, Store
from nalm.results.summary import summarise


def targets(folder: Path) -> list[Target]:
    """One target per loader, its files in a folder of their own."""
    found = []
    for make in (store, cells, arrays, checkpoint, config, table, formula, law, tables, tallies, images):
        own = folder / make.__name__
        own.mkdir()
        found.append(make(own))
    return found


BETWEEN = b"\n====\n"


def _taken_apart(data: bytes) -> bytes:
    """A safetensors file as its header and its numbers, without the length that a mutated header would not have."""
    size = int.from_bytes(data[:8], "little")
    return b"S" + data[8 : 8 + size] + BETWEEN + data[8 + size :]


def _put_together(data: bytes) -> bytes:
    """The same as a file; anything else is one already."""
    if data[:1] != b"S":
        return data
    header, _, numbers = data[1:].partition(BETWEEN)
    return len(header).to_bytes(8, "little") + header + numbers


def _store(folder: Path) -> bytes:
    other = case(lr=0.5)
    with Store(folder, create=True) as store:
        store.begin("nalm run e", "2.13.0")
        store.register(Experiment("e/f", "A title", (case(), other), (0, 1)))
        store.save(runs([case(), case(), other], [0, 1, 0], [1e-12, 1.0, 0.5]))
        store.log_event("finished", "p", 3, 2_000)
    return (folder / NAME).read_bytes()


def _read_store(folder: Path) -> None:
    """All that the commands read of a store."""
    with Store(folder) as store:
        status(store)
        outcomes = store.outcomes()
        summarise(outcomes)
        for name in store.experiments():
            store.outcomes(name)
            if outcomes:
                shipped.ship(store, name, folder / "shipped")
        shipped.table(outcomes)
        store.timings("cpu")
        store.events()


def store(folder: Path) -> Target:
    """A results file, byte by byte."""
    (folder / "made").mkdir()
    valid = _store(folder / "made")

    def load(data: bytes) -> None:
        for name in ("-wal", "-shm", "-journal"):
            (folder / f"{NAME}{name}").unlink(missing_ok=True)
        (folder / NAME).write_bytes(data)
        _read_store(folder)

    return Target("store", [valid], load)


def cells(folder: Path) -> Target:
    """A results file with another value in one of its cells: the bytes choose which."""
    valid, unchanged = _store(folder), b"any bytes at all, which choose the cell and its value"
    tables = ("sessions", "experiments", "cases", "members", "runs", "arrays", "taken", "events")

    def load(data: bytes) -> None:
        (folder / NAME).write_bytes(valid)
        if data == unchanged:
            return _read_store(folder)
        chance = random.Random(data)
        db = sqlite3.connect(folder / NAME, isolation_level=None)
        table = chance.choice(tables)
        column = chance.choice([row[1] for row in db.execute(f"PRAGMA table_info({table})")])
        number = chance.choice(NUMBERS) * chance.choice((1, -1))
        values = [None, max(-(2**63), min(number, 2**63 - 1)), 0.5, 1e308, b"\xff\x00", chance.choice(WORDS)]
        value = chance.choice(values)
        value = value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        try:
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
        except sqlite3.Error:
            pass
        finally:
            db.close()
        return _read_store(folder)

    return Target("cells", [unchanged], load)


def arrays(folder: Path) -> Target:
    """The arrays of a run, mutated before they are compressed or after: the first byte says which."""
    whole = packed.pack(
        {"steps": np.arange(3), "test": np.ones(3), "weights.0.weight": np.eye(2, dtype=np.float32)}
    )

    def load(data: bytes) -> object:
        return packed.unpack(data[1:] if data[:1] == b"z" else zlib.compress(_put_together(data), 1), "here")

    return Target(
        "arrays", [b"z" + whole, zlib.decompress(whole), _taken_apart(zlib.decompress(whole))], load
    )


def checkpoint(folder: Path) -> Target:
    """A checkpoint, and what training makes of it; its sum always fits, or nothing would get further."""
    fits = mock.patch.object(checkpoints, "_checksum", lambda arrays, about: "sum")
    wanted = [Run(case(), seed, seed) for seed in range(3)]
    training = NumberTrainer(wanted, torch.device("cpu"), compiled=False)
    training.advance()
    keys = [(run.case.hash, run.seed) for run in wanted]
    with fits:
        path = checkpoints.save_checkpoint(folder, keys, {n: t.numpy() for n, t in training.state().items()})
    valid = path.read_bytes()

    def load(data: bytes) -> None:
        path.write_bytes(_put_together(data))
        found = checkpoints.open_checkpoint(path)
        part = NumberTrainer.__new__(NumberTrainer)
        part.__dict__.update(training.__dict__)
        with fits:
            state = found.arrays([key for key in keys if key in found.runs] or keys)
        part.restore(tensors(state))

    return Target("checkpoint", [valid, _taken_apart(valid)], load)


def config(folder: Path) -> Target:
    """A case or an experiment as JSON."""
    texts = [case().json(), Experiment("e", "t", (case(), case(0.5)), (0, 1)).json()]

    def load(data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        kind = Experiment if '"seeds"' in text else Case
        _ = kind.from_json(text).hash

    return Target("config", [text.encode() for text in texts], load)


def table(folder: Path) -> Target:
    """A table for ``nalm fit``."""
    rows = "\n".join(f"{i},{i * 0.5},{i * i * 0.5},x{i}" for i in range(1, 30))
    valid = [
        f"a,b,y,word\n{rows}\n",
        "# a b y\n1 2 3\n4 5 6\n7 8 9.5\n",
        'a;b;y\n"1,5";2,5;3,5\n1,0;2,0;4,0\n',
    ]
    path = folder / "table.csv"

    def load(data: bytes) -> None:
        path.write_bytes(data)
        tabular.read(path, "y")

    return Target("table", [text.encode() for text in valid], load)


def formula(folder: Path) -> Target:
    """A formula."""
    texts = [
        "a*b/sqrt(c)",
        "s1 = a + b; c*s1**2 - 1/3",
        "Piecewise((a, a > b), (b, True))",
        "a & ~b | c",
        "abs(a)**0.5",
    ]

    def load(data: bytes) -> None:
        str(parse(data.decode("utf-8", "replace")))

    return Target("formula", [text.encode() for text in texts], load)


def law(folder: Path) -> Target:
    """A saved law, and predictions with it."""
    x = np.random.RandomState(0).uniform(1, 2, (40, 2))
    NALMRegressor().fit(x, x[:, 0] / x[:, 1] + 2 * x[:, 0]).save(folder / "law.json")
    path = folder / "read.json"

    def load(data: bytes) -> None:
        path.write_bytes(data)
        found = NALMRegressor.load(path)
        str(found.laws_[0])
        with np.errstate(all="ignore"):
            if found.n_features_in_ == 2:
                found.found_[0].law.predict(x)
        _ = [f.equations for f in saved.load(path)[0]]

    seeds = [(folder / "law.json").read_bytes()]
    NALMRegressor(noise=0).fit(x, x[:, 0] * np.sin(x[:, 1]) ** 2).save(folder / "law.json")
    return Target("law", [*seeds, (folder / "law.json").read_bytes()], load)


def tables(folder: Path) -> Target:
    """Shipped tables: the JSON, the runs and the curves in one, apart by a line."""
    with Store(folder, create=True) as store:
        store.begin("nalm run e", "2.13.0")
        store.register(Experiment("e", "A title", (case(),), (0, 1)))
        store.save(runs())
        path = shipped.ship(store, "e", folder)
    curves = path.with_name("e.curves.csv")
    parts = [p.read_bytes() for p in (path.with_name("e.json"), path, curves)]

    def load(data: bytes) -> None:
        about, table, *rest = [*data.split(BETWEEN, 2), b""][:4]
        path.with_name("e.json").write_bytes(about)
        path.write_bytes(table)
        curves.write_bytes(rest[0] if rest else b"")
        summarise(shipped.read(path))
        shipped.curves(path)

    return Target("tables", [BETWEEN.join(parts)], load)


def tallies(folder: Path) -> Target:
    """Tallies: the JSON and the table in one, apart by a line."""
    with Store(folder, create=True) as store:
        store.begin("nalm run e", "2.13.0")
        store.register(Experiment("e", "A title", (case(),), (0, 1)))
        store.save(runs())
        path = tally_files.ship(store, "e", folder)
    beside = path.with_suffix(".json")

    def load(data: bytes) -> None:
        about, table = [*data.split(BETWEEN, 1), b""][:2]
        beside.write_bytes(about)
        path.write_bytes(table)
        summarise([], tally_files.read(path))

    return Target("tallies", [BETWEEN.join(p.read_bytes() for p in (beside, path))], load)


def images(folder: Path) -> Target:
    """An IDX file of images, as it is and compressed."""
    plain = b"\0\0\x08\x03" + b"".join(n.to_bytes(4, "big") for n in (5, 4, 4)) + bytes(range(80))
    name = next(iter(mnist.FILES))
    mnist.FILES[name] = ((5, 4, 4), "no file has this")

    valid = [plain, gzip.compress(plain, mtime=0)]

    def load(data: bytes) -> None:
        if data in valid:  # it is not the published one, which is found out last
            return
        if data[:2] == b"\x1f\x8b":
            (folder / f"{name}.gz").write_bytes(data)
            mnist._read(folder, name)
        mnist.parsed(data, (5, 4, 4), folder / name)

    return Target("images", valid, load)
