"""Real tables of the gallery: each is explained by the law that its page names."""

import runpy
import time
from pathlib import Path

import pytest

from nalm.discover import problem

GALLERY = Path(__file__).parent.parent / "examples" / "gallery"
LAWS = {  # what a law on the front has; the first law has it unless noted
    "kepler": "axis**(3/2)",
    "hubble": "*distance",
    "trees": "diameter**2*height",
    "lamp": "temperature**4",
    "leavitt": "*log_period",
    "oranges": "size/(exp(",
    "puromycin": "(concentration + 0.06",  # on the front: twelve rows do not tell it from others
    "adsorption": "/pressure",
    "galileo": "height",  # seven rows leave the form open
    "cars": "speed",  # and so does the scatter of fifty
}
LISTED = ("puromycin", "adsorption")


def test_at_least_ten_tables_are_shipped_and_say_where_they_are_from():
    tables = {p.stem: p for p in (GALLERY.parent / "data").glob("*.csv")}
    assert len(tables) >= 10 and set(tables) == set(LAWS)
    for name, path in tables.items():
        lines = path.read_text("utf-8").splitlines()
        assert "Source: " in " ".join(line for line in lines if line.startswith("#")), name
        assert f"../data/{name}.csv" in (GALLERY / f"plot_{name}.py").read_text("utf-8")


@pytest.mark.system
@pytest.mark.parametrize("name", LAWS)
def test_a_real_table_is_explained(name, monkeypatch, capsys):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(GALLERY)
    monkeypatch.setattr(
        problem, "CLOCK", lambda: time.process_time() / 10
    )  # slow and busy machines need more time
    found = runpy.run_path(f"plot_{name}.py")["found"]
    pyplot.close("all")
    front = [e.formula for e in found.equations_]
    assert any(LAWS[name] in formula for formula in front[: None if name in LISTED else 1]), front
    assert "no time" not in found.certificate_.tested and found.formula_ in capsys.readouterr().out
