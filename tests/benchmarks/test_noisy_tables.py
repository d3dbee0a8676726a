"""The benchmarks of noisy, rounded and historical tables: jobs, truths and totals, without a search."""

import numpy as np
import pytest

from benchmarks import empirical, noisy, rounded
from benchmarks.laws.refit import refitted
from nalm.discover.law.expression import evaluate
from nalm.errors import NALMError


def test_the_alternatives_of_a_certificate_are_read_as_laws():
    x = np.array([[1.0, 4.0], [2.0, 9.0]])
    wanted = x[:, 0] ** 2 / np.sqrt(x[:, 1]) - 0.5
    for text in ("a*a/sqrt(b) - 0.5", "a**2/sqrt(b) - 1/2"):
        np.testing.assert_allclose(evaluate(noisy.read(text, ["a", "b"]), x), wanted)
    assert noisy.read("gamma(a)", ["a"]) is None


def test_the_algebraic_laws_have_no_functions_and_are_drawn_with_and_without_outliers():
    names = noisy.algebraic()
    assert "II.8.7" in names and "I.6.2" not in names
    jobs = noisy.jobs(noisy.Options(noise="0.1", rows="30,50", outliers=True))
    assert len(jobs) == 4 * len(names) and {j.rows for j in jobs} == {30, 50}
    with pytest.raises(NALMError, match="guess"):
        noisy.jobs(noisy.Options(methods="guess"))


def test_a_law_holds_on_other_rows_to_the_printed_digits():
    x = rounded.rounded(np.random.default_rng(0).uniform(1, 5, (40, 1)), 4)
    law = noisy.read("3*a", ["a"])
    assert rounded.holds(law, x, rounded.rounded(3 * x[:, 0], 4), 4)
    assert not rounded.holds(law, x, rounded.rounded(3.01 * x[:, 0], 4), 4)


def test_a_rival_s_formula_without_a_value_is_never_right():
    x = np.ones((5, 1))
    assert np.isnan(refitted("div(a, sub(a, a))", ["a"], x, x[:, 0])(x)).all()


def test_laws_that_outliers_hide_are_counted():
    def trial(name, outliers, right):
        verdict = "consistent" if right else "none"
        return noisy.Trial("nalm", name, 0.1, 30, outliers, verdict, right, right, right, 0.5, 1.0, "a")

    clean, spoilt = noisy.totals(
        [trial(n, False, True) for n in "pq"] + [trial(n, True, n == "p") for n in "pq"]
    )
    assert (clean["right"], clean["consistent_right"], spoilt["kept"], spoilt["of"]) == (2, 2, 1, 2)


def test_false_verdicts_on_rounded_targets_are_counted_apart_from_laws():
    def trial(kind, exact, verdict, right):
        return rounded.Trial(kind, "a", exact, verdict, right, 1.0, "a")

    printed = "exact to the printed digits"
    rows = rounded.totals(
        [
            trial("law", True, printed, True),
            trial("law", False, printed, False),
            trial("slow", False, printed, False),
        ]
    )
    counted = {row["kind"]: row for row in rows}
    assert (counted["law"]["printed"], counted["law"]["exact_unrounded"], counted["law"]["false"]) == (
        1,
        1,
        0,
    )
    assert (counted["targets"]["tables"], counted["targets"]["false"]) == (1, 1)
    assert len(rounded.jobs(rounded.Options(laws=3, targets=2))) == 5


def test_historical_tables_are_drawn_again(tmp_path):
    a = np.linspace(0.4, 9, 8)
    text = "\n".join(f"{v},{365.25 * v**1.5}" for v in a)
    for name in ("kepler", "hubble"):
        (tmp_path / f"{name}.csv").write_text(f"a,P\n{text}\n", encoding="utf-8")
    names, x, y = empirical.drawn(empirical.Job("rows", "kepler", 0, 1.0, str(tmp_path)))
    assert names == ["a"] and x.shape == (8, 1) and len({*y}) < 8
    _, x, y = empirical.drawn(empirical.Job("redraw", "kepler", 0, 1.0, str(tmp_path)))
    np.testing.assert_allclose(y, 365.25 * x[:, 0] ** 1.5, rtol=1e-9)  # no noise in the table, none redrawn
    jobs = empirical.jobs(empirical.Options(data=str(tmp_path), draws=2))
    assert [j.kind for j in jobs if j.name == "planck"] == ["table", "redraw", "redraw"]
    with pytest.raises(NALMError, match="--data"):
        empirical.jobs(empirical.Options())
