"""Networks that read two digits on the page: every number from the runs inside it."""

from types import SimpleNamespace

import numpy as np
import pytest

from nalm import stats
from nalm.config import Experiment
from nalm.experiments.mnist.colour import COLOURS
from nalm.experiments.mnist.two_digits import DIV, MUL, NMU, NRU, lasting
from nalm.report import page as pages
from nalm.report.sections.folds import Folds
from nalm.report.sections.two_digits import two_digits
from nalm.report.study import studies
from nalm.results.runs import Runs
from nalm.results.store import Store

SHARES = ("output.strict", "output.rounded", "output.decimals", "label1.strict", "label1.rounded")
SHARES += ("label2.strict", "label2.rounded")


def made(case, right, chosen=2):
    """Three epochs of some folds with these shares of right test outputs at the end."""
    n = len(right)
    steps = np.arange(3) * case.epoch
    confusion = np.zeros((2, 10, 10))
    confusion[0] = np.diag(np.arange(10.0))
    confusion[1, 3, 8] = 5
    measures = []
    for r in right:
        curve = np.array([0.0, r / 2, r])
        found = {f"{which}.{name}": curve for which in ("seen", "test") for name in SHARES}
        pictures = {"pairs.input": np.full((2, 2, 28, 28), 9.0), "pairs.digits": np.array([[1.0, 2], [3, 4]])}
        pictures |= {"pairs.read": np.array([[1.25, 2], [3, 4]])}
        measures.append(found | {"test.error": curve, "test.confusion": confusion, **pictures})
    paths = (
        {"0.weight": np.linspace(0.5, 1, 3).reshape(3, 1, 1).repeat(2, -1)} if case in (NMU_, NRU_) else {}
    )
    return Runs(
        cases=[case] * n,
        seeds=list(range(n)),
        steps=[steps] * n,
        validation=[1 - m["seen.output.strict"] for m in measures],
        test=[1 - m["test.output.strict"] for m in measures],
        sparsity=[np.array([0.5, 0.1, 0.0])] * n,
        weights=[{name: p[-1] for name, p in paths.items()}] * n,
        trajectories=[paths] * n,
        formulas=["a*b"] * n,
        thresholds=[0.1] * n,
        seconds=[0.5] * n,
        modes=["eager"] * n,
        resets=[0] * n,
        records=measures,
    )


MUL_, NMU_, DIV_, NRU_ = (lasting(case, 2) for case in (MUL, NMU, DIV, NRU))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    with Store(folder, create=True) as store:
        store.begin("nalm run mnist", "2.0")
        for name, cases in {"mnist/product": (MUL_, NMU_), "mnist/division": (DIV_, NRU_)}.items():
            store.register(Experiment(name, "Two digits", cases, (0, 1, 2)))
            for case in cases:
                store.save(made(case, [0.5, 0.75, 1.0]))
    return folder


def blocks(folder):
    return {study.name: two_digits(study) for study in studies(folder, "mnist")}


def test_accuracies_are_means_over_folds_at_the_judged_epoch(folder):
    (block,) = blocks(folder)["mnist/product"]
    ours = stats.mean([50, 75, 100], 0, 100)
    for row in block["rows"]:
        assert row["epochs"] == 2
        for cell in row["cells"]:
            assert (cell["estimate"], cell["low"], cell["high"]) == (ours.estimate, ours.low, ours.high)
        assert len(row["cells"]) == 9  # digits and outputs of both sets, and test outputs in every sense
    marks = block["figures"][0]["data"][0]
    assert marks["y"] == [75] * 6 and marks["error_y"]["array"] == [ours.high - 75] * 6


