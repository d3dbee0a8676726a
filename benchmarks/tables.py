"""Trials on small noisy tables: redrawn noise, drawn rows, outliers and groups, with a law that is known.

``python -m benchmarks.tables OUT --draws 20`` runs them; the tables are those of ``examples/data``.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import harness
from benchmarks.harness import Row, option
from nalm.cli import tabular
from nalm.discover import Discovery, search, search_groups
from nalm.discover.form import fit_form
from nalm.discover.form.text import read_form
from nalm.discover.law.expression import Array, Node, evaluate
from nalm.discover.selection.structure import structure

NOTE = (
    "redraw: the law of a table with new noise of the size that the table has. rows: rows of the table drawn with "
    "repetition. outliers: a law with 1% noise, 5% of the rows times or over 10; clean is the same without them. "
    "groups: a law with a number of each group's own. Right: the form of the law is the first choice; listed: it is on "
    "the front. Named: of the outliers, those that the certificate names."
)
DATA = Path(__file__).parent.parent / "examples" / "data"
REAL = {  # table -> target, columns, law, and its noise: relative, or of y
    "kepler": ("period", ["axis"], "k*axis**1.5", ("relative", 0.005)),
    "hubble": ("velocity", ["distance"], "k*distance", ("additive", 200.0)),
    "leavitt": ("magnitude", ["log_period"], "k*log_period + m", ("additive", 0.27)),
    "trees": ("volume", ["diameter", "height"], "k*diameter**2*height", ("relative", 0.08)),
    "gas": ("P", ["n", "T", "V"], "k*n*T/V", ("relative", 0.08)),
}
LAWS = {  # of three columns between 1 and 5
    "gravity": "k*a*b/c**2",
    "energy": "k*a*b**2",
    "pendulum": "k*a**0.5/b**0.5",
    "lens": "k/(1/a + 1/b)",
    "line": "k*a + m*b",
    "heat": "k*a*(b - c)",
}
GROUPS = {  # law, its own number, its shared ones, noise
    "enzyme": ("a*t/(0.8 + t)", "t*a/(t + k)", 0.02),
    "decay": ("a*exp(-0.4*t)", "a*exp(k*t)", 0.02),
    "growth": ("a/(1 + exp(2 - 0.9*t))", "a/(1 + exp(m + k*t))", 0.01),
}


@dataclass(frozen=True)
class Options:
    """How many draws of each table, and how long each is searched."""

    draws: int = option(20, "draws of each table")
    seconds: float = option(10.0, "time limit of a search")


@dataclass(frozen=True)
class Job:
    """One table and one draw."""

    kind: str
    name: str
    draw: int
    seconds: float


@dataclass(frozen=True)
class Trial:
    """One draw and what was found."""

    kind: str
    name: str
    draw: int
    verdict: str
    right: bool
    listed: bool
    named: float  # share of the outliers that the certificate names
    seconds: float
    law: str


def truth(text: str, names: Sequence[str]) -> Node:
    """Return the structure of a law that is given as text."""
    form = read_form(text, names)
    return structure(form.node({name: 2.7 + k for k, name in enumerate(form.parameters)}))


def table(name: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return the columns and the target of a table."""
    if name == "gas":
        x = np.stack([rng.uniform(1, 100, 30), rng.uniform(300, 400, 30), rng.uniform(3, 100, 30)], 1)
        return x, np.ones(30)
    target, columns, *_ = REAL[name]
    read = tabular.read(DATA / f"{name}.csv", target)
    assert read.y is not None
    if columns == ["log_period"]:
        return np.log10(read.x[:, :1]), read.y
    return read.x[:, [read.names.index(c) for c in columns]], read.y


def redrawn(job: Job, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a table with new noise on its law, whose numbers are fitted to the table."""
    _, columns, text, (kind, level) = REAL[job.name]
    x, y = table(job.name, rng)
    numbers = {"k": 8.314}
    if job.name != "gas":
        numbers = fit_form(text, x, y, columns).values
    form = read_form(text, columns)
    law, noise = evaluate(form.node(numbers), x), rng.standard_normal(len(x))
    return x, law * np.exp(level * noise) if kind == "relative" else law + level * noise


def one(job: Job) -> Trial:
    """Search for the law of one draw."""
    rng = np.random.default_rng([job.draw, sum(map(ord, job.kind + job.name))])
    began, named = time.perf_counter(), 0.0
    if job.kind == "groups":
        found, wanted = _groups(job, rng)
    elif job.kind in ("clean", "outliers"):
        x = rng.uniform(1, 5, (60, 3))
        y = _law(LAWS[job.name], x) * np.exp(0.01 * rng.standard_normal(60))
        far = rng.choice(60, 3, replace=False)
        if job.kind == "outliers":
            y[far] *= 10.0 ** rng.choice([-1, 1], 3)
        found, wanted = search(x, y, max_time=job.seconds), truth(LAWS[job.name], ["a", "b", "c"])
        named = float(np.mean([1 + row in found.certificate.outliers for row in far]))
    else:
        x, y = redrawn(job, rng) if job.kind == "redraw" else table(job.name, rng)
        if job.kind == "rows":
            pick = rng.integers(len(y), size=len(y))
            x, y = x[pick], y[pick]
        columns = REAL[job.name][1]
        found, wanted = search(x, y, columns, max_time=job.seconds), truth(REAL[job.name][2], columns)
    seconds = time.perf_counter() - began
    forms = [structure(c.law.expression) for c in found.candidates]
    verdict, law = str(found.certificate.verdict), " ".join(str(found.law).split())[:200]
    right, listed = forms[0] == wanted, wanted in forms
    return Trial(job.kind, job.name, job.draw, verdict, right, listed, named, round(seconds, 3), law)


def _law(text: str, x: Array) -> Array:
    form = read_form(text, ["a", "b", "c"])
    return evaluate(form.node({name: 2.7 + k for k, name in enumerate(form.parameters)}), x)


def _groups(job: Job, rng: np.random.Generator) -> tuple[Discovery, Node]:

    law, wanted, level = GROUPS[job.name]
    t = np.tile(np.linspace(0.5, 8, 9), 4)
    which, own = np.repeat(list("pqrs"), 9), np.repeat(rng.uniform(2, 9, 4), 9)
    x = np.stack([t, own], 1)
    expression = read_form(f"{law} + zero", ["t", "a"])
    y = evaluate(expression.node({"zero": 0.0}), x) * np.exp(level * rng.standard_normal(36))
    found = search_groups(t[:, None], y, which, ["t"], max_time=job.seconds, seed=job.draw)
    return found, structure(read_form(wanted, ["t", "a"]).node({"k": -0.7, "m": 1.9}))


def jobs(options: Options) -> list[Job]:
    """List the draws."""
    kinds = {
        "redraw": REAL,
        "rows": [name for name in REAL if name != "gas"],
        "clean": LAWS,
        "outliers": LAWS,
        "groups": GROUPS,
    }
    return [
        Job(kind, name, draw, options.seconds)
        for kind, names in kinds.items()
        for name in names
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
                "listed": sum(t.listed for t in group),
                "none": sum(t.verdict == "none" for t in group),
                "named": round(float(np.mean([t.named for t in group])), 2),
                "seconds": round(float(np.median([t.seconds for t in group])), 2),
            }
        )
    return rows


BENCHMARK = harness.Benchmark(
    "tables", NOTE, Options, Trial, jobs, one, totals, expected=lambda job: (job.kind, job.seconds)
)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
