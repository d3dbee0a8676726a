"""Two units of one folder in pairs of runs, and all of them ranked."""

from dataclasses import replace

import pytest
from made import outcomes

from nalm.cli.tables.contest import compared
from nalm.config import Layer, Range, Recipe
from nalm.config.labels import labels, places
from nalm.errors import NALMError
from nalm.results.contest import by_name, contest
from nalm.results.ranking import ranking

ALL, NONE = [True] * 10, [False] * 10
HALF = [True, False] * 5
FIRST, SECOND = Range(1, 2), Range(-2, 2)


def named(*groups):
    runs = [o for group in groups for o in group]
    cases = [o.case for o in runs]
    return by_name({"e": runs}, {"e": (labels(cases), places(cases))})


def test_runs_are_paired_by_task_and_seed_and_corrected_by_hand():
    """McNemar's p is 2 / 2^10 and 2 / 2^5; Holm's factors are 2 and 1; over both tasks it is 2 / 2^15."""
    found = contest(
        named(
            outcomes("NMU", ALL, train=FIRST),
            outcomes("NMU", ALL, train=SECOND),
            outcomes("NALU", NONE, train=FIRST),
            outcomes("NALU", HALF, train=SECOND),
        ),
        "NMU",
        "NALU",
    )
    assert [p.spot.name for p in found.pairings] == [
        "multiply U[1,2), 2 inputs",
        "multiply U[-2,2), 2 inputs",
    ]
    assert [p.success_p for p in found.pairings] == pytest.approx([2 * 2 / 2**10, 2 / 2**5])
    assert [(p.gained, p.lost) for p in found.pairings] == [(10, 0), (5, 0)]
    assert found.overall.estimate == 0.75 and found.overall.p == pytest.approx(2 / 2**15)
    assert found.verdict.startswith(
        "NMU is solved more often than NALU over 2 tasks and 20 pairs of runs (+0.750"
    )
    assert found.pairings[1].needed > 10 and found.pairings[0].needed is None
    back = contest(named(outcomes("NMU", ALL), outcomes("NALU", NONE)), "NALU", "NMU")
    assert back.overall.estimate == -1 and "NMU is solved more often than NALU" in back.verdict


def test_what_cannot_be_told_says_how_many_seeds_would():
    found = contest(named(outcomes("NMU", [True] * 3 + [False] * 7), outcomes("NALU", NONE)), "NMU", "NALU")
    assert found.overall.p == 0.25 and found.needed > 10
    assert f"{found.needed} seeds per task would tell" in found.verdict
    same = contest(named(outcomes("NMU", ALL), outcomes("NALU", ALL)), "NMU", "NALU")
    assert same.needed is None and same.verdict.startswith("Nothing tells NMU from NALU over 1 task")


def test_seeds_and_tasks_without_a_partner_are_left_out():
    found = contest(
        named(outcomes("NMU", ALL), outcomes("NALU", HALF[:4]), outcomes("NMU", ALL, train=SECOND)),
        "NMU",
        "NALU",
    )
    assert found.overall.n == 4 and found.alone == 1
    with pytest.raises(NALMError, match="NMU and NAC have no task and seed in common"):
        contest(named(outcomes("NMU", ALL), outcomes("NAC", ALL, train=SECOND)), "NMU", "NAC")


def test_steps_are_compared_where_both_are_solved():
    found = contest(named(outcomes("NMU", ALL, at=2_000), outcomes("NALU", ALL, at=5_000)), "NMU", "NALU")
    (row,) = found.pairings
    assert row.steps.estimate == -3_000 and row.steps_p == pytest.approx(2 / 2**10)


def behind(first, runs):
    """The runs of a unit behind another layer."""
    return [replace(o, case=o.case.replace(model=(Layer(first, 2), *o.case.model))) for o in runs]


