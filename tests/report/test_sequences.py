"""Sequences and localisers on the page: every number from the runs, the pictures those that were kept."""

import base64
import struct
import zlib

import numpy as np
import pytest

from nalm import stats
from nalm.claims.lengths import WITHOUT
from nalm.config import Experiment
from nalm.experiments import EXPERIMENTS
from nalm.report import page as pages
from nalm.report.sections.pictures import coloured, localised, png
from nalm.report.sections.sequences import by_length as blocks_of
from nalm.report.sections.sequences import sequences
from nalm.report.study import studies
from nalm.results.curves import points
from nalm.results.runs import Runs
from nalm.results.store import Store

GIVEN, NMU, *_ = EXPERIMENTS["mnist/sequence-product"].cases
COUNT = EXPERIMENTS["mnist/count"].cases[:2]
COLOUR = EXPERIMENTS["mnist/colour"].cases[0]
STEPS = np.array([0, 1_935, 3_870])


def made(case, seeds, measures, validation, test, steps=STEPS):
    n = len(seeds)
    return Runs(
        cases=[case] * n,
        seeds=list(seeds),
        steps=[steps] * n,
        validation=[np.array(v, float) for v in validation],
        test=[np.array(t, float) for t in test],
        sparsity=[np.linspace(0.5, 0, len(steps))] * n,
        weights=[{"0.weight": np.ones((1, 2))}] * n,
        trajectories=[{"0.weight": np.ones((len(steps), 1, 2), np.float32)}] * n,
        formulas=["a*b"] * n,
        thresholds=[case.threshold.value] * n,
        seconds=[0.5] * n,
        modes=["eager"] * n,
        resets=[0] * n,
        records=measures,
    )


def by_length(case, errors):
    """Errors that grow tenfold with the length, and shares of right results."""
    lengths = case.task.lengths
    found = {f"test.{n}.error": np.array(errors) * 10.0 ** (n % 20) for n in lengths}
    return found | {f"test.{n}.right": np.array([0.0, 0.5, 0.75]) for n in lengths}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    shown = {
        "examples.input": np.arange(4 * 2 * 42 * 42, dtype=float).reshape(4, 2, 42, 42) % 256,
        "examples.seen": np.zeros((4, 2, 2, 42, 42)),
        "examples.digits": np.array([[1.0, 2], [3, 4], [5, 6], [7, 8]]),
        "examples.read": np.array([[1.04, 2], [3, 4], [5, 6], [7, 8]]),
        "test.confusion": np.zeros((2, 10, 10)),
    }
    with Store(folder, create=True) as store:
        store.begin("nalm run mnist", "2.9")
        for name, cases in (("product", (GIVEN, NMU)), ("count", COUNT), ("colour", (COLOUR,))):
            store.register(Experiment(f"mine/{name}", "made by hand", cases, (0, 1)))
        for case, errors in ((GIVEN, ([9, 1, 5], [9, 3, 5])), (NMU, ([9, 4.8, 1], [9, 4.9, 1]))):
            lows = [[90, 1, 2], [90, 1, 2]]
            store.save(made(case, (0, 1), [by_length(case, e) for e in errors], lows, lows))
        for case in COUNT:
            low = [[1, 0.01, 0.02]]
            store.save(made(case, (0,), [by_length(case, [9, 1, 5])], low, low))
        store.save(made(COLOUR, (0,), [shown], [[0.9, 0.5, 0.4]], [[0.9, 0.6, 0.5]]))
    return folder


def test_success_and_errors_by_length(folder):
    (study,) = [s for s in studies(folder) if s.name == "mine/product"]
    (block,) = blocks_of(study)
    reference, nmu = block["rows"]
    assert block["what"] == "products" and block["lengths"] == list(range(1, 21))
    assert (reference["name"], nmu["name"], nmu["epochs"]) == ("reference", "NMU", 1_000)
    cell = nmu["cells"][1]  # length 2: errors 480 and 490 below a limit of 489.6
    rate = stats.wilson(1, 2)
    assert (cell["solved"], cell["n"], cell["low"], cell["high"]) == (1, 2, rate.low, rate.high)
    assert cell["error"] == pytest.approx(485) and cell["published"] == 1.0
    assert cell["step"] == pytest.approx(1_935) and cell["verdict"] == "cannot tell"
    assert nmu["cells"][0]["verdict"] == "cannot tell"  # .9, and ours is 1 of 2
    errors, success = block["figures"]
    assert [t["name"] for t in errors["data"]] == ["reference", "NMU", "limit"]
    assert errors["layout"]["yaxis"]["type"] == "log" and errors["layout"]["xaxis"]["type"] == "linear"
    assert [t["name"] for t in success["data"]] == ["NMU", "NMU, published"]
    assert success["data"][1]["y"][:3] == [0.9, 1.0, 1.0]


