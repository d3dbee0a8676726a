"""Trials on five historical tables: is the textbook law the first choice, also of redrawn noise and of drawn rows?

``python -m benchmarks.empirical OUT --data FOLDER`` reads hubble, kepler, ideal_gas, planck and leavitt.csv there:
a header, the columns, the target last.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from benchmarks.harness import Row, option
from benchmarks.noisy import read
from benchmarks.tables import truth
from nalm.cli import tabular
from nalm.discover import search
from nalm.discover.form import fit_form
from nalm.discover.form.text import read_form
from nalm.discover.law.expression import Array, evaluate
from nalm.discover.selection.structure import structure
from nalm.errors import NALMError

NOTE = (
    "table: the table as it is. redraw: the law with the numbers that fit the table best, and new noise of the size "
    "that it leaves there, additive or relative. rows: rows of the table drawn with repetition. Right: the textbook "
    "law is the first choice; listed: it is on the front; named: it is the first choice or among the alternatives."
)
LAWS = {  # table -> its law, the kind of its noise, and whether it was measured
    "hubble": ("k*D", "additive", True),
    "kepler": ("k*a**1.5", "relative", True),
    "leavitt": ("k*logP + m", "additive", True),
    "ideal_gas": ("k*n*T/V", "relative", False),
    "planck": ("m + 3*log(nu) - log(exp(k*nu/T) - 1)", "additive", False),
}


@dataclass(frozen=True)
class Options:
    """The tables, the draws of each, and how long each is searched."""

    data: str = option("", "the folder with the tables")
    draws: int = option(20, "draws of each table")
    seconds: float = option(10.0, "time limit of a search")


@dataclass(frozen=True)
class Job:
    """One table and one draw."""

    kind: str
    name: str
    draw: int
    seconds: float
    data: str


@dataclass(frozen=True)
class Trial:
    """One draw and what was found."""

    kind: str
    name: str
    draw: int
    verdict: str
    right: bool
    named: bool
    listed: bool
    seconds: float
    law: str


def drawn(job: Job) -> tuple[list[str], Array, Array]:
    """Return the names of the columns, the columns and the target of one draw."""
    path = Path(job.data) / f"{job.name}.csv"
    *names, target = tabular.header(path)
    table = tabular.read(path, target)
    assert table.y is not None
    x, y, rng = table.x, table.y, np.random.default_rng([job.draw, sum(map(ord, job.kind + job.name))])
    if job.kind == "rows":
        pick = rng.integers(len(y), size=len(y))
        return names, x[pick], y[pick]
    if job.kind == "redraw":
        text, noise, _ = LAWS[job.name]
        values = fit_form(text, x, y, names).values
        law = evaluate(read_form(text, names).node(values), x)
        if noise == "relative":  # the factor of a law with relative errors is that of their mean logarithm
            off = np.log(y / law)
            y = law * np.exp(off.mean() + off.std() * rng.standard_normal(len(y)))
        else:
            y = law + np.sqrt(np.mean((y - law) ** 2)) * rng.standard_normal(len(y))
    return names, x, y


def one(job: Job) -> Trial:
    """Search for the law of one draw."""
    names, x, y = drawn(job)
    wanted, began = truth(LAWS[job.name][0], names), time.process_time()
    found = search(x, y, names, max_time=job.seconds)
    seconds = round(time.process_time() - began, 3)
    forms = [structure(c.law.expression) for c in found.candidates]
    right, text = forms[0] == wanted, " ".join(str(found.law).split())[:200]
    others = (read(text, names) for text in found.certificate.alternatives)
    named = right or any(node is not None and structure(node) == wanted for node in others)
    verdict = str(found.certificate.verdict)
    return Trial(job.kind, job.name, job.draw, verdict, right, named, wanted in forms, seconds, text)


def jobs(options: Options) -> list[Job]:
    """List the tables and the draws: noise is redrawn where it was drawn, rows where they were measured."""
    if not Path(options.data, "hubble.csv").is_file():
        raise NALMError(f"There are no tables in {options.data or 'the folder'!r}: name it with --data.")
    tables = [Job("table", name, 0, options.seconds, options.data) for name in LAWS]
    return tables + [
        Job("rows" if measured else "redraw", name, draw, options.seconds, options.data)
        for name, (_, _, measured) in LAWS.items()
        for draw in range(options.draws)
    ]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count per kind and table."""
    rows = []
    for kind, name in dict.fromkeys((t.kind, t.name) for t in trials):
        group = [t for t in trials if (t.kind, t.name) == (kind, name)]
        rows.append(
            {
                "kind": kind,
                "table": name,
                "draws": len(group),
                "right": sum(t.right for t in group),
                "named": sum(t.named for t in group),
                "listed": sum(t.listed for t in group),
                "none": sum(t.verdict == "none" for t in group),
                "seconds": round(float(np.median([t.seconds for t in group])), 2),
                "slowest": round(max(t.seconds for t in group), 2),
            }
        )
    return rows


BENCHMARK = harness.Benchmark(
    "empirical", NOTE, Options, Trial, jobs, one, totals, expected=lambda job: (job.name, job.seconds)
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
