"""The shipped trials of searches on noisy, rounded and historical tables, and their tables in the docs."""

import pytest


@pytest.fixture
def trials(docs_path):
    import law_trials

    return law_trials


def test_consistent_is_right_in_nineteen_of_twenty_cases(trials):
    rows = [row for row in trials.totals("noisy") if not row["outliers"]]
    assert len(rows) == 6 and all(row["laws"] == 81 for row in rows)
    assert all(row["consistent_right"] >= 0.95 * row["consistent"] > 0 for row in rows)


def test_more_laws_are_found_than_by_the_rivals(trials):
    ours = {(r["noise"], r["rows"]): r["right"] for r in trials.totals("noisy") if not r["outliers"]}
    rivals = trials.totals("noisy-rivals")
    assert {r["method"] for r in rivals} == {"operon", "gplearn"} and len(rivals) == 2 * len(ours)
    assert all(r["right"] < ours[r["noise"], r["rows"]] for r in rivals)


def test_most_laws_are_kept_with_outliers(trials):
    rows = [row for row in trials.totals("noisy") if row["outliers"]]
    assert len(rows) == 6 and all(row["kept"] >= 0.8 * row["of"] for row in rows)


def test_rounded_laws_are_recognised_and_nothing_else_is(trials):
    rows = {row["kind"]: row for row in trials.totals("rounded")}
    assert rows["law"]["printed"] >= 0.9 * rows["law"]["exact_unrounded"] > 90
    assert rows["targets"]["tables"] == 1000 and rows["targets"]["false"] == 0


def test_textbook_laws_stand_first_on_historical_tables(trials):
    for row in trials.totals("empirical"):
        assert row["right"] >= 0.8 * row["draws"]
        assert row["kind"] != "table" or row["none"] == 0


def test_the_tables_have_a_line_for_every_row_of_the_results(trials):
    lines = {name: make().splitlines() for name, make in trials.TABLES.items()}
    assert len(lines["laws_noise"]) == len(lines["laws_outliers"]) == 2 + 6
    assert len(lines["laws_printed"]) == 2 + len(trials.totals("rounded"))
    assert len(lines["laws_historical"]) == 2 + len(trials.totals("empirical"))
    for text in lines.values():
        assert len({line.count("|") for line in text}) == 1