def test_units_are_compared_inside_models_and_models_without_a_counterpart_are_named():
    every = (
        *(outcomes("Mine@abc123", ALL), outcomes("NMU", NONE)),
        *(behind("NAU", outcomes("Mine@abc123", ALL)), behind("NAU", outcomes("NMU", HALF))),
        behind("NAC", outcomes("Mine@abc123", ALL)),
    )
    found = contest(named(*every), "Mine", "NMU")
    assert {p.spot.name: p.gained for p in found.pairings} == {
        "multiply U[1,2), 2 inputs": 10,
        "multiply U[1,2), 2 inputs, in NAU-*": 5,
    }
    assert found.left == ("NAC-Mine",) and found.plain()["left_out"] == ["NAC-Mine"]
    assert "no counterpart with the other are left out: NAC-Mine." in " ".join(map(str, compared(found)))
    inside = contest(named(*every[2:]), "Mine", "NMU")  # neither has runs alone
    assert [p.spot.model for p in inside.pairings] == ["NAU-*"]
    assert contest(named(*every), "NAU-Mine", "NAU-NMU").overall.estimate == 0.5
    with pytest.raises(NALMError, match="with several files: choose one of 'NAU-Mine@abc123'"):
        contest(named(*every, behind("NAU", outcomes("Mine@def456", ALL))), "Mine", "NMU")


def test_units_are_named_in_full_without_hash_or_alone():
    mine = outcomes("Mine@abc123", ALL)
    assert contest(named(mine, outcomes("NMU", NONE)), "Mine", "NMU").overall.estimate == 1
    with pytest.raises(
        NALMError, match=r"There is no unit in these results called 'NMUU'\. Did you mean 'NMU'"
    ):
        contest(named(mine, outcomes("NMU", NONE)), "Mine", "NMUU")
    fast = [replace(o, case=o.case.replace(recipe=Recipe(lr=0.01))) for o in mine]
    elsewhere = outcomes("NMU", NONE, train=SECOND)  # so that ranges are the axis, and names say the rate
    both = named(mine, fast, outcomes("NMU", NONE), elsewhere)
    with pytest.raises(NALMError, match=r"Mine was trained in 2 ways: choose one of 'Mine \(lr 0.001\)'"):
        contest(both, "Mine", "NMU")
    assert contest(both, "Mine (lr 0.01)", "NMU").overall.estimate == 1


def test_along_another_axis_than_ranges_equal_places_are_paired():
    def swept(unit, solved, lr):
        return [replace(o, case=o.case.replace(recipe=Recipe(lr=lr))) for o in outcomes(unit, solved)]

    found = contest(
        named(*(swept(u, s, lr) for u, s in (("NMU", ALL), ("NALU", HALF)) for lr in (0.01, 0.1))),
        "NMU",
        "NALU",
    )
    assert {p.spot.name for p in found.pairings} == {
        f"multiply U[1,2), 2 inputs, lr {lr}" for lr in (0.01, 0.1)
    }
    assert found.overall.n == 20


def test_units_that_cannot_be_told_apart_share_a_place():
    found = ranking(
        named(
            outcomes("NALU", NONE),
            outcomes("NMU", ALL),
            outcomes("SNMU", [True] * 9 + [False]),
            outcomes("NAC", NONE),
            outcomes("Other", ALL, train=SECOND, inputs=4),
        )
    )
    (group,) = found
    assert group == ("e", "multiply", 2)
    rows = {s.label: s for s in found[group]}
    assert {label: s.place for label, s in rows.items()} == {"NMU": 1, "SNMU": 1, "NALU": 3, "NAC": 3}
    assert [s.label for s in found[group]][:2] == ["NMU", "SNMU"]
    assert rows["NMU"].ties == ("SNMU",) and rows["NAC"].ties == ("NALU",)


def test_a_unit_without_runs_on_a_task_is_not_ranked():
    found = ranking(named(outcomes("NMU", ALL), outcomes("NALU", ALL), outcomes("NALU", ALL, train=SECOND)))
    assert found == {}