def test_every_evaluation_of_a_sequence_is_kept(tmp_path):
    """Limits are known late: which evaluation is the first below one cannot be said when a run is stored."""
    steps, errors = np.arange(201) * 1_935, np.linspace(9, 1, 201)
    measures = {f"test.{n}.{what}": errors for n in NMU.task.lengths for what in ("error", "right")}
    runs = made(NMU, (0,), [measures], [errors], [errors], steps)
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run mnist", "2.9")
        store.register(Experiment("mine/product", "made by hand", (NMU,), (0,)))
        store.save(runs)
        (o,) = store.outcomes("mine/product")
        assert points(store, o)["steps"].tolist() == steps.tolist()
    # there is no reference
    assert WITHOUT in pages.write(tmp_path, tmp_path / "page.html").read_text("utf-8")


def test_other_runs_have_no_lengths(folder):
    (study,) = [s for s in studies(folder) if s.name == "mine/colour"]
    assert sequences(study) == {"blocks": [], "warning": ""}


def test_pictures_of_localisers_are_the_stored_ones(folder):
    (study,) = [s for s in studies(folder) if s.name == "mine/colour"]
    (found,) = localised(study)
    assert len(found["samples"]) == 4 and found["samples"][0]["digits"] == "1 and 2"
    assert found["samples"][0]["read"] == "1.0 and 2.0"
    image = np.arange(2 * 42 * 42).reshape(2, 42, 42) % 256
    assert found["samples"][0]["pictures"][0] == png(coloured(image.astype(float)))
    assert len(found["samples"][0]["pictures"]) == 3


def test_a_png_holds_the_pixels():
    pixels = np.random.RandomState(0).randint(0, 256, (5, 3, 3)).astype(np.uint8)
    data = base64.b64decode(png(pixels).partition(",")[2])
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and struct.unpack(">II", data[16:24]) == (3, 5)
    at = data.index(b"IDAT")
    (length,) = struct.unpack(">I", data[at - 4 : at])
    rows = zlib.decompress(data[at + 4 : at + 4 + length])
    assert rows == b"".join(b"\0" + row.tobytes() for row in pixels)


def test_each_channel_has_its_colour():
    both = coloured(np.array([[[255.0, 0.0]], [[0.0, 255.0]]]))
    assert both.tolist() == [[[213, 94, 0], [86, 180, 233]]]


def test_the_page_has_sequences_and_pictures_of_localisers(folder, tmp_path):
    text = pages.write(folder, tmp_path / "page.html").read_text("utf-8")
    assert "Sequences: products" in text and "Sequences: counts" in text
    assert "theirs 0.90, cannot tell" in text and "theirs 1.00, cannot tell" in text
    assert text.count('alt="second localiser"') == 4 and "read 1.0 and 2.0" in text


@pytest.mark.slow
def test_a_browser_draws_both_figures_and_all_pictures(browser, folder, tmp_path):
    path = pages.write(folder, tmp_path / "page.html", "mine")
    page, said = browser.new_page(), []
    page.on("console", lambda m: said.append(m.text))
    page.on("pageerror", lambda e: said.append(str(e)))
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-drawn=yes]", timeout=120_000)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(
        "[...document.querySelectorAll('.given')].every(n => n.querySelector('.main-svg'))"
    )
    assert said == []
    drawn = page.evaluate("[...document.querySelectorAll('.given')].map(n => n.data.length)")
    assert drawn == [3, 1, 3, 2]  # errors and success, of counts and of products
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    sizes = page.evaluate("[...document.querySelectorAll('.pictures img')].map(i => i.naturalWidth)")
    assert sizes == [42] * 12
