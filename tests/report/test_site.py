"""The results site: pages, links, the table of the overview, and which pages are made again."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from made import case, runs

from nalm.config import Experiment
from nalm.errors import NALMError
from nalm.report import site
from nalm.report.overview import tables
from nalm.report.study import study
from nalm.results.store import Store

pytestmark = pytest.mark.xdist_group("site")  # one process makes the site
ROOT = Path(__file__).parents[2]
NAMES = ("thesis/ch3/add", "thesis/ch5/l1")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shipped") / "results"
    for name in NAMES:
        for path in (ROOT / "results" / name).parent.glob(f"{Path(name).name}.*"):
            to = folder / path.relative_to(ROOT / "results")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, to)
    return folder


@pytest.fixture(scope="module")
def made(shipped, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    return folder, site.write(shipped, folder, "thesis")


class References(HTMLParser):
    """Collects what a page refers to."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name in ("href", "src")]


def references(path):
    parser = References()
    parser.feed(path.read_text("utf-8"))
    return [r for r in parser.found if not r.startswith(("#", "data:"))]


def test_every_link_leads_to_a_file_of_the_site(made):
    folder, _ = made
    pages = list(folder.rglob("*.html"))
    assert {p.relative_to(folder).as_posix() for p in pages} == {
        "index.html",
        "experiments.html",
        *(f"experiments/{name}.html" for name in NAMES),
    }
    for page in pages:
        assert references(page)
        for reference in references(page):
            assert (page.parent / unquote(reference.partition("#")[0])).is_file(), reference


def test_plotly_is_stored_once_and_pages_of_experiments_are_small(made):
    folder, _ = made
    assert (folder / "assets" / "plotly.js").stat().st_size > 1e6
    assert all(p.stat().st_size < 1.5e6 for p in folder.rglob("*.html"))


def test_a_cell_of_the_overview_is_the_share_of_the_case_it_links_to(made, shipped):
    folder, _ = made
    text = (folder / "index.html").read_text("utf-8")
    shares = {s.case.key: s.success.estimate for name in NAMES for s in study(shipped, name).summaries}
    found = re.findall(r'#case=(\w+)" title="[^"]*">(\d+)</a>', text)
    assert len(found) >= 20
    for key, shown in found:
        assert int(shown) == pytest.approx(100 * shares[key], abs=0.51)


def test_the_list_of_experiments_counts_published_numbers(made):
    folder, _ = made
    entries = json.loads((folder / site.MANIFEST).read_text("utf-8"))["experiments"]
    assert entries["thesis/ch3/add"]["verdicts"]["agrees"] > 0
    assert "Mistry 2023" in entries["thesis/ch3/add"]["papers"]
    assert "NAU" in entries["thesis/ch3/add"]["units"]


def test_only_pages_whose_runs_changed_are_made_again(tmp_path):
    out, folder = tmp_path / "runs", tmp_path / "site"
    with Store(out, create=True) as store:
        store.begin("nalm run", "2")
        for name in ("mine/one", "mine/two"):
            store.register(Experiment(name, name, (case(),), (0,)))
    with Store(out, create=True) as store:
        store.begin("nalm run", "2")
        store.save(runs())
    assert (site.write(out, folder, "mine").made, site.write(out, folder, "mine").kept) == (2, 2)
    with Store(out, create=True) as store:
        store.begin("nalm run", "2")
        store.register(Experiment("mine/three", "three", (case(),), (0,)))
    again = site.write(out, folder, "mine")
    assert (again.made, again.kept) == (1, 2)
    (folder / site.MANIFEST).write_text("{", "utf-8")
    assert site.write(out, folder, "mine").made == 3


def test_of_several_recipes_the_one_with_most_runs_is_shown():
    cell = {
        "unit": "NMU",
        "operation": "multiply",
        "inputs": 2,
        "range": "U[1,2)",
        "high": 1.0,
        "experiment": "e",
    }
    few = cell | {"share": 1.0, "low": 0.9, "n": 25, "case": "few"}
    many = cell | {"share": 0.8, "low": 0.78, "n": 1000, "case": "many"}
    (table,) = tables([{"cells": [many, few]}])
    assert table["rows"][0]["cells"][0]["case"] == "many"
    assert [g["sign"] for g in table["groups"]] == ["a × b"]


def test_an_experiment_that_is_not_there_is_a_sentence(shipped, tmp_path):
    with pytest.raises(NALMError, match="thesis/ch9"):
        site.write(shipped, tmp_path, "thesis/ch9")


@pytest.mark.system
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_fits_a_screen_and_leads_to_runs(browser, made, scheme):
    folder, _ = made
    context = browser.new_context(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda m: said.append(m.text))
    page.on("pageerror", lambda e: said.append(str(e)))
    page.on("request", lambda r: asked.append(r.url))
    page.goto((folder / "index.html").as_uri())
    size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size[0] <= 1280 and size[1] <= 800
    page.click("table.heat td a")
    page.wait_for_selector("dialog[open] table")
    assert "runs" in page.inner_text("dialog h3")
    page.click("dialog tbody tr")
    page.wait_for_selector("dialog .run .main-svg")
    assert page.inner_text("dialog .run h4") == "Seed 0"
    page.goto((folder / "experiments.html").as_uri())
    page.fill("#search", "thesis l1")
    rows = page.evaluate("[...document.querySelectorAll('#experiments tbody tr')].map(r => r.hidden)")
    assert sorted(rows) == [False, True]
    page.fill("#search", "")
    page.select_option("[data-filter=operations]", "add")
    assert page.inner_text("#experiments tbody tr:not([hidden]) a") == "thesis/ch3/add"
    assert said == [] and all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    context.close()


@pytest.mark.system
def test_figures_are_drawn_when_they_come_near_the_window(browser, made):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((made[0] / "experiments/thesis/ch3/add.html").as_uri())
    page.wait_for_selector("body[data-drawn=yes]")
    drawn = "[...document.querySelectorAll('.figure')].map(n => !!n.querySelector('.main-svg'))"
    first = page.evaluate(drawn)
    assert first[0] and not all(first)
    heights = page.evaluate("[...document.querySelectorAll('.curves')].map(n => n.offsetHeight)")
    assert min(heights) >= 300  # the place of a figure that is not drawn yet is kept free
    page.locator("select.case").first.scroll_into_view_if_needed()
    page.wait_for_selector(".curves .main-svg")
    page.locator("select.case").first.select_option(index=2)
    page.close()


@pytest.mark.slow
def test_the_site_of_all_results_fits_a_screen_and_stays_small(browser, tmp_path):
    site.write(ROOT / "results", tmp_path)
    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < 25e6
    assert all(p.stat().st_size < 1.5e6 for p in files if "experiments" in p.parts)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((tmp_path / "index.html").as_uri())
    size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert size[0] <= 1280 and size[1] <= 800
    page.close()
