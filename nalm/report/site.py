"""The results site: an overview, a list of experiments, a page for each of them, benchmarks and landscapes.

All pages share one copy of Plotly and of the style sheet, and need no network. ``site.json`` keeps what each page was
made from, so that only pages whose runs have changed are made again.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nalm
from nalm.errors import NALMError
from nalm.operating_system import read_json, write_json
from nalm.report import html
from nalm.report.overview import entry, tables
from nalm.report.page import content, render
from nalm.report.sections.benchmarks import benchmarks
from nalm.report.study import require, study, wanted
from nalm.results import beside

MANIFEST = "site.json"
HOME, LIST, BENCHMARKS, LANDSCAPES = "index.html", "experiments.html", "benchmarks.html", "landscapes.html"


@dataclass(frozen=True)
class Site:
    """A site that was written: its first page, how many pages were made, and how many had not changed."""

    index: Path
    made: int
    kept: int


def write(where: Path | str, folder: Path, experiment: str = "", other: Path | str = "") -> Site:
    """Write the site of a results folder or of shipped results; make only the pages whose runs have changed.

    The cases that an ``other`` folder has of the same experiments are shown beside.
    """
    html.needed()
    where = Path(where)
    fingerprints = beside.fingerprints(where, other)
    names = wanted(fingerprints, experiment)
    if not names:
        require([])  # raises the error that nothing was found
    known = _known(folder, names, fingerprints)
    others = {} if experiment else _other_pages(where)
    pages = (HOME, LIST, *others)
    entry_of: dict[str, Any] = {}
    for name in names:
        if name in known:
            entry_of[name] = known[name]
            continue
        found = study(where, name, other)
        links = html.Links(path_of(name), pages, f"{name} - nalm")
        data = content([found], with_landscapes=False)
        html.save(render(data, where.name, links), folder / path_of(name))
        entry_of[name] = {"from": fingerprints[name], **entry(found)}
    entries = list(entry_of.values())
    values = {"where": where.name, "entries": entries, "tables": tables(entries), "path_of": path_of}
    for page, template in ((HOME, "overview.html"), (LIST, "experiments.html")):
        html.save(html.render(template, values, html.Links(page, pages, "nalm: results")), folder / page)
    for page, (title, make) in others.items():
        # landscapes depend on no result, only on the code; after a change of the code nothing is known
        if page != LANDSCAPES or not known or not (folder / page).is_file():
            html.save(render(make(), where.name, html.Links(page, pages, f"{title} - nalm")), folder / page)
    for name, text in html.assets().items():
        html.save(text, folder / "assets" / name)
    write_json(folder / MANIFEST, {"made by": _maker(), "experiments": entry_of})
    return Site(folder / HOME, len(names) - len(known), len(known))


def path_of(name: str) -> str:
    """Return the path of an experiment's page in the site; it stays the same, so that it can be cited."""
    return f"experiments/{name}.html"


def _other_pages(where: Path) -> dict[str, tuple[str, Callable[[], dict[str, Any]]]]:
    """Return title and content of the pages that belong to no single experiment."""
    found = benchmarks(where)
    pages: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
        LANDSCAPES: ("Landscapes", lambda: content([]))
    }
    if found:
        data = content([], with_landscapes=False) | {"benchmarks": found}
        pages = {BENCHMARKS: ("Benchmarks", lambda: data), **pages}
    return pages


def _known(folder: Path, names: list[str], fingerprints: dict[str, str]) -> dict[str, Any]:
    """Return what an earlier call wrote about experiments whose runs are the same as then."""
    try:
        earlier = read_json(folder / MANIFEST)
        if earlier["made by"] != _maker():
            return {}
        kept = {n: earlier["experiments"][n] for n in names if n in earlier["experiments"]}
        return {
            n: e for n, e in kept.items() if e["from"] == fingerprints[n] and (folder / path_of(n)).is_file()
        }
    except (NALMError, KeyError, TypeError):
        return {}


def _maker() -> str:
    """Return the version of nalm and a digest of the code, templates and published numbers behind a page."""
    package = Path(nalm.__file__).parent
    folders = ("report", "claims", "stats", "data", "landscapes", "experiments", "units")
    files = [path for folder in folders for path in sorted((package / folder).rglob("*.*"))]
    digest = hashlib.sha256()
    for path in files:
        if path.suffix in (".py", ".html", ".js", ".css", ".csv"):
            digest.update(path.read_bytes())
    return f"{nalm.__version__} {digest.hexdigest()[:16]}"
