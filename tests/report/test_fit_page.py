"""The page of a fit in a real browser: offline, without an error, the law set, both figures drawn."""

import sys

import numpy as np
import pytest
import sympy

from nalm.cli import fit_output, fit_words
from nalm.discover.certificate.verdict import LAW_MEANING
from nalm.errors import NALMError
from nalm.report import fit_page as pages

pytestmark = pytest.mark.xdist_group("page")
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


TWO = {"name": "", "value": 2.0, "error": 0.01, "low": 1.98, "high": 2.02}


def page(target="y", column="a", rows=100, verdict="exact"):
    x = np.random.default_rng(0).uniform(1, 2, rows)
    law = {
        "target": target,
        "formula": "2*sqrt(a)",
        "latex": r"2 \sqrt{a}",
        "python": "2*a**0.5",
        "verdict": verdict,
        "tested": "the law holds.",
        "meaning": LAW_MEANING[verdict],
        "domain": {"a": [1.0, 2.0]},
        "renamed": {"a": column} if column != "a" else {},
        "explained": fit_words.format_share(0.5),
        "certainty": fit_output.certainty({"constants": [TWO], "offered": [], "alternatives": ["a + 1"]}),
        "candidates": [{"formula": column, "size": 1, "error": None, "stage": "additive"}],
        "mathml": pages.mathml(2 * sympy.sqrt(sympy.Symbol("a"))),
        "figures": pages.figures(target, 2 * x**0.5, 2 * x**0.5),
    }
    about = {"file": f"{column}.csv", "columns": [column], "rows": rows, "seconds": 0.5}
    return about | {"warnings": [f"Column {column} is odd."], "dropped": "1 of 2 rows dropped", "laws": [law]}


@pytest.mark.parametrize(("width", "scheme", "name"), [(1280, "light", "mass"), (390, "dark", EVIL)])
def test_the_page_opens_from_disk_and_draws_with_any_column_names(browser, tmp_path, width, scheme, name):
    path = pages.write(page(name, name), tmp_path / "deep" / "fit.html")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    tab, said, asked = context.new_page(), [], []
    tab.on("console", lambda m: said.append(m.text))
    tab.on("pageerror", lambda e: said.append(str(e)))
    tab.on("dialog", lambda d: (said.append(d.message), d.dismiss()))
    tab.on("request", lambda r: asked.append(r.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("body[data-drawn=yes]", timeout=30_000)
    assert said == [] and [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    marks = "[...document.querySelectorAll('.figure')].map(n => n.querySelectorAll('.scatterlayer .point').length)"
    assert tab.evaluate(marks) == [100, 100]
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator("math msqrt").bounding_box()["height"] > 10
    text = tab.evaluate("document.body.innerText")
    assert name in text and "1 of 2 rows dropped." in text and "exact" in text
    context.close()


def test_many_rows_are_thinned_and_the_worst_are_kept():
    y = np.linspace(0, 1, 50_000)
    predicted = y.copy()
    predicted[12_345] += 7
    predicted[0] = np.nan
    found = pages.figures("y", y, predicted)
    assert found["drawn"] <= pages.POINTS and found["rows"] == 50_000
    assert min(found["residual"]["data"][1]["y"]) == pytest.approx(-7)


def test_a_law_without_a_finite_prediction_has_an_empty_figure():
    assert pages.figures("y", np.ones(3), np.full(3, np.inf))["drawn"] == 0
    assert "Nothing is proven" in pages.render(page(verdict="none"))


def test_the_page_says_how_well_the_numbers_are_known_and_which_forms_fit_as_well():
    text = pages.render(page())
    assert "2 is in [1.98, 2.02] with 95% confidence." in text and "cannot tell it from: a + 1" in text


def test_the_page_lists_the_numbers_of_every_law_with_their_intervals():
    other = {"formula": "2*a", "size": 3, "error": 0.1, "stage": "power", "worse": 7.0, "score": 0.25}
    law = page()["laws"][0] | {"candidates": [other | {"numbers": [fit_words.with_interval(TWO)]}]}
    text = pages.render(page() | {"laws": [law]})
    assert '<span class="number">2.000 ± 0.020</span>' in text and "<td>0.25</td>" in text


def test_a_page_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NALMError, match="could not be written"):
        pages.write(page(), tmp_path / "file" / "x.html")


def test_a_page_without_plotly_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(NALMError, match=r"pip install 'nalm\[report\]'"):
        pages.needed()


def test_a_law_of_one_column_is_drawn_over_it_with_its_interval_and_the_front():
    x = np.linspace(1, 2, 50)
    wide = np.stack([2 * x - 0.1, 2 * x + 0.1], 1)
    curve = pages.Curve("a", x, x, 2 * x, wide)
    front = [(3, 0.1, "2*a"), (5, 0.05, "2*a + 1"), (7, None, "odd")]
    found = pages.figures("y", 2 * x, 2 * x, wide, curve, front)
    below, above, law, points = found["curve"]["data"]
    assert below["y"][0] == pytest.approx(1.9) and above["fill"] == "tonexty" and len(law["x"]) == 50
    assert points["x"] == pytest.approx(x.tolist())
    assert found["fit"]["data"][1]["error_y"]["array"][0] == pytest.approx(0.1)
    assert found["front"]["data"][1]["x"] == (3, 5)
    assert {"curve", "front"} & set(pages.figures("y", 2 * x, 2 * x)) == set()
    text = pages.render(page() | {"laws": [page()["laws"][0] | {"figures": found}]})
    assert 'data-kind="curve"' in text and "95% intervals" in text
