"""nalm fit and nalm predict, as a person with a table would use them."""

import csv
import io
import json
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nalm import NALMRegressor, cli
from nalm.cli import fit as commands
from nalm.cli import fit_screen
from nalm.errors import NALMError

pytest.importorskip("sklearn", reason="scikit-learn is not installed")
ROOT = Path(__file__).parents[2]
PENDULUM = ROOT / "examples" / "pendulum.csv"


def run(*arguments: object):
    result = CliRunner().invoke(cli.app, [str(a) for a in arguments])
    if isinstance(result.exception, NALMError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def fitted(*arguments: object) -> dict:
    return json.loads(run("fit", *arguments, "--json").stdout)


def table(path: Path, **columns) -> Path:
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(columns)
        rows.writerows(zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True))
    return path


@pytest.fixture
def ab():
    return np.random.default_rng(3).uniform(1, 4, (2, 120))


def test_the_law_is_printed_as_source_to_paste():
    text = run("fit", PENDULUM, "--target", "period", "--latex", "--python", "--excel", "--c").stdout
    for part in (
        r"\sqrt{length}",
        "def law(length, mass):",
        "=2.006",
        "double law(double length, double mass)",
    ):
        assert part in text


def test_the_cells_of_a_formula_are_named_above_it(tmp_path, capsys):
    t, which = np.tile(np.linspace(1, 4, 9), 2), np.repeat(["old", "new"], 9)
    y = (
        np.where(which == "old", 2.0, 5.0)
        * t**2
        * np.exp(0.02 * np.random.default_rng(1).standard_normal(18))
    )
    found = NALMRegressor(stages=["power"]).fit(t[:, None], y, ["t"], groups=which)
    fit_screen.print_code(found.to_excel(), found)
    said = capsys.readouterr().out.splitlines()
    assert said == ["", "In the formula A2 is t; B2 is a, the own constant of its group.", "=B2*A2^(2)"]


def test_several_columns_have_a_line_on_how_many_measurements_lie_in_their_intervals(tmp_path, ab):
    y = 3 * ab[0] * ab[1] * np.exp(0.02 * np.random.default_rng(0).standard_normal(120))
    path = table(tmp_path / "d.csv", a=ab[0], b=ab[1], y=y)
    said = run("fit", path, "--target", "y", "--form", "k*a*b").stdout
    count = re.search(r"^(\d+) of 120 measurements lie in their 95% intervals\.$", said, re.M)
    assert count and 105 <= int(count[1]) <= 120
    exact = run("fit", table(tmp_path / "e.csv", a=ab[0], b=ab[1], y=ab[0] * ab[1]), "--target", "y").stdout
    assert "exact: " in exact and "measurements lie" not in exact


def test_the_pendulum_example_gives_its_law():
    result = run("fit", PENDULUM, "--target", "period")
    assert re.search(r"period = 2\.00606\d*\*sqrt\(length\)", result.stdout)
    assert "exact: the law holds to the rounding of float64 on 20 held-out rows." in result.stdout
    assert "Tested for length in [0.11, 2.452]." in result.stdout
    assert "period and law over" in result.stdout and any("\u2801" <= c <= "\u28ff" for c in result.stdout)
    assert max(map(len, result.stdout.splitlines())) <= 80 and result.stderr == ""


@pytest.mark.system
def test_a_fit_loads_no_torch_unless_the_law_is_saved(tmp_path):
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom nalm.cli import app\n"
        "result = CliRunner().invoke(app, sys.argv[1:])\nassert result.exit_code == 0, result.output\n"
        "print('torch' in sys.modules)"
    )
    words = [sys.executable, "-c", code, "fit", str(PENDULUM), "--target", "period"]
    assert subprocess.check_output(words, text=True).strip() == "False"
    saved = subprocess.check_output([*words, "--save", str(tmp_path / "law.json")], text=True)
    assert saved.strip() == "True" and (tmp_path / "law.safetensors").exists()


