"""A user's unit beside the others on the page."""

from made import outcomes

from nalm.report import html
from nalm.report.sections.pairs import pairs
from nalm.report.study import Study
from nalm.results.summary import summarise


def study(*groups):
    runs = [o for group in groups for o in group]
    return Study("mine", "Which?", runs, summarise(runs), [], {}, {})


def test_a_users_unit_is_compared_with_each_other_unit_in_pairs():
    found = pairs(study(outcomes("Mine@123456", [True] * 12), outcomes("NMU", [False] * 12)))
    (one,) = found["contests"]
    assert (one["first"], one["second"]) == ("Mine", "NMU")
    assert one["rows"][0]["p"] < 0.01 and one["rows"][0]["difference"][0] == 1
    page = html.render("sections/pairs.html", {"e": {"pairs": found}})
    assert "Mine is solved more often than NMU" in page


def test_published_units_alone_are_not_compared_in_pairs():
    assert pairs(study(outcomes("NMU", [True] * 3), outcomes("NALU", [False] * 3))) == {}
