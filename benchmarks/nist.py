"""Trials on NIST's certified problems of nonlinear regression: parameters of the given form, and the form itself.

``python -m benchmarks.nist OUT --data nist.json`` reads problems with formula, x, y, certified parameters and their
standard deviations; of several columns also their names, ``inputs``. ``tests/discover/nist.json`` has three of them.
"""

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import harness
from benchmarks.feynman import RIGHT, form_error
from benchmarks.harness import Row, option
from nalm.discover import search
from nalm.discover.form import fit_form
from nalm.discover.law.expression import Array, Node, evaluate, size
from nalm.discover.law.tidy import tidied
from nalm.discover.problem import Problem
from nalm.discover.selection.answer import fits_of
from nalm.errors import NALMError

NOTE = (
    "form: the form is given. parameters and deviations are the largest relative errors beside the certified values "
    "and their certified standard deviations. search: it is not given. listed: a law of the front, its numbers fitted "
    "again, gives the values of the certified form up to a millionth. beaten: a law of the front with no more symbols "
    "than the certified form has no larger error with each row left out, so that the form is on no front."
)
PARAMETERS, DEVIATIONS = 1e-6, 1e-3  # relative errors that count as met
ALLOWED = 1.001  # of the error of the certified form, for a law that beats it


@dataclass(frozen=True)
class Options:
    """The problems, and how long each is searched."""

    data: str = option("", "the file with the problems")
    names: str = option("", "problems to run, a,b; empty: all")
    seconds: float = option(20.0, "time limit of a search")


@dataclass(frozen=True)
class Job:
    """One problem, with or without its form."""

    kind: str
    name: str
    seconds: float
    data: str


@dataclass(frozen=True)
class Trial:
    """One problem and what was found."""

    kind: str
    name: str
    parameters: float
    deviations: float
    listed: bool
    beaten: bool
    verdict: str
    seconds: float
    law: str


@cache
def problems(path: str) -> dict[str, dict[str, Any]]:
    """Read the problems of a file, by name."""
    try:
        return {p["name"]: p for p in json.loads(Path(path).read_text(encoding="utf-8"))["problems"]}
    except (OSError, ValueError, KeyError) as error:
        raise NALMError(
            f"There are no problems in {path or 'the file'!r} ({error}): name it with --data."
        ) from None


def one(job: Job) -> Trial:
    """Fit the form of one problem, or search for it."""
    p = problems(job.data)[job.name]
    y, names = np.array(p["y"], float), p.get("inputs", ["x"])
    x = np.array(p["x"], float).reshape(len(y), -1)
    began = time.perf_counter()
    if job.kind == "form":
        found = fit_form(p["formula"], x, y, names)
        seconds = round(time.perf_counter() - began, 3)
        off = max(abs(found.values[n] / v - 1) for n, v in p["certified"].items())
        wide = max(abs(found.constants[n].error / v - 1) for n, v in p["standard_deviation"].items())
        return Trial("form", job.name, float(off), float(wide), False, False, "", seconds, p["formula"])
    front = search(x, y, names, max_time=job.seconds)
    seconds = round(time.perf_counter() - began, 3)
    certified = fit_form(p["formula"], x, y, names, start=p["certified"])
    node = tidied(certified.form.node(certified.values))
    clean = evaluate(node, x)
    laws = [c.law.expression for c in front.candidates]
    listed = any(form_error(law, x, clean, x, clean) < RIGHT for law in laws)
    text = " ".join(str(front.law).split())[:200]
    verdict = str(front.certificate.verdict)
    return Trial("search", job.name, 0.0, 0.0, listed, beaten(node, laws, x, y), verdict, seconds, text)


def beaten(node: Node, laws: Sequence[Node], x: Array, y: Array) -> bool:
    """Return whether one of the laws has no more symbols, and no larger error under each kind of noise."""
    problem = Problem.from_table(x, y)
    with np.errstate(all="ignore"):
        own = [f.error for f in fits_of(node, problem)]
        others = [[f.error for f in fits_of(law, problem)] for law in laws if size(law) <= size(node)]
    return any(all(b <= ALLOWED * a for a, b in zip(own, errors, strict=True)) for errors in others)


def jobs(options: Options) -> list[Job]:
    """List all problems, with their form and without."""
    known = problems(options.data)
    names = [n for n in options.names.split(",") if n] or list(known)
    if missing := [n for n in names if n not in known]:
        raise NALMError(f"There is no problem {missing[0]!r} in {options.data}. Known: {', '.join(known)}.")
    return [Job(kind, name, options.seconds, options.data) for kind in ("form", "search") for name in names]


def totals(trials: Sequence[Trial]) -> list[Row]:
    """Count the problems that are met."""
    rows = []
    for kind in dict.fromkeys(t.kind for t in trials):
        group = [t for t in trials if t.kind == kind]
        given = kind == "form"
        rows.append(
            {
                "kind": kind,
                "problems": len(group),
                "parameters": sum(t.parameters < PARAMETERS for t in group) if given else None,
                "deviations": sum(t.deviations < DEVIATIONS for t in group) if given else None,
                "listed": None if given else sum(t.listed for t in group),
                "listed or beaten": None if given else sum(t.listed or t.beaten for t in group),
                "seconds": round(float(np.median([t.seconds for t in group])), 2),
            }
        )
    return rows


BENCHMARK = harness.Benchmark("nist", NOTE, Options, Trial, jobs, one, totals)

if __name__ == "__main__":
    sys.exit(harness.main(BENCHMARK))