def test_curves_paths_and_confusions_are_those_of_the_runs(folder):
    (block,) = blocks(folder)["mnist/product"]
    _, outputs, epochs, paths, digits = block["figures"]
    dashed = {t["name"]: t["y"] for t in outputs["data"] if t["line"].get("dash") == "dash"}
    assert dashed == {"NMU, published": [59.3, 59.3]}  # the runs are of two epochs, the number of a thousand
    assert [t["y"][-1] for t in outputs["data"] if t["name"] == "NMU"] == [75]
    assert epochs["data"][0]["x"] == [0, 1, 2] and epochs["data"][0]["y"] == [0, 37.5, 75]
    assert len(epochs["data"]) == 4  # two digits of two cases
    assert [d["name"] for d in paths["data"]] == ["NMU"] * 3 + ["solution"]
    assert paths["data"][0]["x"] == [0.5, 0.75, 1.0] and (paths["data"][-1]["x"], paths["data"][-1]["y"]) == (
        [1],
        [1],
    )
    assert digits["data"][0]["y"][3] == 100 * 3 / 8 and digits["data"][0]["y"][0] is None
    counts = block["confusions"][0]["data"][0]["text"]
    assert counts[3][8] == 5 and counts[9][9] == 9
    assert block["samples"][0]["read"] == "1.25 and 2.00" and block["samples"][0]["digits"] == "1 and 2"


def test_only_lines_in_the_legend_take_room_above_the_plot(folder):
    (block,) = blocks(folder)["mnist/product"]
    _, outputs, epochs, *_ = block["figures"]
    assert [t["name"] for t in outputs["data"] if not t.get("showlegend", True)] == ["NMU, published"]
    assert outputs["layout"]["height"] == epochs["layout"]["height"]


def test_the_published_line_is_of_the_share_that_the_case_counts(tmp_path):
    """The colour study counts outputs that are right when rounded, and so do its published numbers."""
    cases = [lasting(case, 2) for case in COLOURS.values()]
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run mnist", "2.0")
        store.register(Experiment("mnist/colour", "Colour", tuple(cases), (0, 1, 2)))
        for case in cases:
            store.save(made(case, [0.5, 0.75, 1.0]))
    (block,) = blocks(tmp_path)["mnist/colour"]
    dashed = [t["y"] for t in block["figures"][1]["data"] if t["line"].get("dash") == "dash"]
    assert dashed == [[68.9, 68.9], [67.9, 67.9]]
    assert "A dashed line is the published share" in text_of(tmp_path, "mnist/colour")


def test_a_dashed_line_is_explained_only_where_one_is_drawn(folder, tmp_path):
    assert "A dashed line is the published share" in text_of(folder, "mnist/product")
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run mine", "2.0")
        store.register(Experiment("mine", "Nothing is published about it", (NMU_,), (0, 1, 2)))
        store.save(made(NMU_, [0.5, 0.75, 1.0]))
    text = text_of(tmp_path, "mine")
    assert "Solid lines of digits read" in text and "A dashed line" not in text


def text_of(folder, name):
    return pages.write(folder, folder / "page.html", name).read_text("utf-8")


LOOK = """() => [...document.querySelectorAll('.given')].filter(n => n.querySelector('.main-svg')).map(n => {
  const boxes = (what) => [...n.querySelectorAll(what)].map(e => e.getBoundingClientRect());
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const icons = boxes('.modebar-btn'), names = boxes('.legendtext'), plot = boxes('.plot, .gridlayer')[0];
  const hidden = [...n.querySelectorAll('.xtick text')].filter(t => getComputedStyle(t).display === 'none');
  return {
    icons: icons.length, names: names.length, hidden: hidden.map(t => t.textContent),
    covered: names.filter(a => icons.some(b => meet(a, b))).length,
    low: names.filter(a => a.bottom > plot.top + 1).length,
  };
})"""


@pytest.mark.system
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ["mnist/division", "mnist/product"])
def test_no_tick_label_is_hidden_and_no_legend_lies_under_the_icons(browser, folder, tmp_path, width, name):
    path = pages.write(folder, tmp_path / "page.html", name)
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-drawn=yes]", timeout=120_000)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_function(
        "[...document.querySelectorAll('.given')].every(n => n.querySelector('.main-svg'))"
    )
    for figure in page.query_selector_all(".given"):
        if figure.is_visible():
            figure.hover()  # which shows its icons
    found = page.evaluate(LOOK)
    page.close()
    assert sum(f["names"] > 0 for f in found) >= 5 and sum(f["icons"] > 0 for f in found) >= 5
    assert [f["hidden"] for f in found if f["hidden"]] == []
    assert [f for f in found if f["covered"] or f["low"]] == []


