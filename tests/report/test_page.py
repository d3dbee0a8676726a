"""The page in a real browser: offline, without errors, every figure drawn, every number recomputed from its runs."""

import base64
import gzip
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from made import case, runs

from nalm import stats
from nalm.config import Arithmetic, Case, Experiment, Layer
from nalm.experiments import EXPERIMENTS
from nalm.report import page as pages
from nalm.results.store import Store

pytestmark = [
    pytest.mark.system,
    pytest.mark.xdist_group("page"),
]  # one process makes the page and opens the browser
ROOT = Path(__file__).parent.parent.parent
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}


PART = ("thesis/ch3/mul", "thesis/ch5/l1", "logic/rules")
BESIDE = ("beyond/ladder", "beyond/laws", "beyond/composition", "beyond/ode")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """The page of the runs of a part of the shipped results; all of them are opened by the slow tests."""
    folder = tmp_path_factory.mktemp("results")
    for name in (*PART, *BESIDE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for path in (ROOT / "results" / name).parent.glob(f"{Path(name).name}.*"):
            if ".tally." not in path.name:  # test_tallies.py looks at those
                shutil.copy(path, folder / name.rpartition("/")[0])
    return pages.write(folder, tmp_path_factory.mktemp("page") / "report.html")


@pytest.mark.slow
def test_the_page_of_all_results_opens_and_stays_small(browser, tmp_path):
    path = pages.write(ROOT / "results", tmp_path / "report.html")
    assert path.stat().st_size < 15e6
    with Visit(browser, path) as v:
        assert v.said == []


# figures that are drawn: those near the window at first, all before the page is printed
DRAWN = "[...document.querySelectorAll('.figure')].filter(n => n.querySelector('.main-svg')).length"


class Visit:
    """A page opened from disk, all its figures drawn, with everything it said and asked for."""

    def __init__(self, browser, path, width=1280, height=900, scheme="light"):
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda m: self.said.append(m.text))
        self.page.on("pageerror", lambda e: self.said.append(str(e)))
        self.page.on("dialog", lambda d: (self.said.append(d.message), d.dismiss()))
        self.page.on("request", lambda r: self.asked.append(r.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("body[data-drawn=yes]", timeout=120_000)
        self.first = self.page.evaluate(DRAWN)
        self.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        self.page.wait_for_function(
            f"{DRAWN} == document.querySelectorAll('.figure').length", timeout=120_000
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()


@pytest.fixture(scope="module")
def desk(browser, shipped):
    """The page of the shipped results on a desk, for the tests that look and click."""
    with Visit(browser, shipped) as found:
        yield found.page


def data_of(path):
    text = re.search(
        r'<script type="application/gzip" id="data">(.*?)</script>', path.read_text("utf-8")
    ).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def test_it_opens_from_disk_without_network_or_error_and_draws_every_figure(browser, shipped, size):
    scheme = "dark" if size == "phone" else "light"
    with Visit(browser, shipped, *WIDTHS[size], scheme=scheme) as v:
        assert v.said == []
        assert [url for url in v.asked if not url.startswith(("file:", "data:", "blob:"))] == []
        drawn = v.page.evaluate(
            "[...document.querySelectorAll('.figure')]"
            ".map(n => [n.className, (n.data || []).length, n.querySelectorAll('svg').length])"
        )
        assert len(drawn) > 20 and v.first <= 8  # at first only what is near the window
        for name, traces, pictures in drawn:
            assert traces > 0 and pictures > 0, name
        assert v.page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[size][0]


def test_every_trace_of_the_panels_is_on_the_screen(desk, shipped):
    for i, e in enumerate(data_of(shipped)["experiments"]):
        for j, g in enumerate(e["panels"]):
            query = f".panels[data-experiment='{i}'][data-group='{j}']"
            expected = sum(x is not None for t in g["figure"]["data"] for x in t["x"])
            marks = desk.evaluate(f'document.querySelectorAll("{query} .scatterlayer .point").length')
            assert marks == expected


def test_hovering_shows_n_and_clicking_shows_the_runs(desk):
    mark = desk.locator(".panels .scatterlayer .point").first
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    desk.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    hover = desk.locator(".panels .hoverlayer .hovertext")
    hover.first.wait_for(timeout=5_000)
    assert "n = 25 (Wilson" in hover.first.text_content()
    desk.locator("button.number").first.click()
    dialog = desk.locator("#runs[open]")
    assert dialog.locator("tbody tr").count() == 25
    assert "25 runs" in dialog.locator("h3").text_content()
    desk.keyboard.press("Escape")


def test_choosing_another_case_changes_its_curves(desk):
    def first():
        return desk.evaluate("document.querySelector('.curves').data[0].y.slice(0, 20).join()")

    before = first()
    desk.locator("select.case").first.select_option(index=3)
    desk.wait_for_timeout(300)
    assert first() != before


def test_a_filter_by_operation_changes_what_is_visible(desk):
    def seen():
        groups = "[...document.querySelectorAll('.group')]"
        return desk.evaluate(groups + ".filter(n => n.offsetParent).map(n => n.dataset.operation)")

    every = set(seen())
    assert every >= {"multiply", "divide", "xor"}
    desk.select_option("#operation", "divide")
    assert set(seen()) == {"divide"}
    assert not desk.locator("section[id='thesis/ch3/mul']").is_visible()
    desk.select_option("#operation", "")
    assert set(seen()) == every


def test_the_bar_is_low_and_does_not_cover_a_heading_that_a_link_leads_to(desk):
    desk.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
    desk.locator("nav a[href='#ladder']").click()
    below = "document.querySelector('#ladder h2').getBoundingClientRect().top"
    bar = desk.evaluate("document.querySelector('.bar').getBoundingClientRect()")
    assert bar["top"] == 0 and bar["height"] < 70 and desk.evaluate(below) >= bar["height"] - 1
    desk.locator(".bar a").click()
    assert desk.locator("nav a").first.is_visible()


def recomputed(rows, name):
    """An interval of the page from the rows of runs inside the page: seed, outcome, solved at, ..."""
    solved = [r for r in rows if r[1] == "solved"]
    if name == "success":
        return stats.success_rate([r[1] == "solved" for r in rows])
    if name == "sparsity":
        return stats.sparsity([r[6] for r in solved])
    return (stats.solved_at if name == "solved_at" else stats.median)([r[2] for r in solved])


def test_every_interval_on_the_page_follows_from_the_runs_inside_it(shipped):
    count = 0
    for e in data_of(shipped)["experiments"]:
        for g in e["panels"]:
            for cell in g["cells"]:
                for name in ("success", "solved_at", "median", "sparsity"):
                    ours = recomputed(e["runs"][cell["case"]], name)
                    for end in ("estimate", "low", "high"):
                        shown = cell[name][end]
                        value = getattr(ours, end)
                        if shown is None:
                            assert not np.isfinite(value)
                        else:
                            np.testing.assert_allclose(shown, value, rtol=1e-3, atol=1e-12)
                    assert cell[name]["n"] == ours.n
                    count += 1
                assert cell["right"]["n"] == len(e["runs"][cell["case"]])
    here = {e["name"] for e in data_of(shipped)["experiments"]}
    assert here == set(PART)
    assert count == 4 * sum(len(e.cases) for e in EXPERIMENTS.values() if e.name in here)


def test_marks_and_whiskers_are_the_intervals_of_the_table(shipped):
    for e in data_of(shipped)["experiments"]:
        cells = {c["case"]: c for g in e["panels"] for c in g["cells"]}
        for g in e["panels"]:
            for k, trace in enumerate(g["figure"]["data"]):
                name = ("success", "solved_at", "sparsity")[k % 3]
                for i, key in enumerate(trace["customdata"]):
                    shown = cells[key][name]
                    assert trace["y"][i] == pytest.approx(shown["estimate"], rel=1e-6)
                    if shown["high"] is not None:
                        high = trace["y"][i] + trace["error_y"]["array"][i]
                        assert high == pytest.approx(shown["high"], rel=1e-6)


def test_the_trials_of_the_ladder_are_on_the_page_with_the_published_best(desk, shipped):
    text = desk.locator("#ladder").text_content()
    assert (
        "0 false certificates in" in re.sub(r"\s+", " ", text) and "two-layer product 100 U[1.1,1.2)" in text
    )
    (rows,) = [b["rows"] for b in data_of(shipped)["benchmarks"] if b["kind"] == "ladder"]
    assert all(r["right"] >= 0.99 * r["problems"] for r in rows if r["suite"] == "cells")
    hardest = next(r for r in rows if r["cell"] == "two-layer product 100 U[1.1,1.2)")
    assert hardest["published_best"] == 0 and hardest["right"] == hardest["problems"] == 40


def test_every_failed_run_is_classified(shipped):
    for e in data_of(shipped)["experiments"]:
        rows = [row for group in e["runs"].values() for row in group]
        assert sum(n for _, n, _ in e["failures"]) == sum(r[1] != "solved" for r in rows)
        assert all((r[10] == "solved") == (r[1] == "solved") for r in rows)


def test_the_page_stays_small(shipped):
    assert shipped.stat().st_size < 12e6


def test_hostile_names_are_shown_and_not_executed(browser, tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    hostile = Case((Layer(evil),), Arithmetic("multiply", case().train, case().test))
    with Store(tmp_path / "out", create=True) as store:
        store.begin(f"nalm run {evil}", evil)
        store.register(Experiment(evil, evil, (hostile,), (0, 1)))
        table = runs(cases=[hostile] * 2)
        table.formulas[:] = [evil, "a*b"]
        store.save(table)
    path = pages.write(tmp_path / "out", tmp_path / "evil.html")
    with Visit(browser, path) as v:
        v.page.locator("button.number").first.click()
        v.page.locator("#runs[open] td").first.wait_for()
        assert v.said == [] and [u for u in v.asked if not u.startswith(("file:", "data:"))] == []
        assert evil in v.page.evaluate("document.querySelector('.experiment h2').textContent")
        assert v.page.evaluate("document.querySelectorAll('img').length") == 0
        assert v.page.evaluate("document.querySelectorAll('script').length") == 3


def test_a_partial_store_says_what_is_missing(browser, tmp_path):
    quick = EXPERIMENTS["quick"]
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run quick", "2")
        store.register(quick)
        store.save(runs(cases=[quick.cases[0]] * 2))
    path = pages.write(tmp_path, tmp_path / "part.html")
    with Visit(browser, path) as v:
        text = v.page.evaluate("document.querySelector('.experiment').textContent")
        assert "268 runs of this experiment are not here yet" in text and "No run yet of" in text


def test_an_empty_store_gives_a_page_that_says_so(browser, tmp_path):
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run quick", "2")
        store.register(Experiment("mine", "Nothing yet", (case(),), (0,)))
    path = pages.write(tmp_path, tmp_path / "none.html")
    with Visit(browser, path) as v:
        assert "no run has finished" in v.page.evaluate("document.body.textContent") and v.said == []