def test_json_holds_everything_and_is_alone_on_standard_output():
    found = fitted(PENDULUM, "--target", "period")
    assert found["verdict"] == "exact" and found["rows"] == 60 and found["columns"] == ["length", "mass"]
    assert found["domain"] == {"length": [0.11, 2.452]} and found["dropped"] == "" == "".join(
        found["warnings"]
    )
    assert found["python"].endswith("*length**0.5") and "sqrt{length}" in found["latex"]
    assert found["r2"] == pytest.approx(1) and found["seconds"] < 60
    keys = {"formula", "size", "error", "stage", "verdict", "worse", "score", "constants"}
    assert all(set(c) == keys for c in found["candidates"])


def test_under_noise_the_verdict_is_consistent_and_renamed_columns_are_explained(tmp_path, ab):
    a, b = ab
    y = 3 * a * b + np.random.default_rng(0).normal(size=120) * 0.3
    path = table(tmp_path / "d.csv", **{"mass (kg)": a, "lambda": b, "y": y})
    text = run("fit", path, "--target", "y", "--noise", 0.04).stdout
    assert "y = 3*lambda_*mass_kg" in text and "consistent: " in text and "weaker than exact" in text
    assert "mass_kg is the column 'mass (kg)'." in text and "% of the variance" in text


def test_a_law_without_certificate_is_printed_with_a_warning(tmp_path, ab):
    path = table(tmp_path / "d.csv", a=ab[0], b=ab[1], y=np.random.default_rng(0).normal(size=120))
    text = run("fit", path, "--target", "y", "--noise", 0, "--max-time", 5, "--columns", "a").stdout
    text = " ".join(text.split())
    assert "none: " in text and "Nothing is proven" in text and "Do not trust it" in text


def test_notes_about_the_table_go_to_standard_error(tmp_path, ab):
    a, b = ab
    text = ["red"] * 119 + ["blue"]
    path = table(tmp_path / "d.csv", a=a, b=b, twice=2 * a, k=a * 0 + 1, colour=text, y=a / b)
    path.write_text(path.read_text("utf-8") + "1,2,,1,red,3\n")
    result = run("fit", path, "--target", "y")
    assert "y = a/b" in result.stdout and "Note" not in result.stdout
    for words in (
        "1 of 121 rows dropped",
        "colour is left out",
        "k (1) is constant",
        "twice is a linear function of a",
    ):
        assert words in result.stderr


def test_several_targets_have_a_law_each(tmp_path, ab):
    a, b = ab
    path = table(tmp_path / "d.csv", a=a, b=b, u=a * b, v=a / b)
    found = fitted(path, "--target", "u,v", "--save", tmp_path / "law.json")
    assert [law["formula"] for law in found["laws"]] == ["a*b", "a/b"]
    assert [law["target"] for law in found["laws"]] == ["u", "v"]
    rows = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "law.json", path).stdout)))
    assert float(rows[7]["prediction1"]) == a[7] * b[7] and float(rows[7]["prediction2"]) == a[7] / b[7]
    assert rows[7]["support1"] == rows[7]["support2"] == "inside"


def test_units_of_measurement_are_matched_by_place_or_name():
    names = ["a", "b"]
    assert commands._units(" b = kg , a=m/s", names) == ["m/s", "kg"]
    for text, sentence in [
        ("m", r"1 units? .*2 columns \(a, b\)"),
        ("a=m,c=kg", "no column with a unit called 'c'"),
        ("a=m", "Column b has no unit: add b=1"),
    ]:
        with pytest.raises(NALMError, match=sentence):
            commands._units(text, names)


def test_units_rule_laws_out(tmp_path, ab):
    a, b = ab
    path = table(tmp_path / "d.csv", way=a, time=b, v=a / b)
    found = fitted(path, "--target", "v", "--x-units", "way=m,time=s", "--y-unit", "m/s")
    assert found["formula"] == "way/time" and found["verdict"] == "exact"


@pytest.fixture(scope="module")
def law(tmp_path_factory):
    path = tmp_path_factory.mktemp("law") / "law.json"
    a, b, c = np.random.default_rng(5).uniform(1, 4, (3, 120))
    data = table(path.with_name("train.csv"), a=a, b=b, c=c, y=a / (b - 0.5))
    run("fit", data, "--target", "y", "--save", path)
    return path