def test_digits_that_are_read_wrongly_are_named_by_layer_and_fold(folder):
    (block,) = blocks(folder)["mnist/product"]
    names = [row["name"] for row in block["rows"]]
    assert block["missed"] == [f"{name}, fold {seed}: 3 as 8" for name in names for seed in (0, 1, 2)]
    assert block["jumps"] and not blocks(folder)["mnist/division"][0]["jumps"]


def test_of_many_wrongly_read_digits_the_number_is_told():
    counts = np.zeros((2, 10, 10))
    counts[0, 1:, 1] = 4
    curves = {"test.output.strict": np.ones(1), "test.confusion": counts.flatten()}
    study = SimpleNamespace(curves={(NMU_.key, 0): curves}, runs={NMU_.key: [SimpleNamespace(seed=0)]})
    assert Folds(study, NMU_, "NMU").missed() == ["NMU, fold 0: 8 of 9 digits"]


def test_division_has_violins_of_every_fold(folder):
    (block,) = blocks(folder)["mnist/division"]
    violins = [f for f in block["figures"] if f["data"][0]["type"] == "violin"]
    assert len(violins) == 1 and violins[0]["data"][1]["y"] == [50, 75, 100]
    assert (block["figures"][4]["data"][-1]["x"], block["figures"][4]["data"][-1]["y"]) == ([1], [-1])


def test_shipped_files_show_the_same_without_pictures(folder, tmp_path):
    from nalm.results import files as shipped

    with Store(folder) as store:
        for name in store.experiments():
            shipped.ship(store, name, tmp_path)
    here, there = blocks(folder), blocks(tmp_path)
    for name in here:
        (one,), (two,) = here[name], there[name]
        assert one["rows"] == two["rows"] and one["confusions"] == two["confusions"]
        assert one["samples"] and not two["samples"]


def test_the_page_has_a_block_for_each_operation(folder, tmp_path):
    path = pages.write(folder, tmp_path / "page.html", "mnist")
    text = path.read_text("utf-8")
    assert "Two digits: multiply" in text and "equal in five decimals" in text and "data:image/png" in text
    assert ".two_digits.0.confusions.0" in text and "core-hours" not in text
    assert "read wrongly in most test images: " in text


def test_every_command_of_the_runs_is_named(folder, tmp_path):
    from nalm.results import files as shipped

    with Store(folder) as store:
        path = shipped.ship(store, "mnist/product", tmp_path)
    about = shipped.about(path) | {"command": ["nalm run one", "nalm run two"]}
    path.with_suffix(".json").write_text(shipped.described(about))
    text = pages.write(tmp_path, tmp_path / "page.html", "mnist/product").read_text("utf-8")
    assert "Made by <code>nalm run one</code> and <code>nalm run two</code>, nalm" in text


def test_a_path_ends_where_its_weights_are_not_finite(tmp_path):
    runs = made(NMU_, [0.5, 0.6])
    path = np.array([[[0.5, 0.5]], [[0.6, 0.6]], [[np.nan, 0.7]]])
    runs.trajectories[1] = {"0.weight": path}
    with Store(tmp_path, create=True) as store:
        store.begin("nalm run mnist", "2.0")
        store.register(Experiment("mnist/product", "Two digits", (NMU_,), (0, 1)))
        store.save(runs)
    (block,) = two_digits(studies(tmp_path)[0])
    lengths = [len(trace["x"]) for trace in block["figures"][3]["data"] if trace["name"] == "NMU"]
    assert lengths == [3, 2]
    pages.write(tmp_path, tmp_path / "page.html")


def test_runs_with_fewer_epochs_are_counted_apart_from_missing_ones(folder, tmp_path):
    found = {study.name: (study.missing, study.shorter) for study in studies(folder, "mnist")}
    assert found["mnist/product"] == (50, 6)  # two layers of five, three folds of ten, two epochs
    text = pages.write(folder, tmp_path / "page.html", "mnist/product").read_text("utf-8")
    assert "50 runs of this experiment are not here yet, 6 of them with fewer epochs only" in text
    assert "0 agree, 0 differ, of" in text


def test_other_experiments_have_no_block():
    from nalm.report.study import Study

    assert two_digits(Study("x", "x", [], [], [], {}, {})) == []
