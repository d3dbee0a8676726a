"""The places of units on the page."""

from made import outcomes

from nalm.report import html
from nalm.report.sections.ranking import ranking
from nalm.report.study import Study
from nalm.results.summary import summarise


def study(*groups):
    runs = [o for group in groups for o in group]
    return Study("mine", "Which?", runs, summarise(runs), [], {}, {})


def test_units_that_cannot_be_told_apart_share_a_place():
    (table,) = ranking(
        study(outcomes("NMU", [True] * 10), outcomes("SNMU", [True] * 10), outcomes("NALU", [False] * 10))
    )
    assert [(row["unit"], row["place"], row["ties"]) for row in table["rows"]] == [
        ("NMU", 1, ["SNMU"]),
        ("SNMU", 1, ["NMU"]),
        ("NALU", 3, []),
    ]
    page = html.render("sections/ranking.html", {"e": {"ranking": [table]}})
    assert "multiply, 2 inputs, 1 tasks" in page and "<td>SNMU</td>" in page


def test_one_unit_alone_has_no_place():
    assert ranking(study(outcomes("NMU", [True] * 10))) == []
    assert ranking(study()) == []