def test_predictions_say_where_the_law_was_tested(law, tmp_path):
    data = tmp_path / "new.csv"
    data.write_text("b,note,a\n2,x,3\n100,x,3\n0.501,x,2\n,x,1\nn/a,x,1\n2.5,,2\n")
    result = run("predict", law, data)
    assert result.stdout.splitlines() == [
        "prediction,support",
        "2.0,inside",
        "0.03015075376884422,outside",
        f"{2 / (0.501 - 0.5)!r},singular",
        ",missing",
        ",missing",
        "1.0,inside",
    ]
    assert result.stderr.startswith(
        "6 predictions: 2 inside the tested domain, 1 outside the tested domain, "
    )
    assert "1 near a singularity, 2 without a number the law needs." in result.stderr


def test_predictions_go_to_a_file_or_json(law, tmp_path):
    data = table(tmp_path / "new.csv", a=[3.0, 1e308], b=[2.0, 0.5 + 1e-9])
    out = tmp_path / "out.csv"
    assert run("predict", law, data, "-o", out).stdout == ""
    assert out.read_text("utf-8").splitlines()[:2] == ["prediction,support", "2.0,inside"]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    found = json.loads(run("predict", law, data, "--json").stdout)
    assert found["prediction"] == [2.0, None] and sum(found["counts"].values()) == 2
    assert found["support"][0] == "inside" and found["support"][1] != "inside"


def test_mistakes_are_sentences_and_leave_no_file(law, tmp_path):
    data = table(tmp_path / "new.csv", a=range(9), B=range(9), y=range(9))
    one = table(tmp_path / "one.csv", a=[1.0], y=[1.0])
    before = sorted(tmp_path.iterdir())
    for arguments, sentence in [
        (
            ("predict", law, data, "-o", tmp_path / "o.csv"),
            "no column in new.csv called 'b'. Did you mean 'B'?",
        ),
        (("predict", law, data, "-o", data), "new.csv is the table itself"),
        (("predict", data, data), "new.csv is not JSON"),
        (("predict", tmp_path / "no.json", data), "Cannot read .*no.json"),
        (("fit", data, "--target", "z"), "no column in new.csv called 'z'"),
        (("fit", data, "--target", "y", "--save", data), "is the table itself"),
        (("fit", one, "--target", "y"), "There is 1 row with numbers"),
        (("fit", data, "--target", "y", "--max-time", "-1"), "max_time"),
        (("fit", data, "--target", "y", "--noise", "-1"), "noise"),
        (("fit", data, "--target", "y", "--x-units", "m,parsnip", "--y-unit", "m"), "parsnip"),
    ]:
        with pytest.raises(NALMError, match=sentence):
            run(*arguments)
    assert sorted(tmp_path.iterdir()) == before


def test_a_terminal_without_braille_gets_plain_signs(monkeypatch):
    monkeypatch.setattr(fit_screen, "can_print", lambda text: False)
    text = run("fit", PENDULUM, "--target", "period").stdout
    assert text.isascii() and "|" in text


def test_progress_shows_on_a_terminal_only_and_is_wiped(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, expected in (
        (Terminal(), r"\rSearching: \d+ s of at most 9 s .*\r\x1b\[K$"),
        (io.StringIO(), "^$"),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        with fit_screen.elapsed_time(9.0, after=0.01):
            waited = time.monotonic() + (60 if stream.isatty() else 0.6)
            while not stream.getvalue() and time.monotonic() < waited:
                time.sleep(0.05)
        assert re.search(expected, stream.getvalue(), re.DOTALL)


def test_the_example_prints_the_law(capsys):
    runpy.run_path(str(ROOT / "examples" / "fit_csv.py"))
    output = capsys.readouterr().out
    assert re.search(r"period = 2\.00606\d*\*sqrt\(length\)", output) and "exact" in output
    assert "6.3437 s (outside the lengths seen)" in output
