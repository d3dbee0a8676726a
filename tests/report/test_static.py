"""Figures and tables for papers."""

from dataclasses import replace
from pathlib import Path

import pytest
from made import outcomes

from nalm.config.labels import labels, places
from nalm.errors import NALMError
from nalm.landscapes import compute
from nalm.report import static
from nalm.report.figures import panels, safe, span
from nalm.results.summary import summarise

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("kind", "magic"),
    [
        ("pdf", b"%PDF"),
        pytest.param("svg", b"<?xml", marks=pytest.mark.slow),
        pytest.param("png", b"\x89PNG", marks=pytest.mark.slow),
    ],
)
@pytest.mark.system
def test_each_figure_becomes_a_file_with_its_table(tmp_path, kind, magic):
    paths = static.write(ROOT / "results", tmp_path, kind, "thesis/ch3/div")
    assert [p.suffix for p in paths] == [f".{kind}", f".{kind}", ".tex"]
    assert all(p.read_bytes().startswith(magic) for p in paths[:2])
    assert all(p.stat().st_size > 5_000 for p in paths[:2])


def test_landscapes_are_written_as_figures(tmp_path):
    surface, curves = (static._landscape(compute(f"landscapes/{name}")) for name in ("nmu", "ramp"))
    assert static.save(surface, tmp_path / "a.png").stat().st_size > 5_000
    assert static.save(curves, tmp_path / "b.svg").stat().st_size > 5_000


def test_a_table_holds_every_case_and_its_interval():
    group = summarise(outcomes("NMU", [True] * 25) + outcomes("Odd_&%Name", [False] * 5))
    cases = [s.case for s in group]
    text = static.latex(group, labels(cases), places(cases))
    assert r"NMU & U[1,2) & 1.00 [0.87, 1.00]" in text and r"Odd\_\&\%Name" in text
    assert text.count(r"\\") == 3 and "-- & --" in text


def test_another_format_is_refused(tmp_path):
    with pytest.raises(NALMError, match="pdf, svg, png"):
        static.write(ROOT / "results", tmp_path, "gif")


def test_the_whiskers_of_few_runs_do_not_stretch_the_axis():
    two = outcomes("NMU", [True] * 2, at=20_000)
    few = summarise([replace(two[0], solved_at=5_000), two[1]])
    many = summarise(outcomes("NALU", [True] * 25, at=3_000))
    assert span(few + many, "solved_at")[1] < 25_000 < few[0].solved_at.high
    assert span([], "solved_at") == [-0.06, 1.12]


def test_marks_of_units_on_one_range_do_not_overlap():
    group = summarise(outcomes("NMU", [True] * 5) + outcomes("NALU", [False] * 5))
    cases = [s.case for s in group]
    figure = panels(group, labels(cases), places(cases), {"NMU": ("#000", "circle"), "NALU": ("#111", "x")})
    spots = [t["x"][0] for t in figure["data"] if t["x"] and t["yaxis"] == "y"]
    assert len(set(spots)) == 2 and all(-0.5 < p < 0.5 for p in spots)
    assert "n = 5" in figure["data"][0]["text"][0]


def test_labels_hold_no_markup():
    assert safe("<b>&") == "&lt;b&gt;&amp;"
