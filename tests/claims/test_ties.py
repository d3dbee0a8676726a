"""Every published number is compared with ours, or says why not."""

from collections import Counter

import pytest

from nalm.claims import ties as module
from nalm.claims.ties import KINDS, counted, ties
from nalm.config import Claim
from nalm.experiments import EXPERIMENTS
from nalm.experiments.published import numbers, papers


@pytest.fixture(scope="module")
def every():
    return ties()


def test_every_row_of_every_paper_has_one_tie(every):
    assert [tie.row for tie in every] == [row for paper in papers() for c in numbers(paper) for row in c.rows]
    assert len({tie.row for tie in every}) == len(every) > 5_000


def test_no_published_number_is_tied_to_nothing_without_a_reason(every):
    assert [tie.row for tie in every if tie.kind == "nothing"] == []


def test_no_number_that_is_compared_has_a_reason_not_to_be(every):
    assert [tie.row for tie in every if tie.reason and tie.kind != "reason"] == []


def test_every_row_that_an_experiment_names_exists(every):
    rows = {tie.row for tie in every}
    for e in EXPERIMENTS.values():
        for claim in e.claims:
            assert rows.issuperset(claim.rows + claim.points), claim
            assert claim.rows or claim.points, claim


def test_kinds_are_counted_by_paper(every):
    found = counted(every)
    assert found.keys() == papers().keys()
    assert sum(sum(c.values()) for c in found.values()) == len(every)
    assert {kind for c in found.values() for kind in c} <= set(KINDS)
    assert found["heim2020"]["aggregate"] > 1_000 and found["mistry2022b"]["computed"] > 900


def test_kinds_follow_from_claims_and_reasons(monkeypatch):
    rows = [Claim("A", "m", float(k), task=f"task {k}", rows=(f"a:{k}",)) for k in range(5)]
    monkeypatch.setattr(module, "papers", lambda: {"a": None})
    monkeypatch.setattr(module, "numbers", lambda paper: rows)
    monkeypatch.setattr(module, "reasons", lambda: {f"a:{k}": "because" * (k == 3) for k in range(5)})
    monkeypatch.setattr(module, "COMPUTED", {"task 2": None})
    quick = EXPERIMENTS["quick"].replace(claims=(rows[0].replace(points=("a:1",)),))
    found = ties({"quick": quick})
    assert [tie.kind for tie in found] == ["case", "aggregate", "computed", "reason", "nothing"]
    assert [tie.experiments for tie in found][:3] == [("quick",), ("quick",), ()]
    assert Counter(tie.kind for tie in found) == counted(found)["a"]
